"""Keeps the vectors of one subject and finds the nearest: a plain table is the truth, vec0 an index over it.

Works inside the caller's transaction and never commits. A process without sqlite-vec ranks the plain table itself
and marks the index dirty; the next process that has the extension rebuilds it (``repair``).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import apsw

from engine.errors import ValidationFailed
from engine.storage import vector_math
from engine.storage.vec_table import K_MAX, VecTable
from engine.vector import FLOAT_BYTES, Vector, checked

_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyz_")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _State:
    number: int
    model: str | None
    dimension: int
    dirty: bool


class VectorIndex:
    """Vectors of the subject ``name``, numbered by ``rid``.

    A migration makes ``<name>_embedding(rid INTEGER PRIMARY KEY, generation, input_hash, vector)``,
    ``<name>_index_state(key TEXT PRIMARY KEY, value)`` and the view ``<name>_vector_row(rid, layer, live, expires,
    type)``, which says what the rows are now (``expires`` in ms, NULL when never); ``<name>_vec`` is made here.
    """

    def __init__(self, name: str) -> None:
        if not name or not _NAME.issuperset(name):
            raise ValueError(f"not a table name: {name!r}")
        self._vec = VecTable(f"{name}_vec")
        self._embedding = f"{name}_embedding"
        self._states = f"{name}_index_state"
        self._rows = f"{name}_vector_row"

    def generation(self, connection: apsw.Connection) -> int:
        """The number of the current generation; 0 while there is none."""
        state = self._state(connection)
        return state.number if state.model is not None else 0

    def model(self, connection: apsw.Connection) -> str | None:
        """The embedding model whose vectors are kept; None while there is none."""
        return self._state(connection).model

    def dimension(self, connection: apsw.Connection) -> int:
        """Numbers in each vector; 0 while unknown."""
        return self._state(connection).dimension

    def is_dirty(self, connection: apsw.Connection) -> bool:
        """Whether the vec0 index is set aside until ``repair``; searches stay right, they rank the plain table."""
        return self._state(connection).dirty

    def needs_repair(self, connection: apsw.Connection) -> bool:
        """Whether ``repair`` has something to build: the index is set aside, or gone from the file."""
        state = self._state(connection)
        return state.model is not None and (state.dirty or not self._vec.exists(connection))

    def count(self, connection: apsw.Connection) -> int:
        """Vectors of the current generation."""
        sql = f"SELECT count(*) FROM {self._embedding} WHERE generation = ?"
        return sum(number for (number,) in connection.execute(sql, (self.generation(connection),)))

    def begin_generation(self, connection: apsw.Connection, model: str, dimension: int) -> int:
        """Keep vectors of this model and dimension from now on; answers the generation's number.

        Those of another are dropped; when it is the current one already, nothing changes.
        """
        state = self._state(connection)
        if (state.model, state.dimension) == (model, dimension):
            return state.number
        if dimension < 1:
            raise ValidationFailed(f"{dimension} is not a dimension")
        self.reset(connection)
        self._keep_state(connection, vec_model=model, vec_dimension=dimension, vec_generation=state.number + 1)
        if self._vec.usable(connection):
            self._vec.create(connection, dimension)
            self._keep_state(connection, vec_dirty=0)
        return state.number + 1

    def reset(self, connection: apsw.Connection) -> None:
        """Drop every vector and the model; numbers go on, so a late result of an old generation is still refused."""
        connection.execute(f"DELETE FROM {self._embedding}")
        connection.execute(f"DELETE FROM {self._states} WHERE key IN ('vec_model', 'vec_dimension')")
        self._set_aside(connection)

    def put(
        self,
        connection: apsw.Connection,
        rid: int,
        layer: str,
        vector: Vector,
        *,
        generation: int,
        input_hash: str,
        live: bool,
        expires: int | None,
        type: str,
    ) -> bool:
        """Keep the vector of a row; False when ``generation`` is not the current one.

        ``expires`` is the first instant (ms) the row no longer applies. Raises ``ValidationFailed`` for a vector with
        NaN, infinity, only zeros or another dimension.
        """
        state = self._state(connection)
        if state.model is None or generation != state.number:
            return False
        unit = _checked(vector, state.dimension)
        connection.execute(
            f"INSERT OR REPLACE INTO {self._embedding}(rid, generation, input_hash, vector) VALUES (?, ?, ?, ?)",
            (rid, generation, input_hash, unit),
        )
        self._carry_over(connection, lambda: self._vec.write(connection, rid, layer, unit, live, expires, type))
        return True

    def set_meta(self, connection: apsw.Connection, rid: int, *, live: bool, expires: int | None, type: str) -> None:
        """Say what a row is now without embedding it again; a row without a vector is left alone."""
        self._carry_over(connection, lambda: self._vec.set_meta(connection, rid, live, expires, type))

    def delete(self, connection: apsw.Connection, rid: int) -> None:
        """Forget the vector of a row; its bytes are overwritten where ``secure_delete`` is on."""
        connection.execute(f"DELETE FROM {self._embedding} WHERE rid = ?", (rid,))
        self._carry_over(connection, lambda: self._vec.delete(connection, rid))

    def search(
        self,
        connection: apsw.Connection,
        vector: Vector,
        layers: Sequence[str],
        now_ms: int,
        type: str | None = None,
        k: int = 20,
    ) -> list[tuple[int, float]]:
        """The ``k`` (at most 4,096) nearest rows as (rid, cosine similarity), best first, equal ones by rid.

        Only rows that are live, not expired at ``now_ms``, in one of ``layers`` and of ``type`` compete for a place.
        Raises ``ValidationFailed`` for a vector that cannot be compared with the stored ones.
        """
        state = self._state(connection)
        if state.model is None or k < 1:
            return []
        unit, wanted, keys = _checked(vector, state.dimension), min(k, K_MAX), tuple(dict.fromkeys(layers))
        if not state.dirty and self._vec.usable(connection):
            try:
                return self._vec.nearest(connection, unit, keys, now_ms, type, wanted)
            except apsw.SQLError as error:
                _log.warning("%s cannot be read, ranking without it: %s", self._vec.name, error)
        return vector_math.nearest(self._candidates(connection, state, keys, now_ms, type), unit, wanted)

    def repair(self, connection: apsw.Connection) -> bool:
        """Build the vec0 index anew when it is dirty or gone; True when it was. Needs the extension, else False."""
        if not self.needs_repair(connection) or not self._vec.usable(connection):
            return False
        state = self._state(connection)
        self._set_aside(connection)
        self._vec.create(connection, state.dimension)
        self._vec.copy(connection, self._embedding, self._rows, state.number, state.dimension)
        self._keep_state(connection, vec_dirty=0)
        _log.info("rebuilt %s from %d vectors", self._vec.name, self.count(connection))
        return True

    def _candidates(
        self, connection: apsw.Connection, state: _State, layers: tuple[str, ...], now_ms: int, type: str | None
    ) -> list[tuple[int, Vector]]:
        sql = (
            f"SELECT e.rid, vector FROM {self._embedding} e JOIN {self._rows} r ON r.rid = e.rid"
            f" WHERE generation = ? AND length(vector) = ? AND layer IN ({', '.join('?' * len(layers))})"
            " AND live AND (expires IS NULL OR expires > ?)" + ("" if type is None else " AND type = ?")
        )
        values = (state.number, state.dimension * FLOAT_BYTES, *layers, now_ms, *(() if type is None else (type,)))
        return [(rid, vector) for rid, vector in connection.execute(sql, values)]

    def _carry_over(self, connection: apsw.Connection, write: Callable[[], None]) -> None:
        """Do a write to vec0; one that it refuses costs the index, never the row the caller is writing."""
        state = self._state(connection)
        if state.dirty or state.model is None:
            return
        try:
            with connection:
                write()
        except apsw.SQLError as error:
            _log.warning("%s is set aside until it can be rebuilt: %s", self._vec.name, error)
            self._set_aside(connection)

    def _set_aside(self, connection: apsw.Connection) -> None:
        self._keep_state(connection, vec_dirty=1)
        self._vec.discard(connection)

    def _state(self, connection: apsw.Connection) -> _State:
        sql = f"SELECT key, value FROM {self._states} WHERE key GLOB 'vec_*'"
        found = dict(connection.execute(sql))
        return _State(
            number=int(found.get("vec_generation", 0)),
            model=found.get("vec_model"),
            dimension=int(found.get("vec_dimension", 0)),
            dirty=found.get("vec_dirty") == "1",
        )

    def _keep_state(self, connection: apsw.Connection, **values: str | int) -> None:
        sql = f"INSERT OR REPLACE INTO {self._states}(key, value) VALUES (?, ?)"
        connection.executemany(sql, [(key, str(value)) for key, value in values.items()])


def _checked(vector: Vector, dimension: int) -> Vector:
    try:
        return checked(vector, dimension)
    except ValueError as error:
        raise ValidationFailed(f"not a usable vector: {error}") from None
