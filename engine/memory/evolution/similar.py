"""Finds what a new item may be about: the five most similar active entries of its own layer, reads only (02 §4.4)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.clock import Clock
from engine.config import MemorySettings
from engine.memory import rows
from engine.memory.extraction.answer import DraftItem
from engine.memory.model import Entry, Layer, State
from engine.memory.retrieval import Retrieval
from engine.storage import fulltext
from engine.storage.database import Database

SIMILAR_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class Seen:
    """An entry with its text, as it was before the model was asked."""

    entry: Entry
    body: str

    def says(self, item: DraftItem) -> bool:
        """Whether it holds the same already: equal normalised description, and a body that adds nothing."""
        same = fulltext.normalised(self.entry.description) == fulltext.normalised(item.description)
        return same and fulltext.normalised(item.body) in ("", fulltext.normalised(self.body))


class Similar:
    """Asks the one query layer with any of an item's words, and by its meaning."""

    def __init__(
        self, database: Database, retrieval: Retrieval, clock: Clock, settings: Callable[[], MemorySettings]
    ) -> None:
        self._database = database
        self._retrieval = retrieval
        self._clock = clock
        self._settings = settings

    def to(self, item: DraftItem, layer: Layer) -> list[Seen]:
        """The holder of its name first, then the nearest others; at most five, all active now."""
        query = f"{item.name.replace('-', ' ')} {item.description}"
        found = self._retrieval.search(query, [layer], self._settings(), None, SIMILAR_MAX)
        ids = [hit.entry.id for hit in found.hits]
        with self._database.read() as connection:
            holder = self.holder(item, layer)
            wanted = list(dict.fromkeys([*([holder.entry.id] if holder else []), *ids]))[:SIMILAR_MAX]
            picked = [rows.find(connection, (layer.key,), each) for each in wanted]
            return [Seen(row.entry, rows.body_of(connection, row.rid)) for row in picked if row is not None]

    def holder(self, item: DraftItem, layer: Layer) -> Seen | None:
        """The active entry that has exactly this name; an expired one makes room by itself (02 §4)."""
        with self._database.read() as connection:
            row = rows.holder(connection, layer.key, item.name)
            if row is None or row.entry.state(self._clock.now_ms()) is not State.ACTIVE:
                return None
            return Seen(row.entry, rows.body_of(connection, row.rid))

    def entry(self, entry_id: str, layer: Layer) -> Entry | None:
        """An entry of the layer in whatever state."""
        with self._database.read() as connection:
            row = rows.find(connection, (layer.key,), entry_id)
            return row.entry if row else None

    def equal(self, item: DraftItem, layers: Sequence[Layer]) -> Seen | None:
        """An active entry of these layers that says the same, wherever search ranks it."""
        sql = (
            "SELECT rid FROM memory_entry WHERE layer IN (SELECT value FROM json_each(:layers))"
            f" AND normalised = :normalised AND {rows.ACTIVE}"
        )
        values = {
            "layers": json.dumps([layer.key for layer in layers]),
            "normalised": fulltext.normalised(item.description),
            "now": self._clock.now_ms(),
        }
        with self._database.read() as connection:
            rids = [rid for (rid,) in connection.execute(sql, values)]
            found = [
                Seen(row.entry, rows.body_of(connection, rid)) for rid, row in rows.by_rids(connection, rids).items()
            ]
        return next((each for each in found if each.says(item)), None)
