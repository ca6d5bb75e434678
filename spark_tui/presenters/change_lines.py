"""The feed of changes for people: each change in a line, and what it changed as a difference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.memory.model import Change, Entry
from spark_tui.presenters.diff_lines import entry_diff
from spark_tui.presenters.words import action_word, author_word
from spark_tui.text.dates import age, moment
from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import N_, _
from spark_tui.text.lines import Block, Line, Rule, blank, pair, plain
from spark_tui.text.safe import one_line

_FIELDS = {
    "name": N_("name"),
    "description": N_("description"),
    "type": N_("type"),
    "confidence": N_("confidence"),
    "entities": N_("entities"),
    "links": N_("links"),
    "valid_until": N_("validity"),
    "archived": N_("archived"),
    "invalid_at": N_("invalid"),
    "superseded_by": N_("superseded"),
    "evidence": N_("evidence"),
    "body": N_("body"),
}


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory with its body."""

    entry: Entry
    body: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One line of the feed with the versions around it; None for one that is not kept (or never was)."""

    change: Change
    before: Version | None
    after: Version | None


def change_cells(change: Change, now_ms: int) -> Sequence[tuple[str, str]]:
    """(text, style) for what was done, name, by whom, fields and age; what was undone is dim."""
    word = action_word(change.action)
    return (
        (_("{action} (undone)").format(action=word), "dim") if change.undone else (word, "text"),
        (one_line(change.name), "dim" if change.undone else "strong"),
        (author_word(change.author), "dim"),
        (", ".join(field_words(change.fields)), "dim"),
        (age(change.at, now_ms), "dim"),
    )


def change_lines(chosen: ChangeView, others: Sequence[ChangeView], now_ms: int, zone: tzinfo) -> list[Block]:
    """The page about one change, then what else was done in the same step."""
    lines = list(_one(chosen))
    for other in others:
        lines += [blank(), Rule(), Line((("dim", _("in the same step:")),)), *_one(other)]
    change = chosen.change
    lines += [blank(), Rule(), pair(_("when"), f"{moment(change.at, zone)} ({age(change.at, now_ms)})")]
    lines += [pair(_("by"), author_word(change.author)), pair(_("id"), change.id), pair(_("step"), change.group)]
    return lines


def field_words(fields: Sequence[str]) -> list[str]:
    """Names of the fields a person knows; those beneath (time stamps, provenance) are left out where others are named."""
    known = [_(_FIELDS[each]) for each in fields if each in _FIELDS]
    return known or [one_line(each) for each in fields]


def undo_words(group: Sequence[Change]) -> list[str]:
    """What taking a step back would do to each memory it touched, for the question before it."""
    return [
        _("{name}: would be archived").format(name=one_line(each.name))
        if each.before is None
        else _("{name}: back to version {n}").format(name=one_line(each.name), n=each.before)
        for each in group
    ]


def _one(view: ChangeView) -> Iterable[Block]:
    change = view.change
    separator = f" {glyphs().separator} "
    versions = f"{change.before or '-'} > {change.after or '-'}"
    words = action_word(change.action) + separator + _("version {n}").format(n=versions)
    yield Line((("strong", one_line(change.name)),))
    yield Line((("accent", words), *([("warning", separator + _("undone"))] if change.undone else [])))
    yield blank()
    if view.before and view.after:
        yield from entry_diff(view.before.entry, view.before.body, view.after.entry, view.after.body)
    elif view.after and change.before is None:
        yield from _whole(view.after)
    elif change.action == "delete":
        yield Line((("dim", _("The text is gone for good; a deletion cannot be undone.")),))
    else:
        yield Line((("dim", _("The versions around this change are not kept.")),))


def _whole(version: Version) -> Iterable[Block]:
    """All of a new memory, as added lines."""
    for text in (version.entry.description, version.body.strip()):
        for line in plain(text, "added") if text else ():
            yield Line(line.pieces, first=(("added", "+ "),))
