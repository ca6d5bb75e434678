"""The rows behind one memory: entry, full text, vectors, entities; all inside the caller's transaction."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import apsw

from engine.job_table import forget_text
from engine.memory import entities
from engine.memory.model import (
    AuthorRole,
    Entry,
    EvidenceStatus,
    Layer,
    MemoryType,
    Scope,
    Source,
    State,
    Validity,
)
from engine.storage import erasing, files, fulltext
from engine.storage.files import Signature
from engine.storage.vectors import VectorIndex

VECTORS = VectorIndex("memory")
COLUMNS = (
    "rid, layer, id, scope, scope_ref, type, name, description, source, confidence, author_role, created_at,"
    " updated_at, valid_from, valid_until, valid_until_day, valid_until_zone, invalid_at, superseded_by, archived,"
    " version, entities, links, source_session_id, source_turn_id, extraction_model, evidence, evidence_status,"
    " hit_count, last_hit_at, file_state, file_reason"
)
# The ONE predicate of "active now" (02 §1); every query that lists, searches or injects uses it. Parameter: now in ms.
ACTIVE = (
    "archived = 0 AND file_state IS NULL AND (invalid_at IS NULL OR invalid_at > :now)"
    " AND (valid_until IS NULL OR valid_until > :now)"
)
NEVER = 2**62
_PURGE_DUE = "fts_purge_due"
_WITH_TEXT = ("memory_entry", "memory_revision", "memory_entity", "memory_change", "memory_candidate")


@dataclass(frozen=True, slots=True)
class Row:
    """An entry with its number and layer key in the index."""

    rid: int
    layer: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class FileRow:
    """What the index knows of one file: its hash and signature when last read."""

    rid: int
    id: str
    file_hash: str
    signature: Signature
    file_state: State | None
    version: int


def row_of(values: tuple[Any, ...]) -> Row:
    """A row of ``COLUMNS`` as an entry; SQLite's values have no static types, so they get them here."""
    (
        rid, layer, id_, scope, ref, type_, name, description, source, confidence, author, created, updated,
        valid_from, until, until_day, until_zone, invalid_at, superseded_by, archived, version, entity_json, link_json,
        session, turn, model, evidence, evidence_status, hits, last_hit, file_state, file_reason,
    ) = values  # fmt: skip
    entry = Entry(
        id=str(id_), scope=Scope(scope), scope_ref=ref, type=MemoryType(type_), name=str(name),
        description=str(description), source=Source(source), confidence=float(confidence),
        author_role=AuthorRole(author), created_at=int(created), updated_at=int(updated), valid_from=int(valid_from),
        version=int(version),
        valid_until=None if until is None else Validity(date.fromisoformat(until_day), until_zone, int(until)),
        invalid_at=invalid_at, superseded_by=superseded_by, archived=bool(archived),
        entities=_texts(entity_json), links=_texts(link_json),
        source_session_id=session, source_turn_id=turn, extraction_model=model, evidence=evidence,
        evidence_status=EvidenceStatus(evidence_status) if evidence_status else None,
        hit_count=int(hits), last_hit_at=last_hit,
        file_state=State(file_state) if file_state else None, file_reason=file_reason,
    )  # fmt: skip
    return Row(int(rid), str(layer), entry)


def _texts(listed: str) -> tuple[str, ...]:
    return () if listed == "[]" else tuple(json.loads(listed))  # hundreds of rows are read for every block


def find(connection: apsw.Connection, layers: Iterable[str], entry_id: str) -> Row | None:
    """The entry of an id within the given layers, or None; an id outside them does not exist for the caller."""
    return next(iter(find_all(connection, layers, entry_id)), None)


def find_all(connection: apsw.Connection, layers: Iterable[str], entry_id: str) -> list[Row]:
    """Every entry of an id within the given layers, those in service first; several where a file was copied."""
    keys = list(layers)
    sql = (
        f"SELECT {COLUMNS} FROM memory_entry WHERE id = ? AND layer IN ({', '.join('?' * len(keys))})"
        " ORDER BY file_state IS NOT NULL, rid"
    )
    return [row_of(values) for values in connection.execute(sql, (entry_id, *keys))]


