"""Keeps the vectors of memories true to text and model: generations, back-fill, query vectors, a negative cache."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import apsw

from engine.bus import Bus
from engine.clock import Clock
from engine.errors import EmbeddingFailed
from engine.events import EmbeddingProgress
from engine.memory import rows
from engine.memory.rows import VECTORS, Row
from engine.providers.protocols import Embedder
from engine.storage.database import Database
from engine.vector import FLOAT_BYTES, Vector

FAILURE_PAUSE_MS: Final = 300_000
# How long a search may wait for another writer before it does without vectors.
GENERATION_WAIT_MS: Final = 500
FILL_BEFORE_SEARCH: Final = 256
BATCH: Final = 32
QUERY_CACHE: Final = 64
_WANTING = (
    "archived = 0 AND invalid_at IS NULL AND file_state IS NULL AND input_hash != ''"
    " AND rid NOT IN (SELECT rid FROM memory_embedding WHERE generation = :generation)"
)
Answer = TypeVar("Answer")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddingState:
    """What doctor and screens show: the model (None = full text only), its generation, entries with a vector of all.

    ``is_local`` says whether texts stay on this machine.
    """

    model: str | None
    generation: int
    done: int
    total: int
    reason: str | None
    is_local: bool = True


class Embeddings:
    """One embedding model at a time; a change of model makes a new generation and drops the old vectors.

    ``follow`` is called before each use: it reads settings another process changed, and calls ``reload`` if it did.
    """

    def __init__(
        self,
        database: Database,
        make: Callable[[], Embedder | None],
        clock: Clock,
        bus: Bus,
        follow: Callable[[], object] = lambda: None,
    ) -> None:
        self._database = database
        self._make = make
        self._clock = clock
        self._bus = bus
        self._follow = follow
        self._lock = threading.RLock()
        self._embedder: Embedder | None = None
        self._made = False
        self._failed_at: int | None = None
        self._reason: str | None = None
        self._queries: OrderedDict[str, Vector] = OrderedDict()

    @property
    def floor(self) -> float:
        """The similarity below which a vector hit of this model means nothing; −1 when unknown."""
        embedder = self._embedder
        return embedder.floor if embedder else -1.0

    def query(self, text: str) -> Vector | None:
        """The vector of a query; None when no model is set.

        Raises ``EmbeddingFailed``, at once for 5 min after one, or ``StoreBusy`` when a generation cannot be begun.
        """
        self._follow()
        embedder = self._current()
        if embedder is None:
            return None
        with self._lock:
            cached = self._queries.get(text)
            if cached is not None:
                self._queries.move_to_end(text)
                return cached
        vector = self._guarded(lambda: embedder.query(text))
        self._generation(embedder)
        with self._lock:
            if self._embedder is embedder:  # else a vector of a model that is no longer in force
                self._queries[text] = vector
            while len(self._queries) > QUERY_CACHE:
                self._queries.popitem(last=False)
        return vector

    def fill(self, limit: int | None = None, stop: Callable[[], bool] = lambda: False) -> tuple[int, int]:
        """Embed up to ``limit`` entries that have no vector yet; answers (entries with one, entries in all).

        Raises ``EmbeddingFailed`` or ``StoreBusy``.
        """
        generation = self.fill_missing(limit, stop)
        return (0, 0) if generation is None else self._counts(generation)

    def fill_missing(self, limit: int | None = None, stop: Callable[[], bool] = lambda: False) -> int | None:
        """Like ``fill`` without counting, which a search has no time for; answers the generation, None without a model.

        Works in batches of 32 so that other writers get in between.
        """
        self._follow()
        embedder = self._current()
        if embedder is None or not self._database.writable:
            return None
        generation = self._generation(embedder)
        self._repair()
        left = limit
        while not stop() and (left is None or left > 0):
            batch = self._wanting(generation, BATCH if left is None else min(BATCH, left))
            if not batch:
                break
            texts = [rows.input_text(row.entry) for row in batch]
            vectors = self._guarded(partial(embedder.passages, texts))
            fitting = self._fitting(embedder, vectors, generation)
            if fitting is None or not self._keep(batch, vectors, fitting):
                break  # another process has begun a new generation, or every text moved on: next time
            generation = fitting
            left = None if left is None else left - len(batch)
            self._bus.announce(EmbeddingProgress(*self._counts(generation)))
        return generation

    def rebuild(self) -> None:
        """Forget every vector; the next ``fill`` makes them again."""
        with self._lock:
            self._failed_at = None
            self._queries.clear()
        with self._database.write() as connection:
            VECTORS.reset(connection)

    def reload(self) -> None:
        """Take the model from the settings anew, and forgive past failures."""
        with self._lock:
            if self._embedder is not None:
                self._embedder.release()
            self._embedder, self._made, self._failed_at, self._reason = None, False, None, None
            self._queries.clear()

    def release(self) -> None:
        """Give the memory of an idle model back; the next use loads it again."""
        with self._lock:
            if self._embedder is not None:
                self._embedder.release()

    def state(self) -> EmbeddingState:
        """What is there, without loading a model."""
        embedder = self._peek()
        model, is_local = (embedder.model, embedder.is_local) if embedder else (None, True)
        with self._database.read() as connection:
            # Vectors of another model are none of this one's; they go when it embeds for the first time.
            generation = VECTORS.generation(connection) if VECTORS.model(connection) == model else 0
        done, total = self._counts(generation)
        return EmbeddingState(model, generation, done, total, self._reason, is_local)

    def _peek(self) -> Embedder | None:
        with self._lock:
            if not self._made:
                try:
                    self._embedder = self._make()
                except EmbeddingFailed as error:
                    self._embedder, self._reason = None, error.message
                self._made = True
            return self._embedder

    def _current(self) -> Embedder | None:
        embedder = self._peek()
        if self._failed_at is not None:
            if self._clock.now_ms() - self._failed_at < FAILURE_PAUSE_MS:
                raise EmbeddingFailed(self._reason or "the embedding model failed")
            self._failed_at = None
        if embedder is None and self._reason is not None:
            raise EmbeddingFailed(self._reason)
        return embedder

    def _guarded(self, call: Callable[[], Answer]) -> Answer:
        try:
            return call()
        except EmbeddingFailed as error:
            with self._lock:
                self._failed_at, self._reason = self._clock.now_ms(), error.message
            raise

    def _generation(self, embedder: Embedder) -> int:
        """The number of this model's generation; a new one is begun when the model is not the stored one.

        Raises ``EmbeddingFailed`` when it is no longer the model in force: its vectors would drop those of that one.
        """
        with self._database.read() as connection:
            if VECTORS.model(connection) == embedder.model:
                return VECTORS.generation(connection)
        if not self._database.writable:
            return 0
        dimension = self._guarded(embedder.dimension)
        if not self._is_in_force(embedder):
            raise EmbeddingFailed("the embedding model was changed a moment ago", "try again")
        with self._database.write(wait_ms=GENERATION_WAIT_MS) as connection:
            if VECTORS.model(connection) != embedder.model:
                VECTORS.begin_generation(connection, embedder.model, dimension)
                _log.info("new vector generation for model %s", embedder.model)
            return VECTORS.generation(connection)

    def _is_in_force(self, embedder: Embedder) -> bool:
        """Whether the settings file, as it is now, names this model."""
        self._follow()
        current = self._peek()
        return current is not None and current.model == embedder.model

    def _repair(self) -> None:
        with self._database.read() as connection:
            needed = VECTORS.needs_repair(connection)
        if needed:
            with self._database.write() as connection:
                VECTORS.repair(connection)

    def _wanting(self, generation: int, limit: int) -> list[Row]:
        sql = f"SELECT {rows.COLUMNS} FROM memory_entry WHERE {_WANTING} ORDER BY updated_at DESC LIMIT :limit"
        with self._database.read() as connection:
            found = connection.execute(sql, {"generation": generation, "limit": limit})
            return [rows.row_of(values) for values in found]

    def _fitting(self, embedder: Embedder, vectors: list[Vector], generation: int) -> int | None:
        """The generation these vectors belong to; None when there is another by now.

        An endpoint may answer with another dimension under the same name: that alone begins a new one here.
        """
        dimension = len(vectors[0]) // FLOAT_BYTES
        with self._database.read() as connection:
            if not _is_current(connection, embedder, generation):
                return None
            if VECTORS.dimension(connection) == dimension:
                return generation
        if not self._is_in_force(embedder):
            return None
        with self._database.write() as connection:
            if not _is_current(connection, embedder, generation):
                return None
            return VECTORS.begin_generation(connection, embedder.model, dimension)

    def _keep(self, batch: list[Row], vectors: list[Vector], generation: int) -> int:
        """Store the vectors whose text is still the one embedded; answers how many were."""
        kept = 0
        with self._database.write() as connection:
            for row, vector in zip(batch, vectors, strict=True):
                current = rows.by_rids(connection, [row.rid]).get(row.rid)
                if current is None or rows.input_text(current.entry) != rows.input_text(row.entry):
                    continue  # the text moved on while it was being embedded
                kept += _put(connection, current, vector, generation)
        return kept

    def _counts(self, generation: int) -> tuple[int, int]:
        live = "archived = 0 AND invalid_at IS NULL AND file_state IS NULL AND input_hash != ''"
        with self._database.read() as connection:
            total = next(connection.execute(f"SELECT count(*) FROM memory_entry WHERE {live}"))[0]
            left = next(
                connection.execute(f"SELECT count(*) FROM memory_entry WHERE {_WANTING}", {"generation": generation})
            )[0]
        return total - left, total


def _is_current(connection: apsw.Connection, embedder: Embedder, generation: int) -> bool:
    return (VECTORS.model(connection), VECTORS.generation(connection)) == (embedder.model, generation)


def _put(connection: apsw.Connection, row: Row, vector: Vector, generation: int) -> bool:
    return VECTORS.put(
        connection,
        row.rid,
        row.layer,
        vector,
        generation=generation,
        input_hash=rows.input_hash(row.entry),
        live=rows.is_live(row.entry),
        expires=rows.expiry(row.entry),
        type=row.entry.type.value,
    )
