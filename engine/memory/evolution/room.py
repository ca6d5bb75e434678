"""The fifth gate: room for one more entry in a layer, by dropping it or by letting the least useful one go (02 §4.5)."""

from collections.abc import Callable
from dataclasses import replace

import apsw

from engine.clock import Clock
from engine.config import MemorySettings
from engine.errors import QuotaExceeded
from engine.memory import rows
from engine.memory.commit import Pending
from engine.memory.evolution.outcome import may_change_by_itself
from engine.memory.layers import Layers
from engine.memory.model import AuthorRole, Draft, Entry, Layer, MemoryType
from engine.memory.retrieval import decay_of
from engine.memory.store import MemoryStore
from engine.storage.database import Database


class Room:
    """Prepares the creation of one entry; the caller holds the store's lock."""

    def __init__(
        self,
        database: Database,
        store: MemoryStore,
        layers: Layers,
        clock: Clock,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._store = store
        self._layers = layers
        self._clock = clock
        self._settings = settings

    def for_one(self, draft: Draft) -> list[Pending]:
        """The pending creation, with the archiving of what makes room for it where ``memory.quotaPolicy`` is ``evict``.

        Raises ``QuotaExceeded`` when the layer is full and nothing may go, else as ``MemoryStore.add`` does.
        """
        try:
            return self._store.begun(draft)
        except QuotaExceeded:
            victim = self._least(draft) if self._settings().quota_policy == "evict" else None
            if victim is None:
                raise
        pending = self._store.begun(draft, frozenset({victim.id}))
        held = self._store.hold(victim.id)
        gone = replace(held.entry, archived=True)
        return pending + self._store.prepared(held, gone, held.body, "evict", AuthorRole.EXTRACTION)

    def _least(self, draft: Draft) -> Entry | None:
        """The lowest scored entry that only turns ever wrote; never feedback, never a person's own (02 §4.5)."""
        layer = self._layers.for_writing(draft.scope, draft.agent)
        now, settings = self._clock.now_ms(), self._settings()
        with self._database.read() as connection:
            entries = [each for each in _active(connection, layer, now) if _may_go(each)]
        scored = (
            (decay_of(e.updated_at, now, settings) * e.confidence, e.hit_count, e.updated_at, e.id) for e in entries
        )
        least = min(scored, default=None)
        return next((each for each in entries if least and each.id == least[-1]), None)


def _may_go(entry: Entry) -> bool:
    return may_change_by_itself(entry) and entry.type is not MemoryType.FEEDBACK


def _active(connection: apsw.Connection, layer: Layer, now: int) -> list[Entry]:
    sql = f"SELECT {rows.COLUMNS} FROM memory_entry WHERE layer = :layer AND {rows.ACTIVE}"
    return [rows.row_of(values).entry for values in connection.execute(sql, {"layer": layer.key, "now": now})]
