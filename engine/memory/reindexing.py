"""Builds the index anew from the files a person sees here: every file is read again, whatever its time stamp says."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from engine.memory import rows
from engine.memory.directory import FILE_NAME, Directory
from engine.memory.layers import Layers
from engine.memory.model import Layer, State
from engine.memory.reconcile import Reconciler
from engine.memory.rows import FileRow
from engine.storage import files
from engine.storage.database import Database
from engine.storage.transaction import FileTransactions

BATCH = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a rebuild met: ``adopted`` files read otherwise than the index had them; the rest are totals now."""

    adopted: int
    entries: int
    quarantined: int
    missing: int


class Reindexer:
    """Reads all files of the visible layers, adopts what differs, and writes full text and vector facts again."""

    def __init__(
        self,
        database: Database,
        transactions: FileTransactions,
        reconciler: Reconciler,
        directory: Directory,
        layers: Layers,
    ) -> None:
        self._database = database
        self._transactions = transactions
        self._reconciler = reconciler
        self._directory = directory
        self._layers = layers

    def run(self) -> Reindexed:
        """Rebuild every visible layer. Raises ``StoreReadOnly`` or ``StoreNewer`` where nothing lasting can be written."""
        self._database.check_writable()
        adopted = 0
        for layer in self._layers.person():
            fresh = set(self._reconciler.refresh([layer]))
            adopted += len(fresh)
            with self._database.read() as connection:
                known = rows.file_rows(connection, layer.key)
            old = [row for row in known.values() if row.id not in fresh and row.file_state is not State.MISSING]
            for start in range(0, len(old), BATCH):
                adopted += self._again(layer, old[start : start + BATCH])
            self._directory.refresh(layer)
        told = self._totals(adopted)
        _log.info("reindexed: %d entries, %d adopted", told.entries, told.adopted)
        return told

    def files(self) -> int:
        """How many memory files lie in the visible layers; what a progress line counts towards."""
        return sum(path.name != FILE_NAME for layer in self._layers.person() for path in layer.folder.glob("[!.]*.md"))

    def rows(self) -> int:
        """How many of them the index knows by now."""
        return self._count(None)

    def _again(self, layer: Layer, batch: Sequence[FileRow]) -> int:
        """Index a batch of known entries anew; a file whose bytes changed under the same time stamp is adopted first."""
        with self._transactions.exclusive():
            changed = [row for row in batch if _hash_now(layer, row) != row.file_hash]
            for row in changed:
                self._reconciler.adopt_entry(layer, row.id)
            with self._database.write() as connection:
                for each in rows.by_rids(connection, [row.rid for row in batch]).values():
                    rows.index(connection, each.rid, each.entry, rows.body_of(connection, each.rid))
        return len(changed)

    def _totals(self, adopted: int) -> Reindexed:
        return Reindexed(adopted, self._count(None), self._count(State.QUARANTINED), self._count(State.MISSING))

    def _count(self, file_state: State | None) -> int:
        keys = [layer.key for layer in self._layers.person()]
        sql = f"SELECT count(*) FROM memory_entry WHERE layer IN ({', '.join('?' * len(keys))})"
        with self._database.read() as connection:
            if file_state is None:
                return int(next(connection.execute(sql, keys))[0])
            return int(next(connection.execute(f"{sql} AND file_state = ?", (*keys, file_state.value)))[0])


def _hash_now(layer: Layer, row: FileRow) -> str:
    try:
        return files.content_hash((layer.folder / f"{row.id}.md").read_bytes())
    except OSError:
        return ""
