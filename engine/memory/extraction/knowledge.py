"""What is remembered already, as a model that looks at a turn is told it: active entries, those the turn is about first."""

from collections.abc import Callable, Sequence
from typing import Final

from engine.clock import Clock
from engine.config import MemorySettings
from engine.memory import rows
from engine.memory.extraction.prompt import Known
from engine.memory.extraction.turn import Turn
from engine.memory.layers import Layers
from engine.memory.model import Entry, Layer
from engine.memory.retrieval import Retrieval
from engine.storage.database import Database

NEAREST: Final = 20
MOST: Final = 400  # the prompt takes as many of them as its share of tokens allows


class Knowledge:
    """Reads the three layers of a turn: user, project, the agent whose turn it was."""

    def __init__(
        self,
        database: Database,
        retrieval: Retrieval,
        layers: Layers,
        clock: Clock,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._retrieval = retrieval
        self._layers = layers
        self._clock = clock
        self._settings = settings

    def layers(self, turn: Turn) -> list[Layer]:
        """What a turn of this agent can see and be learned into."""
        return self._layers.session(turn.agent)

    def about(self, turn: Turn) -> list[Known]:
        """The entries nearest to what was said, then the latest others."""
        layers = self.layers(turn)
        found = self._retrieval.search(f"{turn.user}\n{turn.assistant}", layers, self._settings(), None, NEAREST)
        near = {hit.entry.id: hit.entry for hit in found.hits}
        rest = {entry.id: entry for entry in self._latest(layers) if entry.id not in near}
        return [Known(each.id, each.scope, each.name, each.description) for each in [*near.values(), *rest.values()]]

    def _latest(self, layers: Sequence[Layer]) -> list[Entry]:
        marks = ", ".join(f":layer{n}" for n in range(len(layers)))
        sql = (
            f"SELECT {rows.COLUMNS} FROM memory_entry WHERE layer IN ({marks}) AND {rows.ACTIVE}"
            f" ORDER BY updated_at DESC, id LIMIT {MOST}"
        )
        values = {f"layer{n}": layer.key for n, layer in enumerate(layers)} | {"now": self._clock.now_ms()}
        with self._database.read() as connection:
            return [rows.row_of(row).entry for row in connection.execute(sql, values)]