def layers_like(connection: apsw.Connection, pattern: str) -> list[str]:
    """The keys, as far as there ever was an entry, that match a GLOB pattern."""
    return [key for (key,) in connection.execute("SELECT layer FROM memory_layer_state WHERE layer GLOB ?", (pattern,))]


def by_rids(connection: apsw.Connection, rids: Sequence[int]) -> dict[int, Row]:
    """The rows of these numbers, by number."""
    sql = f"SELECT {COLUMNS} FROM memory_entry WHERE rid IN (SELECT value FROM json_each(?))"
    return {values[0]: row_of(values) for values in connection.execute(sql, (json.dumps(list(rids)),))}


def holder(connection: apsw.Connection, layer: str, name: str) -> Row | None:
    """The entry that holds a name in a layer: neither archived, invalid nor out of service; it may be expired."""
    sql = (
        f"SELECT {COLUMNS} FROM memory_entry"
        " WHERE layer = ? AND name = ? AND archived = 0 AND invalid_at IS NULL AND file_state IS NULL"
    )
    return next((row_of(values) for values in connection.execute(sql, (layer, name))), None)


def body_of(connection: apsw.Connection, rid: int) -> str:
    """The current body, as copied from the file."""
    return str(next(connection.execute("SELECT body FROM memory_entry WHERE rid = ?", (rid,)))[0])


def active_count(connection: apsw.Connection, layer: str, now: int) -> int:
    """How many entries of a layer are active; what the quota counts."""
    sql = f"SELECT count(*) FROM memory_entry WHERE layer = :layer AND {ACTIVE}"
    return int(next(connection.execute(sql, {"layer": layer, "now": now}))[0])


def file_rows(connection: apsw.Connection, layer: str, entry_id: str | None = None) -> dict[str, FileRow]:
    """What the index knows of a layer's files (or of one entry's), by file name."""
    sql = "SELECT rid, id, file_hash, file_mtime_ns, file_size, file_state, version FROM memory_entry WHERE layer = ?"
    values = (layer,) if entry_id is None else (layer, entry_id)
    one = "" if entry_id is None else " AND id = ?"
    return {
        f"{id_}.md": FileRow(rid, id_, digest, Signature(mtime, size), State(state) if state else None, version)
        for rid, id_, digest, mtime, size, state, version in connection.execute(sql + one, values)
    }


def put(connection: apsw.Connection, layer: Layer, entry: Entry, body: str, file_hash: str, found: Signature) -> int:
    """Insert or replace the row of an entry with its full text and entities; answers its number.

    Hit counts survive. A vector whose text changed is dropped here and filled in again in the background.
    """
    values = _values(layer, entry, body, file_hash, found)
    names = ", ".join(values)
    updates = ", ".join(f"{name} = excluded.{name}" for name in values if name not in ("layer", "id"))
    sql = (
        f"INSERT INTO memory_entry({names}) VALUES ({', '.join('?' * len(values))})"
        f" ON CONFLICT(layer, id) DO UPDATE SET {updates} RETURNING rid"
    )
    rid = int(next(connection.execute(sql, tuple(values.values())))[0])
    index(connection, rid, entry, body)
    entities.link(connection, rid, layer.key, entry.entities)
    bump(connection, layer.key)
    return rid


def index(connection: apsw.Connection, rid: int, entry: Entry, body: str) -> None:
    """Make full text and vector metadata agree with the entry; a file out of service leaves both."""
    connection.execute("DELETE FROM memory_fts WHERE rowid = ?", (rid,))
    if entry.file_state is not None:
        VECTORS.delete(connection, rid)
        connection.execute("UPDATE memory_entry SET input_hash = '' WHERE rid = ?", (rid,))
        return
    connection.execute(
        "INSERT INTO memory_fts(rowid, name, description, body) VALUES (?, ?, ?, ?)",
        (rid, *map(fulltext.index_text, (entry.name, entry.description, body))),
    )
    embedded = next(connection.execute("SELECT input_hash FROM memory_embedding WHERE rid = ?", (rid,)), None)
    wanted = input_hash(entry)
    if embedded and embedded[0] != wanted:
        VECTORS.delete(connection, rid)
    elif embedded:
        VECTORS.set_meta(connection, rid, live=is_live(entry), expires=expiry(entry), type=entry.type.value)
    connection.execute("UPDATE memory_entry SET input_hash = ? WHERE rid = ?", (wanted, rid))


