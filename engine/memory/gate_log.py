"""One row for each candidate that was not remembered: by name and reason only, never its text (02 §4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import apsw

from engine.memory.model import Scope
from engine.memory.sensitive.scan import redact
from engine.storage.database import Database

NAME_MAX = 80
KEPT = 20_000


class Gate(StrEnum):
    """Which gate dropped a candidate; ``INVALID`` is one that could not even be read as a memory."""

    TRANSIENT = "transient"
    CONFIDENCE = "confidence"
    SENSITIVE = "sensitive"
    DUPLICATE = "duplicate"
    QUOTA = "quota"
    NO_WORKSPACE = "no_workspace"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Drop:
    """A dropped candidate; ``reason`` is a short code or sentence without any of its text, ``at`` in ms."""

    at: int
    scope: Scope
    name: str
    gate: Gate
    reason: str
    session: str | None = None


def note(connection: apsw.Connection, drops: Iterable[Drop]) -> None:
    """Write the rows inside the caller's transaction; a secret in a name is not kept, nor more rows than ``KEPT``."""
    connection.executemany(
        "INSERT INTO memory_gate_log(at, session, scope, name, gate, reason) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (each.at, each.session, each.scope.value, redact(each.name)[:NAME_MAX], each.gate.value, each.reason)
            for each in drops
        ],
    )
    connection.execute("DELETE FROM memory_gate_log WHERE seq <= (SELECT max(seq) FROM memory_gate_log) - ?", (KEPT,))


class GateLog:
    """Reads the rows for people."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recent(self, limit: int) -> list[Drop]:
        """The latest rows, newest first."""
        sql = "SELECT at, scope, name, gate, reason, session FROM memory_gate_log ORDER BY seq DESC LIMIT ?"
        with self._database.read() as connection:
            return [
                Drop(at, Scope(scope), name, Gate(gate), reason, session)
                for at, scope, name, gate, reason, session in connection.execute(sql, (limit,))
            ]

    def count(self) -> int:
        """How many rows there are."""
        with self._database.read() as connection:
            return int(next(connection.execute("SELECT count(*) FROM memory_gate_log"))[0])
