"""One candidate as a card: what it says, what a yes would do, what it rests on; everything a decision needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.memory.candidates.model import Action, Candidate, Origin, Shown, SourceState
from engine.memory.model import Entry, EvidenceStatus
from spark_tui.presenters.candidate_problems import Refusal
from spark_tui.presenters.candidate_rows import days_left
from spark_tui.presenters.candidate_words import action_sign, origin_word, place_word, reason_word, target_words
from spark_tui.presenters.diff_lines import entry_diff
from spark_tui.presenters.words import type_word
from spark_tui.text.dates import applies_through, moment
from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.lines import Block, Line, Rule, blank, pair, plain
from spark_tui.text.markdown_lines import markdown_lines
from spark_tui.text.safe import one_line

DIGEST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Text:
    """A memory with its body."""

    entry: Entry
    body: str


@dataclass(frozen=True, slots=True)
class Card:
    """A candidate with all that is shown beside it.

    ``after`` is the target as an update would leave it (None: the update becomes a memory of its own), ``sources`` each
    with its text as it is now (None when it is gone), ``holder`` the memory that has its name with other content.
    """

    shown: Shown
    project: str
    target: Text | None = None
    after: Text | None = None
    sources: Sequence[tuple[SourceState, Text | None]] = ()
    holder: Entry | None = None

    @property
    def candidate(self) -> Candidate:
        """The candidate itself."""
        return self.shown.candidate

    @property
    def digest(self) -> str:
        """The text a decision is bound to: the one on this card."""
        return self.shown.candidate.digest


def card_lines(
    card: Card, now_ms: int, zone: tzinfo, refusal: Refusal | None = None, changed: bool = False
) -> list[Block]:
    """The whole card; ``changed``: its text is another one than the person was looking at."""
    return [
        *_head(card),
        *_warnings(card, refusal, changed),
        blank(),
        *_text(card),
        *_sources(card),
        blank(),
        Rule(),
        *_facts(card, now_ms, zone),
    ]


def effect_words(card: Card) -> str:
    """What a yes would do, in one sentence."""
    each = card.candidate
    target = one_line(card.target.entry.name) if card.target else (each.target.id if each.target else "")
    match each.action:
        case Action.ADD:
            return _("would be remembered as a new memory")
        case Action.ELEVATE:
            count = len(card.sources)
            words = ngettext("a general rule drawn from {n} memory", "a general rule drawn from {n} memories", count)
            return words.format(n=count)
        case Action.UPDATE if card.target is not None and card.after is None:
            return _("{name} has expired: this would become a memory of its own").format(name=target)
        case Action.UPDATE:
            return _("would change {name}").format(name=target)
        case Action.DELETE if each.replaces:
            return _("would take the place of {name}, which goes out of use").format(name=target)
    return _("would take {name} out of use; its file and history stay").format(name=target)


def _head(card: Card) -> Iterable[Block]:
    each = card.candidate
    separator = f" {glyphs().separator} "
    place = one_line(place_word(each, card.project))
    sign, style = action_sign(each.action)
    yield Line((("strong", one_line(each.description)),))
    yield Line((("accent", one_line(each.name)), ("dim", separator + type_word(each.type) + separator + place)))
    yield Line((("text", effect_words(card)),), first=((style, sign + " "),))
    if each.valid_until is not None:
        yield Line((("text", applies_through(each.valid_until)),), first=(("text", "  "),))


def _warnings(card: Card, refusal: Refusal | None, changed: bool) -> Iterable[Block]:
    if changed:
        yield _warning(_("this text is another one than you were looking at"))
    if refusal is not None:
        yield _warning(refusal.sentence, "error")
        if refusal.hint:
            yield Line((("dim", refusal.hint),), first=(("text", "  "),))
    elif card.holder is not None:
        words = _("a memory of that name exists already with other content ({id})").format(id=card.holder.id)
        yield _warning(words)
        yield Line((("dim", _("r confirms it under another name")),), first=(("text", "  "),))
    if refusal is None and target_words(card.shown):
        yield _warning(target_words(card.shown))
    moved = sum(state.changed for state, _text_ in card.sources)
    if moved:
        words = ngettext(
            "{n} memory it rests on has changed since", "{n} memories it rests on have changed since", moved
        )
        yield _warning(words.format(n=moved))


def _warning(words: str, style: str = "warning") -> Line:
    return Line(((style, words),), first=((style, "! "),))


def _text(card: Card) -> Iterable[Block]:
    """The difference where something changes, then the text as it would stand."""
    each = card.candidate
    if each.action is Action.UPDATE and card.target and card.after:
        yield _heading(_("what would change"))
        yield from entry_diff(card.target.entry, card.target.body, card.after.entry, card.after.body)
        if each.body.strip():
            yield from (blank(), _heading(_("the whole text then")))
    elif each.action is Action.DELETE and not each.replaces:
        yield _heading(_("what would go out of use"))
    yield from markdown_lines(each.body) or [Line((("dim", _("no text beyond the description")),))]
    if each.action is Action.DELETE and each.replaces and card.target:
        yield from (blank(), _heading(_("what it would replace")))
        yield from _quoted(card.target)
    if card.holder is not None:
        yield from (
            blank(),
            Line((("dim", _("the name is held by:")), ("text", f" {one_line(card.holder.description)}"))),
        )


def _sources(card: Card) -> Iterable[Block]:
    if not card.sources:
        return
    count = len(card.sources)
    yield blank()
    yield _heading(ngettext("drawn from {n} memory", "drawn from {n} memories", count).format(n=count))
    for number, (state, text) in enumerate(card.sources):
        if number:
            yield blank()
        name = one_line(state.name or state.id)
        mark = [("warning", "  " + (_("changed since") if text else _("not here any more")))] if state.changed else []
        yield Line((("accent", name), ("dim", f"  {state.id}"), *mark))
        if text is not None:
            yield from _quoted(text)


def _quoted(text: Text) -> Iterable[Block]:
    """A memory's own text, set off so that it is not taken for the candidate's."""
    lead = (("faint", glyphs().bar + " "),)
    body = text.body.strip()
    for part in (text.entry.description, *(("", body) if body else ())):
        yield from (Line(line.pieces, lead=lead) for line in plain(part))


def _facts(card: Card, now_ms: int, zone: tzinfo) -> Iterable[Block]:
    each = card.candidate
    yield pair(_("confidence"), f"{each.confidence:g}")
    if each.evidence:
        verified = each.evidence_status is EvidenceStatus.VERIFIED
        yield pair(_("evidence"), f"{each.evidence} ({_('verified') if verified else _('unverified')})", style="quote")
    if each.reason:
        yield pair(_("reason"), reason_word(each.reason))
    yield pair(_("proposed by"), ", ".join(filter(None, (origin_word(each.origin), each.model, _session(each)))))
    if each.entities:
        yield pair(_("entities"), ", ".join(each.entities))
    if each.target:
        yield pair(_("target"), _known(card.target, each.target.id))
    left = days_left(each.expires_at, now_ms)
    words = ngettext("{n} day left", "{n} days left", left).format(n=left) if left else _("today")
    yield pair(_("expires"), f"{moment(each.expires_at, zone)} ({words})")
    yield pair(_("id"), each.id)
    yield pair(_("digest"), each.digest[:DIGEST_SHOWN])


def _session(each: Candidate) -> str:
    if each.session is None or each.origin is Origin.CONSOLIDATION:
        return ""
    return _("session {id}").format(id=each.session)


def _known(text: Text | None, id_: str) -> str:
    return f"{one_line(text.entry.name)} ({id_})" if text else f"{id_} ({_('not here any more')})"


def _heading(words: str) -> Line:
    return Line((("heading", words),))
