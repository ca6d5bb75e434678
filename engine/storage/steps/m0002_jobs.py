"""Work that must outlive a crash: one row a job, with its lease and what came of it."""

import apsw

# ``payload`` and ``progress`` hold text of a conversation, secrets taken out; both are emptied when the job is done.
# The payload is stored ``apart``: no column before it holds any, and none after it is in a page that others share.
SCHEMA = """
CREATE TABLE job(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, key TEXT NOT NULL,
  state TEXT NOT NULL, folder TEXT, session TEXT, turn TEXT, payload TEXT, progress TEXT,
  result TEXT NOT NULL DEFAULT '[]', reason TEXT, attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, due_at INTEGER NOT NULL, lease_until INTEGER, owner TEXT, finished_at INTEGER,
  UNIQUE(kind, key));
CREATE INDEX job_by_state ON job(state, due_at);
"""


def apply(connection: apsw.Connection) -> None:
    """Create the table of jobs."""
    list(connection.execute(SCHEMA))
