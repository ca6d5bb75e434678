"""What one run over a layer has done so far, and how that survives its interruption: ids, codes and counts, no text."""

from collections.abc import Mapping
from typing import Any

from engine.memory.consolidation.model import ConsolidationReport, Merged, Skipped, Snapshot
from engine.memory.model import Layer


class Run:
    """One run; ``asked`` are the ids of entries that were asked about, ``window`` what the model turned out to read."""

    def __init__(self, layer: Layer, found: list[Snapshot], window: int, progress: Mapping[str, Any]) -> None:
        """``progress`` is what ``far`` answered last; an empty mapping at the first time."""
        self.layer = layer
        self.known = {each.entry.id: each for each in found}
        self.window = min(window, int(progress.get("window", window)))
        self.calls = int(progress.get("calls", 0))
        self.asked: set[str] = set(progress.get("asked", ()))
        self.merged = [Merged(each["keep"], tuple(each["ids"]), each["group"]) for each in _of(progress, "merged")]
        self.proposed = [str(each["id"]) for each in _of(progress, "proposed")]
        self.skipped = [
            Skipped(each["action"], each["reason"], tuple(each["ids"])) for each in _of(progress, "skipped")
        ]
        self._into: dict[str, str] = {}

    @property
    def waiting(self) -> list[Snapshot]:
        """The entries nobody was asked about yet."""
        return [each for id_, each in self.known.items() if id_ not in self.asked]

    def note(self, done: Merged | Skipped | str) -> None:
        """One more thing is done, proposed or left."""
        match done:
            case Merged():
                self.merged.append(done)
                self._into |= dict.fromkeys(done.ids, done.keep)
            case Skipped():
                self.skipped.append(done)
            case str():
                self.proposed.append(done)

    def standing(self, entry_id: str) -> str:
        """The entry that says now what this one said."""
        return self._into.get(entry_id, entry_id)

    def version(self, entry_id: str) -> int:
        """The version the model was shown, or the one this run made of it: not that of a hand that came between."""
        return self.known[entry_id].entry.version + (entry_id in self._into.values())

    def report(self) -> ConsolidationReport:
        """What it came to."""
        return ConsolidationReport(
            self.layer.key, tuple(self.merged), tuple(self.proposed), tuple(self.skipped), self.calls
        )

    def far(self) -> dict[str, Any]:
        """How far it is, as JSON: what is done, and what need not be asked again."""
        told = [dict(each) for each in self.report().items]
        return {"items": told, "asked": sorted(self.asked), "calls": self.calls, "window": self.window}


def _of(progress: Mapping[str, Any], outcome: str) -> list[Mapping[str, Any]]:
    return [each for each in progress.get("items", ()) if each["outcome"] == outcome]
