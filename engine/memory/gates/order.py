"""Asks the three gates that need nothing but the item itself, in the order of 02 §4; it writes and logs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.memory.gate_log import Gate
from engine.memory.gates.confidence import confidence_doubt
from engine.memory.gates.transient import transient_reason
from engine.memory.sensitive.scan import find_sensitive


class Judged(Protocol):
    """What the gates read of a draft item: model output, not yet trusted."""

    @property
    def name(self) -> str:
        """The slug it would get."""

    @property
    def description(self) -> str:
        """The one line that would be injected."""

    @property
    def body(self) -> str:
        """The text behind it."""

    @property
    def confidence(self) -> object:
        """Whatever the model gave as a number from 0 to 1; None where it gave nothing."""

    @property
    def entities(self) -> Sequence[str]:
        """Names the item is about."""

    @property
    def links(self) -> Sequence[str]:
        """What it refers to."""

    @property
    def evidence(self) -> str | None:
        """The excerpt of the turn it stands on, which would be stored beside it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The gate that drops an item, and ``gate: code`` (``transient: progress_count``), which holds none of its text."""

    gate: Gate
    reason: str


def judge(item: Judged) -> Refused | None:
    """The first gate that drops this item, of transient, confidence and sensitive; None where it passes all three."""
    moment = transient_reason(item.name, item.description)
    if moment is not None:
        return _refused(Gate.TRANSIENT, moment)
    doubt = confidence_doubt(item.confidence)
    if doubt is not None:
        return _refused(Gate.CONFIDENCE, doubt)
    secret = _secret(item)
    return _refused(Gate.SENSITIVE, secret) if secret is not None else None


def _secret(item: Judged) -> str | None:
    beside = (item.evidence,) if item.evidence else ()
    found = find_sensitive(
        item.name, _words(item.name), item.description, item.body, *item.entities, *item.links, *beside
    )
    return found.kind if found else None


def shown_name(name: str) -> str:
    """An item's name as it may be logged and listed: without what is secret in it, as a slug or as words."""
    from engine.memory.sensitive.scan import redact

    shown = redact(name)
    words = redact(_words(name))
    return words if shown == name and words != _words(name) else shown


def _words(name: str) -> str:
    """A slug hides the blank after ``password is``."""
    return name.replace("-", " ")


def _refused(gate: Gate, code: str) -> Refused:
    return Refused(gate, f"{gate.value}: {code}")