def is_live(entry: Entry) -> bool:
    """Whether an entry may be found at all, its expiry apart."""
    return not entry.archived and entry.invalid_at is None and entry.file_state is None


def expiry(entry: Entry) -> int | None:
    """The instant from which an entry no longer applies, in ms; None when it has no end."""
    return entry.valid_until.until_ms if entry.valid_until else None


def input_text(entry: Entry) -> str:
    """The text that is embedded: name and description (02 §5)."""
    return f"{entry.name.replace('-', ' ')}: {entry.description}"


def input_hash(entry: Entry) -> str:
    """Identifies the embedded text, so that a vector of an older text is never used."""
    return files.content_hash(input_text(entry).encode("utf-8", "surrogatepass"))[:32]


def move(connection: apsw.Connection, row: Row, layer: Layer) -> None:
    """An entry now lives in another layer: it keeps its use and history; its vector is made again.

    It counts as missing there until its file is read: its name may be held by another entry of that layer.
    """
    VECTORS.delete(connection, row.rid)
    connection.execute("DELETE FROM memory_fts WHERE rowid = ?", (row.rid,))
    entities.unlink(connection, row.rid)
    values = (layer.key, layer.ref, State.MISSING.value, row.rid)
    connection.execute("UPDATE memory_entry SET layer = ?, scope_ref = ?, file_state = ? WHERE rid = ?", values)
    for table, column in (("memory_change", "id"), ("memory_derivation", "from_id"), ("memory_derivation", "to_id")):
        sql = f"UPDATE OR IGNORE {table} SET layer = ? WHERE layer = ? AND {column} = ?"
        connection.execute(sql, (layer.key, row.layer, row.entry.id))
    entities.link(connection, row.rid, layer.key, row.entry.entities)
    bump(connection, row.layer)
    bump(connection, layer.key)


def remove(connection: apsw.Connection, row: Row) -> None:
    """Delete everything the database holds about one memory, its history included."""
    connection.execute("DELETE FROM memory_fts WHERE rowid = ?", (row.rid,))
    VECTORS.delete(connection, row.rid)
    entities.unlink(connection, row.rid)
    for table in ("memory_entry", "memory_revision", "memory_injection_hit"):
        connection.execute(f"DELETE FROM {table} WHERE rid = ?", (row.rid,))
    edge = (row.layer, row.entry.id, row.entry.id)
    connection.execute("DELETE FROM memory_derivation WHERE layer = ? AND (from_id = ? OR to_id = ?)", edge)
    connection.execute("DELETE FROM memory_change WHERE layer = ? AND id = ?", edge[:2])
    forget_text(connection, row.entry.source_session_id, row.entry.source_turn_id)
    _remove_candidates(connection, row.layer, row.entry.id)
    connection.execute("INSERT OR REPLACE INTO memory_index_state(key, value) VALUES (?, '1')", (_PURGE_DUE,))
    bump(connection, row.layer)


def _remove_candidates(connection: apsw.Connection, layer: str, entry_id: str) -> None:
    """What waits to change a memory, quotes it or led to it holds its words; only the digests stay, never asked again."""
    gone = (
        "SELECT c.id FROM memory_candidate c WHERE c.layer = :layer AND (c.target_id = :id OR c.result_id = :id OR EXISTS"
        " (SELECT 1 FROM memory_candidate_source s WHERE s.candidate = c.id AND s.id = :id))"
    )
    values = {"layer": layer, "id": entry_id}
    ids = [(candidate,) for (candidate,) in connection.execute(gone, values)]
    connection.executemany("DELETE FROM memory_candidate WHERE id = ?", ids)
    connection.executemany("DELETE FROM memory_candidate_source WHERE candidate = ?", ids)


def purge_due(connection: apsw.Connection) -> bool:
    """Whether words of deleted memories may still lie in the full-text index or the write-ahead log."""
    return bool(connection.execute("SELECT 1 FROM memory_index_state WHERE key = ?", (_PURGE_DUE,)).fetchall())


def purge(connection: apsw.Connection) -> None:
    """Rewrite what held words of a deleted memory: its tables, and the full-text index that only marks them deleted."""
    for table in _WITH_TEXT:
        erasing.rewrite(connection, table)
    connection.execute("INSERT INTO memory_fts(memory_fts) VALUES('optimize')")


