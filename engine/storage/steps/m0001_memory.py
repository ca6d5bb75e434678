"""The first schema: workspaces, memories with their indexes and history, file intents, the feed of changes."""

import apsw

from engine.storage import fulltext

# ``rid`` is AUTOINCREMENT: FTS and vec0 rows carry it, and a reused number would answer with the wrong memory.
SCHEMA = """
CREATE TABLE workspace(
  key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, root TEXT NOT NULL, last_seen INTEGER NOT NULL,
  UNIQUE(id, root));
CREATE TABLE memory_entry(
  rid INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL, id TEXT NOT NULL,
  scope TEXT NOT NULL, scope_ref TEXT, type TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
  body TEXT NOT NULL, source TEXT NOT NULL, confidence REAL NOT NULL, author_role TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, valid_from INTEGER NOT NULL,
  valid_until INTEGER, valid_until_day TEXT, valid_until_zone TEXT,
  invalid_at INTEGER, superseded_by TEXT, archived INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL,
  entities TEXT NOT NULL DEFAULT '[]', links TEXT NOT NULL DEFAULT '[]',
  source_session_id TEXT, source_turn_id TEXT, extraction_model TEXT, evidence TEXT, evidence_status TEXT,
  hit_count INTEGER NOT NULL DEFAULT 0, last_hit_at INTEGER,
  file_hash TEXT NOT NULL, file_mtime_ns INTEGER NOT NULL, file_size INTEGER NOT NULL,
  file_state TEXT, file_reason TEXT, normalised TEXT NOT NULL DEFAULT '', input_hash TEXT NOT NULL DEFAULT '',
  UNIQUE(layer, id));
CREATE UNIQUE INDEX memory_entry_active_name ON memory_entry(layer, name)
  WHERE archived = 0 AND invalid_at IS NULL AND file_state IS NULL;
CREATE INDEX memory_entry_by_time ON memory_entry(updated_at DESC, id);
CREATE INDEX memory_entry_by_creation ON memory_entry(created_at DESC, id);
CREATE INDEX memory_entry_by_name ON memory_entry(name, id);
CREATE INDEX memory_entry_by_layer ON memory_entry(layer, type);
CREATE INDEX memory_entry_by_expiry ON memory_entry(valid_until) WHERE valid_until IS NOT NULL;
CREATE TABLE memory_entity(
  eid INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL DEFAULT 'system',
  normalised TEXT NOT NULL, UNIQUE(layer, normalised));
CREATE TABLE memory_entity_link(
  rid INTEGER NOT NULL, eid INTEGER NOT NULL, PRIMARY KEY(rid, eid)) WITHOUT ROWID;
CREATE INDEX memory_entity_link_by_entity ON memory_entity_link(eid, rid);
CREATE TABLE memory_revision(
  rid INTEGER NOT NULL, version INTEGER NOT NULL, entry TEXT NOT NULL, body TEXT NOT NULL,
  replaced_at INTEGER NOT NULL, operation TEXT NOT NULL, PRIMARY KEY(rid, version)) WITHOUT ROWID;
CREATE TABLE memory_derivation(
  layer TEXT NOT NULL, from_id TEXT NOT NULL, to_id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(layer, from_id, to_id, kind)) WITHOUT ROWID;
CREATE TABLE memory_change(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL,
  layer TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, author TEXT NOT NULL,
  version_before INTEGER, version_after INTEGER, fields TEXT NOT NULL DEFAULT '[]', undone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX memory_change_by_operation ON memory_change(operation);
CREATE INDEX memory_change_by_entry ON memory_change(layer, id);
CREATE TABLE memory_gate_log(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, session TEXT, scope TEXT NOT NULL, name TEXT NOT NULL,
  gate TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE memory_embedding(
  rid INTEGER PRIMARY KEY, generation INTEGER NOT NULL, input_hash TEXT NOT NULL, vector BLOB NOT NULL);
CREATE INDEX memory_embedding_by_generation ON memory_embedding(generation);
CREATE TABLE memory_index_state(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE VIEW memory_vector_row AS SELECT rid, layer,
  archived = 0 AND invalid_at IS NULL AND file_state IS NULL AS live, valid_until AS expires, type FROM memory_entry;
CREATE TABLE memory_layer_state(layer TEXT PRIMARY KEY, counter INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE memory_injection(
  session TEXT NOT NULL, frame TEXT NOT NULL, ids TEXT NOT NULL, valid_until INTEGER, at INTEGER NOT NULL,
  PRIMARY KEY(session)) WITHOUT ROWID;
CREATE TABLE memory_injection_hit(session TEXT NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY(session, rid)) WITHOUT ROWID;
CREATE TABLE file_intent(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, operation TEXT NOT NULL, kind TEXT NOT NULL,
  action TEXT NOT NULL, layer TEXT NOT NULL, file TEXT NOT NULL, staged TEXT, new_hash TEXT,
  base_hash TEXT, author TEXT NOT NULL, at INTEGER NOT NULL, applied INTEGER NOT NULL DEFAULT 0);
"""


def apply(connection: apsw.Connection) -> None:
    """Create every table of the memory subject."""
    list(connection.execute(SCHEMA))
    list(connection.execute(fulltext.create_table_sql("memory_fts", ("name", "description", "body"))))
    list(connection.execute(fulltext.secure_delete_sql("memory_fts")))
