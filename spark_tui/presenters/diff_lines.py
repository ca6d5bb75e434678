"""The difference between two texts, line by line, with a sign before every changed line: never by colour alone."""

from collections.abc import Mapping
from datetime import date
from difflib import SequenceMatcher

from engine.memory.model import Entry, MemoryType
from spark_tui.presenters.form_values import entities_of
from spark_tui.presenters.words import type_word
from spark_tui.text.dates import applies_through
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank
from spark_tui.text.safe import many_lines, one_line

CONTEXT = 3


def diff_lines(before: str, after: str) -> list[Block]:
    """Changed lines with three lines around them; a dim sentence when nothing differs."""
    old, new = many_lines(before), many_lines(after)
    groups = list(SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT))
    if not groups:
        return [Line((("dim", _("no difference")),))]
    found: list[Block] = []
    for number, group in enumerate(groups):
        if number:
            found.append(Line((("faint", "..."),)))
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                found += [_line(" ", "dim", text) for text in old[start:end]]
            else:
                found += [_line("-", "removed", text) for text in old[start:end]]
                found += [_line("+", "added", text) for text in new[new_start:new_end]]
    return found


def entry_diff(before: Entry, body_before: str, after: Entry, body_after: str) -> list[Block]:
    """What changed between two versions: each field that differs, then the body."""
    found: list[Block] = []
    for (label, old), (_label, new) in zip(_fields(before), _fields(after), strict=True):
        if old != new:
            found += [Line((("dim", label),)), *_changed(old, new), blank()]
    if body_before != body_after:
        found += [Line((("dim", _("body")),)), *diff_lines(body_before, body_after)]
    return found or [Line((("dim", _("no difference in the text")),))]


def entry_text(entry: Entry, body: str) -> str:
    """One version as text: the fields a form has, one a line, and the body; what a person compares in a conflict."""
    head = [f"{label}: {value}" for label, value in _fields(entry)[:5] if value]
    return "\n".join([*head, "", body])


def values_text(values: Mapping[str, str]) -> str:
    """The fields of a form in the shape of ``entry_text``, so that the two can be compared."""
    validity = values.get("validity", "")
    try:
        shown = applies_through(date.fromisoformat(validity)) if validity else ""
    except ValueError:
        shown = validity  # a distance such as +30d: shown as it was typed
    head = [
        (_("name"), values["name"]),
        (_("description"), values["description"]),
        (_("type"), type_word(MemoryType(values["type"]))),
        (_("validity"), shown),
        (_("entities"), ", ".join(entities_of(values["entities"]))),
    ]
    return "\n".join([*(f"{label}: {value}" for label, value in head if value), "", values["body"]])


def _fields(entry: Entry) -> list[tuple[str, str]]:
    validity = applies_through(entry.valid_until.day) if entry.valid_until else ""
    return [
        (_("name"), entry.name),
        (_("description"), entry.description),
        (_("type"), type_word(entry.type)),
        (_("validity"), validity),
        (_("entities"), ", ".join(entry.entities)),
        (_("links"), ", ".join(entry.links)),
        (_("confidence"), f"{entry.confidence:g}"),
        (_("state"), _("archived") if entry.archived else ""),
    ]


def _changed(old: str, new: str) -> list[Block]:
    lines: list[Block] = []
    if old:
        lines.append(_line("-", "removed", one_line(old)))
    if new:
        lines.append(_line("+", "added", one_line(new)))
    return lines


def _line(sign: str, style: str, text: str) -> Line:
    return Line(((style, text),), first=((style, sign + " "),))
