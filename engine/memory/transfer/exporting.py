"""Writes the memories a person sees as plain markdown into a folder; never overwrites what it did not write itself."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.clock import Clock
from engine.errors import SparkError, ValidationFailed
from engine.memory.layers import Layers
from engine.memory.listing import Filter, Listing, Order
from engine.memory.model import Entry, Layer, Scope, State
from engine.memory.transfer.sources import INDEX_FILE, INDEX_MARK
from engine.storage import files

MANIFEST: Final = ".spark-export.json"
_log = logging.getLogger(__name__)


class ExportOutcome(StrEnum):
    """What became of one file: ``KEPT`` is a file that is not ours and was left alone."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Exported:
    """One memory (or the index) and its file relative to the export folder."""

    file: str
    outcome: ExportOutcome
    id: str | None = None
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the folder now holds what the store holds."""
        return self.outcome in (ExportOutcome.WRITTEN, ExportOutcome.UNCHANGED)


class Exporter:
    """Copies memory files as they are, with an index. A hash of everything written tells its own files from others."""

    def __init__(self, layers: Layers, listing: Listing, clock: Clock) -> None:
        self._layers = layers
        self._listing = listing
        self._clock = clock

    def export(self, folder: Path) -> list[Exported]:
        """Write every memory the person sees here, whatever its state; a broken or vanished file is skipped.

        Raises ``ValidationFailed`` for a folder inside the store itself and ``IoFailed`` when nothing can be written.
        """
        self._refuse_own_folders(folder)
        files.make_folder(folder)
        known = _manifest(folder)
        told: list[Exported] = []
        index: list[str] = [INDEX_MARK, "", "# Memories", ""]
        for layer in self._layers.person():
            entries = self._listing.window(
                Filter(
                    scope=layer.scope,
                    agent=layer.ref if layer.scope is Scope.AGENT else None,
                    state=None,
                    order=Order.NAME,
                )
            )
            if entries:
                index += ["", f"## {_title(layer)}", ""]
            for entry in entries:
                told.append(self._entry(folder, layer, entry, known))
                index += _index_line(told[-1], entry, self._clock.now_ms())
        told.append(_write(folder, INDEX_FILE, "\n".join([*index, ""]).encode(), known, None))
        files.write_derived(folder / MANIFEST, json.dumps({"files": known}, indent=1, sort_keys=True).encode())
        _log.info("exported %d files", sum(each.outcome is ExportOutcome.WRITTEN for each in told))
        return told

    def _entry(self, folder: Path, layer: Layer, entry: Entry, known: dict[str, str]) -> Exported:
        file = f"{_place(layer)}/{entry.file}"
        if entry.file_state is not None:
            return Exported(file, ExportOutcome.SKIPPED, entry.id, f"{entry.file_state}: {entry.file_reason}")
        try:
            data = (layer.folder / entry.file).read_bytes()
        except OSError as error:
            return Exported(file, ExportOutcome.FAILED, entry.id, error.strerror or type(error).__name__)
        return _write(folder, file, data, known, entry.id)

    def _refuse_own_folders(self, folder: Path) -> None:
        target = folder.resolve()
        for layer in self._layers.person():
            own = layer.folder.resolve()
            if own in (target, *target.parents, target / _place(layer)):
                raise ValidationFailed(f"{folder} belongs to the memory store itself", "export into another folder")


def _write(folder: Path, file: str, data: bytes, known: dict[str, str], entry_id: str | None) -> Exported:
    path, digest = folder / file, files.content_hash(data)
    try:
        there = files.content_hash(path.read_bytes()) if path.exists() else None
        if there is not None and there not in (digest, known.get(file)):
            return Exported(file, ExportOutcome.KEPT, entry_id, "another file of that name is there")
        if there != digest:
            files.write_derived(path, data)
    except (SparkError, OSError) as error:
        reason = error.message if isinstance(error, SparkError) else error.strerror or type(error).__name__
        return Exported(file, ExportOutcome.FAILED, entry_id, reason)
    known[file] = digest
    return Exported(file, ExportOutcome.UNCHANGED if there == digest else ExportOutcome.WRITTEN, entry_id)


def _manifest(folder: Path) -> dict[str, str]:
    """Hashes of what an earlier export wrote here; an unreadable list means that nothing here is known to be ours."""
    try:
        found = json.loads((folder / MANIFEST).read_bytes())["files"]
        return {str(name): str(digest) for name, digest in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _index_line(exported: Exported, entry: Entry, now: int) -> Iterator[str]:
    state = entry.state(now)
    note = entry.type.value if state is State.ACTIVE else f"{entry.type.value}, {state.value}"
    if exported.outcome in (ExportOutcome.SKIPPED, ExportOutcome.FAILED):
        yield f"- {entry.name} — {entry.description} ({note})"
    else:
        yield f"- [{entry.name}]({exported.file}) — {entry.description} ({note})"


def _place(layer: Layer) -> str:
    return f"agent/{layer.ref}" if layer.scope is Scope.AGENT else layer.scope.value


def _title(layer: Layer) -> str:
    return layer.label if layer.scope is Scope.USER else f"{layer.scope.value}: {layer.label}"
