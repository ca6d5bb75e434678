"""One memory as a page: what it says first, then whether it applies, then where it comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from engine.memory.model import Derivation, Entry, EvidenceStatus, MemoryType, State
from spark_tui.presenters.memory_rows import Reasons, reason_sentence
from spark_tui.presenters.paths import short_path
from spark_tui.presenters.words import (
    author_word,
    place_word,
    source_word,
    state_mark,
    state_style,
    state_word,
    type_word,
)
from spark_tui.text.dates import age, applies_through, moment
from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import N_, _, ngettext
from spark_tui.text.lines import Block, Line, Rule, blank, pair
from spark_tui.text.markdown_lines import markdown_lines
from spark_tui.text.safe import one_line

_KINDS = {"merge": N_("merged"), "elevate": N_("elevated"), "supersede": N_("superseded")}


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything a page about one memory tells; ``names`` has the names of the other entries it speaks of."""

    entry: Entry
    body: str
    project: str
    path: Path
    revisions: int
    derivations: Sequence[Derivation]
    names: Mapping[str, str]


def detail_lines(detail: Detail, now_ms: int, zone: tzinfo, reasons: Reasons | None = None) -> list[Block]:
    """The page at a moment of time; ``reasons`` when the memory was found by a search."""
    return [
        *_head(detail, now_ms, zone),
        blank(),
        *(markdown_lines(detail.body) or [Line((("dim", _("no text beyond the description")),))]),
        blank(),
        Rule(),
        *_use(detail.entry, now_ms, reasons),
        *_origin(detail, now_ms, zone),
        *_relations(detail, zone),
        pair(_("file"), short_path(detail.path)),
    ]


def failure_lines(reason: str, hint: str | None) -> list[Block]:
    """In place of a page that could not be read: the reason, and what can be done."""
    lines: list[Block] = [Line((("error", one_line(reason)),))]
    if hint:
        lines.append(Line((("dim", one_line(hint)),)))
    return [*lines, blank(), Line((("key", "enter"), ("dim", " " + _("try again"))))]


def _head(detail: Detail, now_ms: int, zone: tzinfo) -> Iterable[Block]:
    entry = detail.entry
    place = place_word(entry, detail.project)
    separator = f" {glyphs().separator} "
    yield Line((("strong", one_line(entry.description)),))
    yield Line(
        (("accent", one_line(entry.name)), ("dim", separator + type_word(entry.type) + separator + one_line(place)))
    )
    yield from _state(detail, now_ms, zone)
    if entry.valid_until is not None:
        yield Line((("text", applies_through(entry.valid_until.day)),))


def _state(detail: Detail, now_ms: int, zone: tzinfo) -> Iterable[Block]:
    """Nothing for an active entry; else mark, word, and since when or why."""
    entry = detail.entry
    state = entry.state(now_ms)
    if state is State.ACTIVE:
        return
    words = f"{state_mark(state)} {state_word(state)}"
    if state is State.INVALID and entry.invalid_at is not None:
        words += " " + _("since {moment}").format(moment=moment(entry.invalid_at, zone))
    if state in (State.QUARANTINED, State.MISSING) and entry.file_reason:
        words += ": " + one_line(entry.file_reason)
    yield Line(((state_style(state), words),))
    if entry.superseded_by:
        yield Line((("text", _("superseded by {name}").format(name=_named(detail, entry.superseded_by))),))
    if state in (State.QUARANTINED, State.MISSING):
        yield Line((("dim", _("The last good version can be restored from the history.")),))


