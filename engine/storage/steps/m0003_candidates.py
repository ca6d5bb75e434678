"""What waits for a person, what was ever asked, when each layer was last consolidated, what an operation settles."""

import apsw

# ``memory_candidate_asked`` holds digests only: it outlives the text of what was decided. ``memory_operation`` says what
# a file operation settles beside its rows, so that a recovery after a crash settles it as well.
SCHEMA = """
CREATE TABLE memory_candidate(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, layer TEXT NOT NULL, scope TEXT NOT NULL,
  scope_ref TEXT, action TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL, type TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, body TEXT NOT NULL, confidence REAL NOT NULL, digest TEXT NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, entities TEXT NOT NULL DEFAULT '[]',
  links TEXT NOT NULL DEFAULT '[]', valid_until TEXT, valid_from INTEGER, target_id TEXT, target_version INTEGER,
  replaces INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '', session TEXT, turn TEXT, model TEXT,
  evidence TEXT, evidence_status TEXT, decided_at INTEGER, result_id TEXT, operation TEXT);
CREATE INDEX memory_candidate_by_layer ON memory_candidate(layer, state);
CREATE INDEX memory_candidate_by_operation ON memory_candidate(operation) WHERE operation IS NOT NULL;
CREATE TABLE memory_candidate_source(
  candidate TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY(candidate, position)) WITHOUT ROWID;
CREATE INDEX memory_candidate_source_by_entry ON memory_candidate_source(id);
CREATE TABLE memory_candidate_asked(
  layer TEXT NOT NULL, question TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(layer, question, digest)) WITHOUT ROWID;
CREATE TABLE memory_consolidation(
  layer TEXT PRIMARY KEY, last_at INTEGER NOT NULL, job TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE memory_operation(
  operation TEXT PRIMARY KEY, entry TEXT NOT NULL, confirms TEXT, digest TEXT, undoes TEXT) WITHOUT ROWID;
"""


def apply(connection: apsw.Connection) -> None:
    """Create the tables of candidates and consolidation."""
    list(connection.execute(SCHEMA))
