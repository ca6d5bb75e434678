"""The intents of file operations: rows that say what a process is about to do, so another can finish or undo it."""

from dataclasses import dataclass
from enum import StrEnum

import apsw


class IntentKind(StrEnum):
    """What happens to the file."""

    WRITE = "write"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Intent:
    """One file of one operation; ``applied`` (deletions only) says that its rows are gone already.

    ``base_hash`` (writes only) is the hash of the file to be replaced, None where there was none.
    """

    seq: int
    operation: str
    kind: IntentKind
    action: str
    layer: str
    file: str
    staged: str | None
    new_hash: str | None
    author: str
    at: int
    applied: bool
    base_hash: str | None = None


_COLUMNS = "seq, operation, kind, action, layer, file, staged, new_hash, author, at, applied, base_hash"


def pending(connection: apsw.Connection, subject: str) -> list[Intent]:
    """Every open intent of a subject, oldest first; each belongs to a running writer or to one that died."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM file_intent WHERE subject = ? ORDER BY seq", (subject,))
    return [
        Intent(seq, operation, IntentKind(kind), action, layer, file, staged, new_hash, author, at, bool(applied), base)
        for seq, operation, kind, action, layer, file, staged, new_hash, author, at, applied, base in rows
    ]


def record(connection: apsw.Connection, subject: str, intent: Intent) -> int:
    """Store a new intent (its ``seq`` is ignored); answers the number it got."""
    connection.execute(
        "INSERT INTO file_intent"
        "(subject, operation, kind, action, layer, file, staged, new_hash, author, at, applied, base_hash)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
        (
            subject,
            intent.operation,
            intent.kind,
            intent.action,
            intent.layer,
            intent.file,
            intent.staged,
            intent.new_hash,
            intent.author,
            intent.at,
            intent.base_hash,
        ),
    )
    return connection.last_insert_rowid()


def mark_applied(connection: apsw.Connection, seqs: list[int]) -> None:
    """The rows of these deletions are gone; only their files are left."""
    connection.executemany("UPDATE file_intent SET applied = 1 WHERE seq = ?", [(seq,) for seq in seqs])


def clear(connection: apsw.Connection, seqs: list[int]) -> None:
    """These intents are settled."""
    connection.executemany("DELETE FROM file_intent WHERE seq = ?", [(seq,) for seq in seqs])