def purged(connection: apsw.Connection) -> None:
    """The log is empty as well: nothing of a deleted memory is left."""
    connection.execute("DELETE FROM memory_index_state WHERE key = ?", (_PURGE_DUE,))


def set_signature(connection: apsw.Connection, rid: int, found: Signature) -> None:
    """A file was touched but reads the same."""
    connection.execute(
        "UPDATE memory_entry SET file_mtime_ns = ?, file_size = ? WHERE rid = ?", (found.mtime_ns, found.size, rid)
    )


def forget_hits(connection: apsw.Connection) -> None:
    """Forget which entries were counted for sessions that are over; the counts stay."""
    connection.execute("DELETE FROM memory_injection_hit WHERE session NOT IN (SELECT session FROM memory_injection)")


def count_hits(connection: apsw.Connection, session: str | None, rids: Iterable[int], now: int) -> None:
    """One hit for each entry, once for each session; neither version nor ``updated_at`` moves."""
    for rid in rids:
        if session is not None:
            connection.execute("INSERT OR IGNORE INTO memory_injection_hit VALUES (?, ?)", (session, rid))
            if not connection.changes():
                continue
        connection.execute(
            "UPDATE memory_entry SET hit_count = hit_count + 1, last_hit_at = ? WHERE rid = ?", (now, rid)
        )


def tokeniser(connection: apsw.Connection) -> int | None:
    """The version of the tokeniser that wrote the full-text index; None when nobody has said."""
    sql = "SELECT value FROM memory_index_state WHERE key = 'tokeniser' AND value GLOB '[0-9]*'"
    return next((int(value) for (value,) in connection.execute(sql)), None)


def note_tokeniser(connection: apsw.Connection, version: int) -> None:
    """Say which tokeniser wrote the full-text index."""
    connection.execute("INSERT OR REPLACE INTO memory_index_state(key, value) VALUES ('tokeniser', ?)", (str(version),))


def bump(connection: apsw.Connection, layer: str) -> None:
    """Count one effective change of a layer; frozen injections of older counts are void."""
    connection.execute(
        "INSERT INTO memory_layer_state(layer, counter) VALUES (?, 1)"
        " ON CONFLICT(layer) DO UPDATE SET counter = counter + 1",
        (layer,),
    )


def counters(connection: apsw.Connection, layers: Sequence[str]) -> tuple[int, ...]:
    """The change count of each layer, in the given order."""
    found = dict(list(connection.execute("SELECT layer, counter FROM memory_layer_state")))
    return tuple(found.get(layer, 0) for layer in layers)


def _values(
    layer: Layer, entry: Entry, body: str, file_hash: str, found: Signature
) -> dict[str, str | int | float | None]:
    until = entry.valid_until
    return {
        "layer": layer.key, "id": entry.id, "scope": entry.scope.value, "scope_ref": entry.scope_ref,
        "type": entry.type.value, "name": entry.name, "description": entry.description, "body": body,
        "source": entry.source.value, "confidence": entry.confidence, "author_role": entry.author_role.value,
        "created_at": entry.created_at, "updated_at": entry.updated_at, "valid_from": entry.valid_from,
        "valid_until": until.until_ms if until else None, "valid_until_day": until.day.isoformat() if until else None,
        "valid_until_zone": until.timezone if until else None, "invalid_at": entry.invalid_at,
        "superseded_by": entry.superseded_by, "archived": int(entry.archived), "version": entry.version,
        "entities": json.dumps(entry.entities, ensure_ascii=False),
        "links": json.dumps(entry.links, ensure_ascii=False),
        "source_session_id": entry.source_session_id, "source_turn_id": entry.source_turn_id,
        "extraction_model": entry.extraction_model, "evidence": entry.evidence,
        "evidence_status": entry.evidence_status.value if entry.evidence_status else None,
        "file_hash": file_hash, "file_mtime_ns": found.mtime_ns, "file_size": found.size,
        "file_state": entry.file_state.value if entry.file_state else None, "file_reason": entry.file_reason,
        "normalised": fulltext.normalised(entry.description),
    }  # fmt: skip
