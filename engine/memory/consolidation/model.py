"""What consolidation reads, is told by a model, and reports: snapshots, merges, elevations. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.memory.model import Entry


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An active entry with its text as it was before the model was asked."""

    rid: int
    entry: Entry
    body: str


@dataclass(frozen=True, slots=True)
class Merge:
    """A model says that ``ids`` say what ``keep`` says; ``keep`` is not among them."""

    keep: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Elevation:
    """A rule that a model sees behind several entries."""

    name: str
    description: str
    body: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model's answer asks for, as far as it makes sense; ``ignored`` counts what did not."""

    merges: tuple[Merge, ...] = ()
    elevations: tuple[Elevation, ...] = ()
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge that was done, as one operation group of the feed."""

    keep: str
    ids: tuple[str, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something a model asked for that was not done; ``reason`` is a short code, ``moved`` ones come up again later.

    ``unlike`` and ``too_many`` are parts of a merge that was held to be a mistake, or more than one answer may do.
    """

    action: str
    reason: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What one run over a layer did: merges, ids of candidates it put before the person, what it left, model calls.

    ``reason`` is a word about a run that did nothing.
    """

    layer: str
    merged: tuple[Merged, ...] = ()
    proposed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    calls: int = 0

    reason: str | None = None

    @property
    def items(self) -> tuple[Mapping[str, Any], ...]:
        """As it stands in a job's result: ids and codes only."""
        merged = ({"outcome": "merged", "keep": e.keep, "ids": list(e.ids), "group": e.group} for e in self.merged)
        proposed = ({"outcome": "proposed", "id": each} for each in self.proposed)
        left = (
            {"outcome": "skipped", "action": e.action, "reason": e.reason, "ids": list(e.ids)} for e in self.skipped
        )
        return (*merged, *proposed, *left)