def _use(entry: Entry, now_ms: int, reasons: Reasons | None) -> Iterable[Block]:
    state = entry.state(now_ms)
    if state is not State.ACTIVE:
        use = _("no: {state}").format(state=state_word(state))
    elif entry.type is MemoryType.FEEDBACK:
        use = _("in every turn, as all feedback")
    else:
        use = _("when relevant to agent and workspace")
    yield pair(_("injected"), use)
    if reasons is not None:
        yield pair(_("found by"), reason_sentence(reasons))
    if entry.hit_count:
        last = age(entry.last_hit_at, now_ms) if entry.last_hit_at else ""
        yield pair(_("hits"), f"{entry.hit_count}" + (", " + _("last {age} ago").format(age=last) if last else ""))


def _origin(detail: Detail, now_ms: int, zone: tzinfo) -> Iterable[Block]:
    entry = detail.entry
    yield pair(_("source"), _source(entry))
    if entry.evidence:
        verified = entry.evidence_status is EvidenceStatus.VERIFIED
        status = _("verified") if verified else _("unverified")
        yield pair(_("evidence"), f"{entry.evidence} ({status})", style="quote")
    if entry.confidence != 1.0:
        yield pair(_("confidence"), f"{entry.confidence:g}")
    yield pair(_("updated"), f"{moment(entry.updated_at, zone)} ({age(entry.updated_at, now_ms)})")
    if entry.created_at != entry.updated_at:
        yield pair(_("created"), f"{moment(entry.created_at, zone)} ({age(entry.created_at, now_ms)})")


def _source(entry: Entry) -> str:
    words = [source_word(entry.source)]
    if entry.extraction_model:
        words.append(entry.extraction_model)
    if entry.author_role.value.removesuffix("_user") != entry.source.value:
        words.append(_("this version by {author}").format(author=author_word(entry.author_role)))
    if entry.source_session_id:
        words.append(_("session {id}").format(id=entry.source_session_id))
    return ", ".join(words)


def _relations(detail: Detail, zone: tzinfo) -> Iterable[Block]:
    entry = detail.entry
    if entry.entities:
        yield pair(_("entities"), ", ".join(entry.entities))
    if entry.links:
        yield pair(_("links"), ", ".join(entry.links))
    past = detail.revisions
    earlier = ngettext("{n} earlier version", "{n} earlier versions", past).format(n=past) if past else ""
    yield pair(_("version"), f"{entry.version}" + (f", {earlier}" if earlier else ""))
    for edge in detail.derivations:
        if edge.kind == "supersede" and edge.to_id == entry.superseded_by:
            continue  # said at the head of the page already
        from_here = edge.from_id == entry.id
        other = _named(detail, edge.to_id if from_here else edge.from_id)
        direction = _("into {name}") if from_here else _("from {name}")
        kind = _(_KINDS[edge.kind]) if edge.kind in _KINDS else edge.kind
        yield pair(kind, f"{direction.format(name=other)}, {moment(edge.at, zone)}")
    yield pair(_("id"), entry.id)


def _named(detail: Detail, entry_id: str) -> str:
    name = detail.names.get(entry_id)
    return f"{one_line(name)} ({entry_id})" if name else entry_id


def peek_lines(entry: Entry, project: str, now_ms: int) -> list[Block]:
    """The two or three lines that stand below a narrow list: the whole description, and what the columns left out."""
    separator = f" {glyphs().separator} "
    state = entry.state(now_ms)
    words: list[tuple[str, str]] = []
    if state is not State.ACTIVE:
        words.append((state_style(state), f"{state_mark(state)} {state_word(state)}"))
    if entry.valid_until is not None and state in (State.ACTIVE, State.EXPIRED):
        words.append(("text", applies_through(entry.valid_until.day)))
    words += [("dim", type_word(entry.type)), ("dim", one_line(place_word(entry, project)))]
    if entry.hit_count:
        words.append(("dim", ngettext("{n} hit", "{n} hits", entry.hit_count).format(n=entry.hit_count)))
    pieces = [
        piece for number, word in enumerate(words) for piece in ([("faint", separator)] if number else []) + [word]
    ]
    return [Line((("text", one_line(entry.description or entry.file_reason or "")),)), Line(tuple(pieces))]
