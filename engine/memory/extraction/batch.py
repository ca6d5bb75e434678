"""Drops from one answer, before any further model call, what is copied or repeated (02 §3)."""

from collections.abc import Sequence
from enum import StrEnum

from engine.memory.extraction.answer import DraftItem
from engine.memory.extraction.examples import PROMPT_EXAMPLES
from engine.memory.model import Scope
from engine.storage.fulltext import normalised


class Reason(StrEnum):
    """Why an item does not go on."""

    PROMPT_EXAMPLE = "prompt_example"
    BATCH_REPEAT = "batch_repeat"


def judge_batch(items: Sequence[DraftItem]) -> tuple[Reason | None, ...]:
    """A reason for each item that does not go on, in order; None for those that do.

    The first of several equal ones goes on: leave out before what cannot be stored or does not pass the gates.
    """
    seen = _Seen()
    return tuple(_judged(item, seen) for item in items)


def _judged(item: DraftItem, seen: "_Seen") -> Reason | None:
    if normalised(item.description) in _EXAMPLE_TEXTS or item.name in _EXAMPLE_NAMES:
        return Reason.PROMPT_EXAMPLE
    if seen.has(item):
        return Reason.BATCH_REPEAT
    seen.add(item)
    return None


class _Seen:
    """The items of the batch so far, by what makes another one a repeat."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._bodies: set[tuple[Scope, str, str]] = set()

    def add(self, item: DraftItem) -> None:
        self._texts.add(normalised(item.description))
        body = normalised(item.body)
        if body:
            self._bodies.add((item.scope, item.name, body))

    def has(self, item: DraftItem) -> bool:
        same_text = normalised(item.description) in self._texts
        return same_text or (item.scope, item.name, normalised(item.body)) in self._bodies


_EXAMPLE_TEXTS = frozenset(normalised(each.description) for each in PROMPT_EXAMPLES)
_EXAMPLE_NAMES = frozenset(each.name for each in PROMPT_EXAMPLES)
