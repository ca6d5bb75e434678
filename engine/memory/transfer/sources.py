"""Reads a folder of somebody's memories or notes as items to import; changes no file and knows no store (02 §13)."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.errors import SparkError, ValidationFailed
from engine.memory.directory import FILE_NAME as DIRECTORY_FILE
from engine.memory.document import STORE_FIELDS
from engine.memory.model import BODY_MAX, DESCRIPTION_MAX, MemoryType, is_id, slug
from engine.storage import frontmatter
from engine.storage.frontmatter import Document

INDEX_FILE: Final = "INDEX.md"
INDEX_MARK: Final = "<!-- spark-tui export -->"
RULE_FILES: Final = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md"})
SUFFIXES: Final = (".md", ".markdown", ".txt")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(\S.*)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")
_LEADING = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?")
_BLOCK = re.compile(r"\s*(?:#{1,6}(?:\s|$)|>|\||<!--|(?:[-*_=][ \t]*){3,}$)")
_FENCE = re.compile(r"\s*(```|~~~)")
_FENCED_FIELDS = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
# Newer releases of Claude Code write ``metadata: {type: …}``, as a block below that key.
_NESTED_TYPE = re.compile(
    rb"---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?metadata:[ \t]*\r?\n(?:[ \t]+[^\n]*\n)*?[ \t]+type:[ \t]*[\"']?(\w+)"
)
_SENTENCE_ENDS = "。！？.!?；;"


class Kind(StrEnum):
    """What a source is taken for; a rule waits for a person's decision, an index is only listed."""

    OWN = "own"
    AUTO_MEMORY = "auto-memory"
    NOTE = "note"
    RULE = "rule"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing found in a source folder; ``file`` is relative to it, ``problem`` says why it cannot be a memory.

    ``data`` are the bytes of the whole file, ``has_fields`` says that it begins with frontmatter; ``agent`` is the owner
    that one of our own files names.
    """

    file: str
    kind: Kind
    name: str
    type: MemoryType = MemoryType.REFERENCE
    description: str = ""
    body: str = ""
    data: bytes = b""
    agent: str | None = None
    has_fields: bool = False
    problem: str | None = None


def read_sources(place: Path) -> Iterator[Item]:
    """Every item of a folder (or of one file), in order of path. Raises ``ValidationFailed`` when there is no such."""
    if place.is_file():
        yield from _items(place, place.name)
        return
    if not place.is_dir():
        raise ValidationFailed(f"{place} is neither a folder nor a file")
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                path = Path(folder, name)
                yield from _items(path, path.relative_to(place).as_posix())


def _items(path: Path, file: str) -> Iterator[Item]:
    try:
        data = path.read_bytes()
        if path.name in RULE_FILES:
            yield from _rules(file, data.decode("utf-8"))
            return
        if path.name == DIRECTORY_FILE or (path.name == INDEX_FILE and INDEX_MARK.encode() in data[:200]):
            yield Item(file, Kind.INDEX, path.stem)
            return
        yield _document_item(path, file, data)
    except UnicodeDecodeError:
        yield _unusable(path, file, "it is not UTF-8 text")
    except SparkError as error:
        yield _unusable(path, file, error.message)
    except OSError as error:
        yield _unusable(path, file, f"it cannot be read: {error.strerror}")


def _document_item(path: Path, file: str, data: bytes) -> Item:
    document = _document(data)
    if len(document.body) > BODY_MAX:
        raise ValidationFailed(f"it has {len(document.body)} characters, {BODY_MAX} are allowed")
    if is_id(path.stem) and all(field in document.fields for field in STORE_FIELDS):
        return _own(path, file, data, document)
    kind = Kind.AUTO_MEMORY if _text(document, "name") and _text(document, "description") else Kind.NOTE
    title = _text(document, "name") or _text(document, "title") or _first_heading(document.body) or path.stem
    name = slug(title) or slug(path.stem)
    if not name:
        raise ValidationFailed("neither its title nor its file name gives a name")
    sayings = (_text(document, "description"), _first_sentence(document.body), title, name)
    told = next(filter(None, map(_one_line, sayings)))
    description = shortened(told)
    body = document.body if description == told or kind is Kind.NOTE else f"{told}\n\n{document.body}"
    return Item(file, kind, name, _type(document, data), description, body, data, None, _has_frontmatter(data))


def _own(path: Path, file: str, data: bytes, document: Document) -> Item:
    name, described = str(document.fields.get("name", "")), str(document.fields.get("description", ""))
    agent = _text(document, "scope_ref") if _text(document, "scope") == "agent" else None
    return Item(file, Kind.OWN, name, _type(document, data), described, document.body, data, agent)


def _rules(file: str, text: str) -> Iterator[Item]:
    """The bullet points of a rule file, each with the lines it goes on in."""
    for told in map(_one_line, bullets(text)):
        line = shortened(told)
        problem = None if slug(told) else "it gives no name"
        body = "" if line == told else told
        yield Item(file, Kind.RULE, slug(told), MemoryType.FEEDBACK, line, body, problem=problem)


def bullets(text: str) -> Iterator[str]:
    """Each bullet point of a markdown text in one piece, those inside code fences apart.

    As in markdown it goes on in the next lines, indented or not, until a blank line, a heading, a fence, a quotation, a
    table, a rule, a comment or the next point.
    """
    open_, fenced = "", False
    for line in text.splitlines():
        fence = _FENCE.match(line)
        point = None if fenced or fence else _BULLET.fullmatch(line)
        goes_on = bool(open_ and line.strip()) and not (fenced or fence or point or _BLOCK.match(line))
        if open_ and not goes_on:
            yield open_
            open_ = ""
        if goes_on:
            open_ = f"{open_}\n{line.strip()}"
        elif point:
            open_ = point[1]
        fenced ^= bool(fence)
    if open_:
        yield open_


def _unusable(path: Path, file: str, problem: str) -> Item:
    return Item(file, Kind.NOTE, slug(path.stem) or "unnamed", problem=problem)


def _text(document: Document, key: str) -> str:
    value = document.fields.get(key, "")
    return value.strip() if isinstance(value, str) else ""


def _document(data: bytes) -> Document:
    """Fields and body; a note that does not begin with frontmatter is all body."""
    return frontmatter.read(data) if _has_frontmatter(data) else Document({}, data.decode("utf-8"))


def _has_frontmatter(data: bytes) -> bool:
    return _FENCED_FIELDS.match(data) is not None


def _type(document: Document, data: bytes) -> MemoryType:
    nested = _NESTED_TYPE.match(data)
    try:
        return MemoryType(_text(document, "type") or (nested[1].decode() if nested else ""))
    except ValueError:
        return MemoryType.REFERENCE


def _first_heading(body: str) -> str:
    return next((found[1] for line in body.splitlines() if (found := _HEADING.fullmatch(line)) and found[1]), "")


def _first_sentence(body: str) -> str:
    """The first paragraph that is neither heading, fence, table nor comment, as one line without list marks."""
    paragraph: list[str] = []
    fenced = False
    for line in body.splitlines():
        fenced ^= bool(_FENCE.match(line))
        prose = (
            line.strip()
            and not fenced
            and not _FENCE.match(line)
            and not line.lstrip().startswith(("#", "|", "<!--", "---"))
        )
        if prose:
            paragraph.append(_LEADING.sub("", line, count=1))
        elif paragraph:
            break
    return " ".join(paragraph)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shortened(text: str, limit: int = DESCRIPTION_MAX) -> str:
    """The text in at most ``limit`` characters, cut after a sentence where one ends in time, else between words."""
    if len(text) <= limit:
        return text
    ends = [at + 1 for at, c in enumerate(text[:limit]) if c in _SENTENCE_ENDS and (c > "\x7f" or text[at + 1] == " ")]
    if ends and ends[-1] >= limit // 3:
        return text[: ends[-1]].strip()
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"
