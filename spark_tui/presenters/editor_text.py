"""Memories as one buffer for an editor, and back: a few named lines, a blank one, the body; no entry is ever deleted by it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.memory.model import is_id
from spark_tui.text.i18n import N_, _

_MARK = re.compile(r"=== (\w+) ===")
_ESCAPED = re.compile(r"\\+=== \w+ ===")
_HEADS = {
    "description": "description",
    "name": "name",
    "type": "type",
    "validity": "applies through",
    "entities": "entities",
}
NOTE = N_("Save and leave to store what you changed; a section you remove stays as it is.")


@dataclass(frozen=True, slots=True)
class Section:
    """One memory of the buffer: its id and the values of its form."""

    id: str
    values: Mapping[str, str]


class BufferBroken(Exception):
    """The buffer cannot be read back; nothing of it was stored."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def written_buffer(sections: Sequence[Section]) -> str:
    """The buffer of these memories; ``read_buffer`` gives the same values back, the bodies to the byte."""
    parts = [f"# {_(NOTE)}\n"]
    for section in sections:
        heads = [f"{label}: {section.values[name]}" for name, label in _HEADS.items()]
        body = "\n".join(_escaped(line) for line in section.values["body"].split("\n"))
        parts.append("\n".join([f"=== {section.id} ===", *heads, "", body]) + "\n")
    return "".join(parts)


def read_buffer(text: str, before: Sequence[Section]) -> list[Section]:
    """The sections of a changed buffer. Raises ``BufferBroken`` for an unknown id, a doubled one or a head line lost."""
    known = {section.id: section for section in before}
    found: dict[str, Section] = {}
    for entry_id, lines in _split(text):
        if entry_id not in known:
            raise BufferBroken(_("the buffer names {id}, which was not in it").format(id=entry_id))
        if entry_id in found:
            raise BufferBroken(_("the buffer names {id} twice").format(id=entry_id))
        found[entry_id] = Section(entry_id, _values(entry_id, lines, known[entry_id].values))
    if not found:
        raise BufferBroken(_("the buffer has no section left"))
    return list(found.values())


def _split(text: str) -> list[tuple[str, list[str]]]:
    parts: list[tuple[str, list[str]]] = []
    for line in text.removesuffix("\n").split("\n"):
        mark = _MARK.fullmatch(line.rstrip("\r"))
        if mark is not None and is_id(mark[1]):
            parts.append((mark[1], []))
        elif parts:
            parts[-1][1].append(line)
    return parts


def _values(entry_id: str, lines: Sequence[str], before: Mapping[str, str]) -> dict[str, str]:
    """Named lines up to the first blank one; the rest is the body."""
    values = dict(before)
    end = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    names = {label: name for name, label in _HEADS.items()}
    for line in lines[:end]:
        label, colon, value = line.partition(":")
        if not colon or label.strip() not in names:
            raise BufferBroken(_("a blank line is missing between the fields and the body of {id}").format(id=entry_id))
        values[names[label.strip()]] = value.strip()
    values["body"] = "\n".join(_unescaped(line) for line in lines[end + 1 :])
    return values


def _escaped(line: str) -> str:
    return "\\" + line if _MARK.fullmatch(line) or _ESCAPED.fullmatch(line) else line


def _unescaped(line: str) -> str:
    return line[1:] if _ESCAPED.fullmatch(line) else line
