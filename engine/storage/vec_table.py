"""One vec0 table: the statements that sqlite-vec understands, around what it refuses; decides nothing."""

from collections.abc import Sequence
from typing import Final

import apsw

from engine.storage.vector_extension import is_loaded
from engine.vector import FLOAT_BYTES, Vector

# vec0 compares integers only: a row without an end expires here.
FOREVER: Final = 2**62
K_MAX: Final = 4096
# vec0's default of 1024 rows a chunk costs 1.5 MB for each layer, however few rows it has.
CHUNK: Final = 64


class VecTable:
    """The vec0 table ``name``; rows that are live, unexpired and of the asked type compete inside the search itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def usable(self, connection: apsw.Connection) -> bool:
        """Whether this connection has the extension."""
        return is_loaded(connection)

    def exists(self, connection: apsw.Connection) -> bool:
        """Whether the table was made, by whichever process."""
        return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (self.name,)).fetchall())

    def create(self, connection: apsw.Connection, dimension: int) -> None:
        """Make the empty table for vectors of ``dimension`` numbers."""
        connection.execute(
            f"CREATE VIRTUAL TABLE {self.name} USING vec0(rid integer primary key, layer text partition key,"
            f" embedding float[{dimension}] distance_metric=cosine, live integer, expires integer, type text,"
            f" chunk_size={CHUNK})"
        )

    def discard(self, connection: apsw.Connection) -> None:
        """Drop the table; without the extension, empty it of vectors, so that no deleted one lives on in it."""
        if not self.exists(connection):
            return
        if self.usable(connection):
            connection.execute(f"DROP TABLE {self.name}")
        else:
            # A virtual table cannot be dropped without its module; the plain table behind it can be emptied.
            connection.execute(f"DELETE FROM {self.name}_vector_chunks00")

    def copy(self, connection: apsw.Connection, embedding: str, rows: str, generation: int, dimension: int) -> None:
        """Take over every vector of a generation from the plain table ``embedding`` as the view ``rows`` sees it."""
        connection.execute(
            f"INSERT INTO {self.name}(rid, layer, embedding, live, expires, type)"
            f" SELECT e.rid, layer, vector, live <> 0, coalesce(expires, {FOREVER}), type"
            f" FROM {embedding} e JOIN {rows} r ON r.rid = e.rid WHERE generation = ? AND length(vector) = ?",
            (generation, dimension * FLOAT_BYTES),
        )

    def write(
        self,
        connection: apsw.Connection,
        rid: int,
        layer: str,
        vector: Vector,
        live: bool,
        expires: int | None,
        type: str,
    ) -> None:
        """Insert or replace a row; vec0 knows no REPLACE and refuses a new layer: update in place or delete first."""
        meta = (int(live), FOREVER if expires is None else expires, type)
        found = connection.execute(f"SELECT layer FROM {self.name} WHERE rid = ?", (rid,)).fetchall()
        if found == [(layer,)]:
            sql = f"UPDATE {self.name} SET embedding = ?, live = ?, expires = ?, type = ? WHERE rid = ?"
            connection.execute(sql, (vector, *meta, rid))
            return
        self.delete(connection, rid)
        sql = f"INSERT INTO {self.name}(rid, layer, embedding, live, expires, type) VALUES (?, ?, ?, ?, ?, ?)"
        connection.execute(sql, (rid, layer, vector, *meta))

    def set_meta(self, connection: apsw.Connection, rid: int, live: bool, expires: int | None, type: str) -> None:
        """Change what a row is; nothing happens when there is none."""
        sql = f"UPDATE {self.name} SET live = ?, expires = ?, type = ? WHERE rid = ?"
        connection.execute(sql, (int(live), FOREVER if expires is None else expires, type, rid))

    def delete(self, connection: apsw.Connection, rid: int) -> None:
        """Remove a row; vec0 overwrites its bytes."""
        connection.execute(f"DELETE FROM {self.name} WHERE rid = ?", (rid,))

    def nearest(
        self, connection: apsw.Connection, query: Vector, layers: Sequence[str], now_ms: int, type: str | None, k: int
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest rows of these layers as (rid, cosine similarity), best first, equal ones by rid."""
        sql = (
            f"SELECT rid, distance FROM {self.name} WHERE embedding MATCH ? AND k = ? AND layer = ?"
            " AND live = 1 AND expires > ?" + ("" if type is None else " AND type = ?")
        )
        found: list[tuple[int, float]] = []
        for layer in layers:  # vec0 answers k rows of each partition, so each is asked by itself and merged
            values = (query, min(k, K_MAX), layer, now_ms, *(() if type is None else (type,)))
            found += ((rid, 1.0 - distance) for rid, distance in connection.execute(sql, values))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]
