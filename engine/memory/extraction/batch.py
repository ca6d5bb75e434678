"""Drops from one answer, before any further model call, what is copied, repeated or known already (02 §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.memory.extraction.answer import DraftItem
from engine.memory.extraction.examples import PROMPT_EXAMPLES
from engine.memory.extraction.known import Known
from engine.memory.model import Scope
from engine.storage.fulltext import normalised


class Verdict(StrEnum):
    """What becomes of an item before the gates: it goes on, it is dropped, or an entry says the same."""

    KEEP = "keep"
    DUPLICATE = "duplicate"
    NOOP = "noop"


class Reason(StrEnum):
    """Why an item does not go on."""

    PROMPT_EXAMPLE = "prompt_example"
    BATCH_REPEAT = "batch_repeat"
    RESTATES = "restates"


@dataclass(frozen=True, slots=True)
class Judged:
    """One item and its verdict; ``of`` is the id of the entry or the name of the earlier item it repeats."""

    item: DraftItem
    verdict: Verdict = Verdict.KEEP
    reason: Reason | None = None
    of: str | None = None


def judge_batch(items: Sequence[DraftItem], known: Sequence[Known]) -> tuple[Judged, ...]:
    """A verdict for each item, in order; ``known`` are active entries of the session's scopes.

    The first of several equal ones is kept: leave out before what cannot be stored (a project item without workspace).
    """
    seen = _Seen()
    entries: dict[str, list[Known]] = {}
    for entry in known:
        entries.setdefault(normalised(entry.description), []).append(entry)
    return tuple(_judged(item, seen, entries) for item in items)


def _judged(item: DraftItem, seen: "_Seen", entries: dict[str, list[Known]]) -> Judged:
    text = normalised(item.description)
    if text in _EXAMPLE_TEXTS or item.name in _EXAMPLE_NAMES:
        return Judged(item, Verdict.DUPLICATE, Reason.PROMPT_EXAMPLE)
    earlier = seen.same_as(item)
    if earlier is not None:
        return Judged(item, Verdict.DUPLICATE, Reason.BATCH_REPEAT, earlier.name)
    seen.add(item)
    said = next((entry for entry in entries.get(text, ()) if _covers(entry.scope, item.scope)), None)
    if said is not None:
        return Judged(item, Verdict.NOOP, Reason.RESTATES, said.id)
    return Judged(item)


def _covers(known: Scope, item: Scope) -> bool:
    """What holds for the person everywhere need not be said again for one project or agent; not the other way round."""
    return known is item or known is Scope.USER


class _Seen:
    """The items of the batch so far, by what makes another one a repeat."""

    def __init__(self) -> None:
        self._by_text: dict[str, DraftItem] = {}
        self._by_body: dict[tuple[Scope, str, str], DraftItem] = {}

    def add(self, item: DraftItem) -> None:
        self._by_text.setdefault(normalised(item.description), item)
        body = normalised(item.body)
        if body:
            self._by_body.setdefault((item.scope, item.name, body), item)

    def same_as(self, item: DraftItem) -> DraftItem | None:
        by_text = self._by_text.get(normalised(item.description))
        return by_text or self._by_body.get((item.scope, item.name, normalised(item.body)))


_EXAMPLE_TEXTS = frozenset(normalised(each.description) for each in PROMPT_EXAMPLES)
_EXAMPLE_NAMES = frozenset(each.name for each in PROMPT_EXAMPLES)
