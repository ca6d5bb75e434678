"""Puts a short mark in place of what was pasted rather than said: long code, data, logs; short pieces stay."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engine.memory.extraction.marks import lines

CODE_LINES_KEPT: Final = 40
CODE_CHARACTERS_KEPT: Final = 2_000
LOG_LINES_KEPT: Final = 14
_DATA_LETTERS: Final = "[A-Za-z0-9+/=_-]"
_DATA_URL: Final = re.compile(
    r"data:(?:[\w.+-]{1,40}/[\w.+-]{1,60})?(?:;[\w=.+-]{1,40}+)*+,[!#-&*-;=?-Z\\^_a-~]*+", re.ASCII
)
_DATA_LINES: Final = re.compile(
    rf"^(?:[ \t]*+{_DATA_LETTERS}{{60,}}+\r?\n){{3,}}+(?:[ \t]*+[A-Za-z0-9+/_-]{{0,75}}={{1,2}}+(?=\s|\Z))?", re.M
)
_DATA_RUN: Final = re.compile(_DATA_LETTERS + "{200,}+")
_FENCE: Final = re.compile(r"^[ \t>]*+(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n`]*+)$", re.MULTILINE)
_LINE_START: Final = 300
_INDENTED: Final = re.compile(r"  |\t")
_MACHINE_LINE: Final = re.compile(
    r"\W{0,3}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"
    r"|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\W{0,2}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\]:| ]"
    r"|\s+at \S+[(:.]|\s*File \"[^\"]{1,200}\", line \d|Traceback \(most recent|\s*[\^~]+\s*$"
    r"|(?=[^\s:]{0,150}[./])[^\s:]{1,200}+:\d+(?::\d+)?[:\s]|\S{1,200}+ (?:PASSED|FAILED|ERROR|SKIPPED)\b"
    r"|npm (?:ERR!|WARN|warn|error)|(?:Collecting|Downloading|Requirement already) \S"
    r"|[-dl][rwxsStT-]{9}[ .@+]|[0-9a-f]{8}:? +[0-9a-f]{2}"
    r"|diff --git |index [0-9a-f]{7,}\.\.|@@ -\d|\+\+\+ |--- |\+(?! )"
    r"|\s*\"[^\"]{1,80}\"\s*:|\s*[\]})]+[,;]?\s*$"
    r"|\s*(?:import \w|from \S+ import |def \w|class \w+[:( {]|return\b|const \w|let \w+ =|var \w|function \w"
    r"|export |#include|package \w|(?:public|private|protected) \w|(?:if|for|while) \()"
)


def without_pasted(text: str) -> str:
    """The text with ``[code, 212 lines]``, ``[data, 4096 characters]`` and ``[log, 80 lines]`` for what is longer."""
    return _without_logs(_without_data(_without_code(text)))


def _without_code(text: str) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, inner in _blocks(text):
        if inner.count("\n") > CODE_LINES_KEPT or len(inner) > CODE_CHARACTERS_KEPT:
            pieces += [text[at:start], f"[code, {lines(inner)}]"]
            at = end
    return "".join((*pieces, text[at:]))


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and content of each fenced block; a fence that never ends is text, as is all after it."""
    fences = list(_FENCE.finditer(text))
    endless: dict[str, int] = {}
    index = 0
    while index < len(fences):
        mark = fences[index]["mark"]
        last = None if len(mark) >= endless.get(mark[0], len(mark) + 1) else _end_of_block(fences, index)
        if last is None:
            endless[mark[0]] = min(len(mark), endless.get(mark[0], len(mark)))
            index += 1
        else:
            first, closing = fences[index], fences[last]
            yield first.start(), closing.end(), text[first.end() + 1 : closing.start()]
            index = last + 1


def _end_of_block(fences: Sequence[re.Match[str]], index: int) -> int | None:
    mark = fences[index]["mark"]
    for later in range(index + 1, len(fences)):
        if fences[later]["mark"].startswith(mark) and not fences[later]["info"].strip():
            return later
    return None


def _without_data(text: str) -> str:
    for pattern in (_DATA_URL, _DATA_LINES, _DATA_RUN):
        text = pattern.sub(_data_mark, text)
    return text


def _data_mark(found: re.Match[str]) -> str:
    end = "\n" if found[0].endswith("\n") else ""
    return f"[data, {len(found[0]) - len(end)} characters]{end}"


def _without_logs(text: str) -> str:
    rows = text.split("\n")
    kept: list[str] = []
    at = 0
    for start, end, counted in _runs(rows):
        if counted > LOG_LINES_KEPT:
            kept += [*rows[at:start], f"[log, {end - start} lines]"]
            at = end
    return "\n".join((*kept, *rows[at:]))


def _runs(rows: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Stretches of lines a machine wrote, blank and indented ones between them: start, end, how many were certain."""
    start, end, counted = 0, 0, 0
    for index, row in enumerate(rows):
        if _is_machine_line(row):
            start, end, counted = (start, index + 1, counted + 1) if counted else (index, index + 1, 1)
        elif counted and not _may_stand_between(row):
            yield start, end, counted
            counted = 0
    if counted:
        yield start, end, counted


def _is_machine_line(row: str) -> bool:
    if _FENCE.match(row):
        return False
    return _MACHINE_LINE.match(row[:_LINE_START]) is not None or row.rstrip().endswith((";", "{", "}"))


def _may_stand_between(row: str) -> bool:
    return (not row.strip() or _INDENTED.match(row) is not None) and not _FENCE.match(row)
