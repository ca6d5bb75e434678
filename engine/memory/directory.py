"""MEMORY.md: one line for each active memory of a layer, newest first; derived, so unsynced and rebuilt at need."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from engine.clock import Clock
from engine.errors import SparkError
from engine.memory import rows
from engine.memory.model import Layer
from engine.storage import files
from engine.storage.database import Database

FILE_NAME = "MEMORY.md"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Seen:
    """When the file of a layer was last true: at which count of changes, and until which instant (ms)."""

    changes: int
    until: int | None


class Directory:
    """Keeps the MEMORY.md of each layer true, also when an entry expires with nobody writing."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._seen: dict[str, _Seen] = {}
        self._put_off: dict[str, Layer] | None = None

    @contextmanager
    def coalesced(self) -> Iterator[None]:
        """Within this every layer is written once, at the end, however many changes it sees.

        The caller holds the writers' lock.
        """
        if self._put_off is not None:
            yield
            return
        self._put_off = {}
        try:
            yield
        finally:
            layers, self._put_off = self._put_off.values(), None
            for layer in layers:
                self.refresh(layer)

    def refresh(self, layer: Layer) -> None:
        """Rewrite the file when it would read differently; a failure is logged, since nothing is lost by it.

        The caller holds the writers' lock.
        """
        if self._put_off is not None:
            self._put_off[layer.key] = layer
            return
        text, seen = self._rendered(layer)
        self._seen[layer.key] = seen
        path = layer.folder / FILE_NAME
        if not text and not path.exists():
            return
        try:
            if _read(path) != text:
                files.write_derived(path, text.encode("utf-8", "replace"))
        except (SparkError, OSError) as error:
            _log.warning("MEMORY.md of %s not written: %s", layer.key, type(error).__name__)

    def is_stale(self, layer: Layer) -> bool:
        """Whether the file should read differently; takes no lock, and looks only when something may have changed."""
        if not self._may_differ(layer):
            return False
        text, seen = self._rendered(layer)
        stale = (_read(layer.folder / FILE_NAME) or "") != text
        if not stale:
            self._seen[layer.key] = seen
        return stale

    def is_due(self, layer: Layer) -> bool:
        """Whether an entry has expired since the file was looked at, or this process has not looked at it yet."""
        seen = self._seen.get(layer.key)
        return seen is None or (seen.until is not None and seen.until <= self._clock.now_ms())

    def _may_differ(self, layer: Layer) -> bool:
        with self._database.read() as connection:
            changes = rows.counters(connection, [layer.key])[0]
        return self.is_due(layer) or self._seen[layer.key].changes != changes

    def _rendered(self, layer: Layer) -> tuple[str, _Seen]:
        with self._database.read() as connection:
            changes = rows.counters(connection, [layer.key])[0]
            text, until = _render(connection, layer, self._clock.now_ms())
        return text, _Seen(changes, until)


def _render(connection: apsw.Connection, layer: Layer, now: int) -> tuple[str, int | None]:
    sql = (
        f"SELECT name, id, description, valid_until FROM memory_entry WHERE layer = :layer AND {rows.ACTIVE}"
        " ORDER BY updated_at DESC, id"
    )
    found = list(connection.execute(sql, {"layer": layer.key, "now": now}))
    lines = [f"- [{name}]({id_}.md) — {description}" for name, id_, description, _ in found]
    ends = [until for *_, until in found if until is not None]
    return "".join(line + "\n" for line in lines), min(ends, default=None)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
