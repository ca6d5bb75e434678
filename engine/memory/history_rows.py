"""Rows of the past: superseded versions, edges between memories, the feed; inside the caller's transaction."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import date

import apsw

from engine.identity import Ids
from engine.memory.model import (
    AuthorRole,
    Change,
    Derivation,
    Entry,
    EvidenceStatus,
    MemoryType,
    Revision,
    Scope,
    Source,
    State,
    Validity,
)
from engine.memory.rows import Row, body_of


def add_revision(connection: apsw.Connection, row: Row, at: int, operation: str) -> None:
    """Keep the version that is about to be replaced."""
    connection.execute(
        "INSERT OR REPLACE INTO memory_revision(rid, version, entry, body, replaced_at, operation)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (row.rid, row.entry.version, _entry_json(row.entry), body_of(connection, row.rid), at, operation),
    )


def revisions(connection: apsw.Connection, rid: int) -> list[Revision]:
    """Superseded versions, newest first."""
    sql = "SELECT entry, body, replaced_at, operation FROM memory_revision WHERE rid = ? ORDER BY version DESC"
    return [Revision(_entry_from(text), body, at, group) for text, body, at, group in connection.execute(sql, (rid,))]


def add_derivation(connection: apsw.Connection, layer: str, from_id: str, to_id: str, kind: str, at: int) -> None:
    """Note that one memory came from, or gave way to, another."""
    connection.execute(
        "INSERT OR IGNORE INTO memory_derivation(layer, from_id, to_id, kind, at) VALUES (?, ?, ?, ?, ?)",
        (layer, from_id, to_id, kind, at),
    )


def derivations(connection: apsw.Connection, layer: str, entry_id: str) -> list[Derivation]:
    """Every edge that touches an entry, oldest first."""
    sql = (
        "SELECT from_id, to_id, kind, at FROM memory_derivation"
        " WHERE layer = ? AND (from_id = ? OR to_id = ?) ORDER BY at"
    )
    return [Derivation(*values) for values in connection.execute(sql, (layer, entry_id, entry_id))]


def fresh_group(connection: apsw.Connection, ids: Ids) -> str:
    """An id for one operation group that no line of the feed has yet."""
    while True:
        group = ids.make("op")
        if not connection.execute("SELECT 1 FROM memory_change WHERE operation = ?", (group,)).fetchall():
            return group


def add_change(connection: apsw.Connection, layer: str, change: Change) -> None:
    """Write one line of the recent-changes feed."""
    connection.execute(
        "INSERT INTO memory_change"
        "(operation, at, action, layer, id, name, author, version_before, version_after, fields)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            change.group,
            change.at,
            change.action,
            layer,
            change.id,
            change.name,
            change.author.value,
            change.before,
            change.after,
            json.dumps(change.fields),
        ),
    )


def changes(connection: apsw.Connection, layers: Sequence[str], group: str | None, limit: int) -> Iterator[Change]:
    """The feed of the given layers, newest first; of one operation group when named."""
    sql = (
        "SELECT operation, at, action, id, name, author, version_before, version_after, undone, fields"
        " FROM memory_change"
        " WHERE layer IN (SELECT value FROM json_each(?)) AND (? IS NULL OR operation = ?) ORDER BY seq DESC LIMIT ?"
    )
    for values in connection.execute(sql, (json.dumps(list(layers)), group, group, limit)):
        operation, at, action, id_, name, author, before, after, undone, fields = values
        yield Change(
            operation, at, action, id_, name, AuthorRole(author), before, after, bool(undone), tuple(json.loads(fields))
        )


def mark_undone(connection: apsw.Connection, group: str) -> None:
    """An operation group was taken back."""
    connection.execute("UPDATE memory_change SET undone = 1 WHERE operation = ?", (group,))


def _entry_json(entry: Entry) -> str:
    until = entry.valid_until
    plain: dict[str, object] = {each.name: getattr(entry, each.name) for each in fields(entry)}
    plain["valid_until"] = [until.day.isoformat(), until.timezone, until.until_ms] if until else None
    return json.dumps(plain, ensure_ascii=False)


def _entry_from(text: str) -> Entry:
    plain = json.loads(text)
    until = plain["valid_until"]
    plain |= {
        "scope": Scope(plain["scope"]),
        "type": MemoryType(plain["type"]),
        "source": Source(plain["source"]),
        "author_role": AuthorRole(plain["author_role"]),
        "evidence_status": EvidenceStatus(plain["evidence_status"]) if plain["evidence_status"] else None,
        "file_state": State(plain["file_state"]) if plain["file_state"] else None,
        "valid_until": Validity(date.fromisoformat(until[0]), until[1], until[2]) if until else None,
        "entities": tuple(plain["entities"]),
        "links": tuple(plain["links"]),
    }
    return Entry(**plain)
