"""Reads the JSON in a model's answer: fenced, wrapped in prose, cut off or slightly broken; it judges no content."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.memory.extraction.brackets import Brackets, brackets

ANSWER_MAX: Final = 1_000_000
"""Characters of an answer that are looked at; what is complete in them counts."""
_DEPTH: Final = 3  # a wrapping object, its array, an item
# json-repair takes time quadratic in some texts: a third of a second for 3,000 characters at worst.
_REPAIRED_MAX: Final = 3_000
_REPAIRED_TOGETHER: Final = 12_000
_THOUGHTS: Final = re.compile(r"\s*<think(?:ing)?>")
_THOUGHTS_END: Final = re.compile(r"</think(?:ing)?>")
_BEGINNING: Final = re.compile(r"""\[\s*+[\[\]{]|\{\s*+["'“\w}/]""")
_FENCED: Final = re.compile(r"```\w*+\s*+[\[{]")
_COMMA: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|,(?=\s*+[\]}])', re.DOTALL)
_ITEM_KEY: Final = re.compile(r"""\b(?:description|confidence|decision|scope)\b["'”]?\s*+[:：]""", re.IGNORECASE)
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Broken:
    """A stretch that was meant to be an item: cut off at the end of the answer, or beyond repair."""

    text: str
    cut: bool = False


class _Repairs:
    """How much of one answer may still be shown to the library."""

    def __init__(self) -> None:
        self._left = _REPAIRED_TOGETHER

    def value(self, text: str) -> Any:
        """The value of one closed stretch, or ``Broken``."""
        if len(text) > min(_REPAIRED_MAX, self._left):
            return Broken(text)
        self._left -= len(text)
        from json_repair import repair_json

        try:
            value = repair_json(text, return_objects=True, skip_json_loads=True)
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            return Broken(text)
        return value if value and isinstance(value, dict | list) else Broken(text)


def values(answer: str) -> list[Any]:
    """Every JSON array and object of an answer, widest first, and ``Broken`` for each item that could not be read.

    Numbers may be infinite or NaN, and strings may hold anything: see :func:`clean`.
    """
    text = _without_thoughts(answer[:ANSWER_MAX].lstrip("\ufeff"))
    whole = _strict(text)
    if isinstance(whole, str):  # JSON in a JSON string
        text = whole
        whole = _strict(text)
    if isinstance(whole, dict | list):
        return [whole]
    return list(_harvested(text[_beginning(text) :], _DEPTH, _Repairs()))


def clean(text: str) -> str:
    """A string of an answer without what neither file nor row can hold."""
    return _UNSTORABLE.sub("\ufffd", text)


def _beginning(text: str) -> int:
    """Where the JSON begins: after the first fence, unless that is inside an item, else at the first bracket."""
    fence = _FENCED.search(text)
    if fence and not _ITEM_KEY.search(text, 0, fence.start()):
        return fence.end() - 1
    bracket = _BEGINNING.search(text)
    return bracket.start() if bracket else len(text)


def _without_thoughts(text: str) -> str:
    """The answer after what a reasoning model says to itself; one that never stops thinking has not answered."""
    if not _THOUGHTS.match(text):
        return text
    ends = list(_THOUGHTS_END.finditer(text))
    return text[ends[-1].end() :] if ends else ""


def _harvested(text: str, depth: int, repairs: _Repairs) -> Iterator[Any]:
    found = brackets(text)
    cut = _cut_at(text, found)
    for start, end in found.closed:
        if cut is None or start < cut:
            yield from _of_stretch(text[start:end], depth, repairs)
    if cut is not None:
        yield Broken(text[cut:], cut=True)


def _of_stretch(text: str, depth: int, repairs: _Repairs) -> Iterator[Any]:
    value = _strict(text)
    if value is None:
        value = _strict(_COMMA.sub(lambda found: "" if found[0] == "," else found[0], text))
    if value is not None:
        yield value
        return
    inner = text[1:-1]
    parts = brackets(inner).closed
    if _ITEM_KEY.search(_outside(inner, 0, len(inner), parts)):
        yield repairs.value(text)
    elif parts and depth > 1:
        yield from _harvested(inner, depth - 1, repairs)


def _cut_at(text: str, found: Brackets) -> int | None:
    """Where the item begins that the answer ended in the middle of."""
    ends = [*found.unclosed[1:], len(text)]
    for start, end in zip(found.unclosed, ends, strict=False):
        if text[start] == "{" and _ITEM_KEY.search(_outside(text, start, end, found.closed)):
            return start
    return None


def _outside(text: str, start: int, end: int, parts: Sequence[tuple[int, int]]) -> str:
    """The stretch without the closed brackets in it."""
    pieces = []
    at = start
    for first, last in parts:
        if at <= first < end:
            pieces.append(text[at:first])
            at = last
    return "".join((*pieces, text[at:end]))


def _strict(text: str) -> Any:
    """The value as the standard reads it, line breaks in strings allowed; None when it does not."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):  # ValueError also for a number of more than 4,300 digits
        return None
