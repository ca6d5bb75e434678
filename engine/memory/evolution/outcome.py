"""What became of one item a model wanted remembered: names, ids and codes, never its text."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.memory.gate_log import Gate
from engine.memory.model import AuthorRole, Entry, Scope, Source


class Outcome(StrEnum):
    """``NOOP`` is equal to an entry that is there; ``QUEUED_FOR_REVIEW`` waits for a person."""

    ADDED = "added"
    UPDATED = "updated"
    INVALIDATED = "invalidated"
    NOOP = "noop"
    QUEUED_FOR_REVIEW = "queued_for_review"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome for one item; ``id`` is the entry (or candidate) it ended in, ``reason`` a short code."""

    outcome: Outcome
    id: str | None = None
    gate: Gate | None = None
    reason: str = ""

    def told(self, name: str, scope: Scope) -> dict[str, Any]:
        """As it stands in a job's result and in the command line's JSON (08)."""
        told: dict[str, Any] = {"name": name, "scope": scope.value, "outcome": self.outcome.value}
        if self.gate is not None:
            told["gate"] = self.gate.value
        if self.reason:
            told["reason"] = self.reason
        if self.id is not None:
            told["id"] = self.id
        return told


def dropped(gate: Gate, reason: str) -> Settled:
    """An item that went no further than this gate."""
    return Settled(Outcome.DROPPED, gate=gate, reason=reason)


def may_change_by_itself(entry: Entry) -> bool:
    """Whether a turn may change an entry without asking: only what turns wrote and no person has touched (02 §4.4)."""
    return entry.source is Source.EXTRACTION and entry.author_role in (AuthorRole.EXTRACTION, AuthorRole.CONSOLIDATION)
