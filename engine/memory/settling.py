"""What a file operation settles beside its rows; noted before files move, so that a recovery settles it as well.

The caller holds the writers' lock. Nothing here writes a row of a memory.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import apsw

from engine.clock import DAY_MS
from engine.errors import SparkError
from engine.memory import history_rows, rows
from engine.memory.candidates import rows as candidate_rows
from engine.memory.candidates.model import LIFETIME_DAYS, Action, Candidate, CandidateState, Wording
from engine.memory.candidates.wording import without_sources
from engine.storage.database import Database

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settles:
    """What is settled with the change of ``entry``, by candidate id or operation group.

    ``confirms``: that candidate led to ``entry``, with the text of this ``digest``. ``undoes``: that group is taken back.
    """

    entry: str
    confirms: str | None = None
    digest: str | None = None
    undoes: str | None = None


@contextmanager
def noted(database: Database, operation: str, wanted: Settles) -> Iterator[None]:
    """Within the block the operation is committed; when it fails, nothing of this is left."""
    with database.write(durable=False) as connection:
        # Under the lock only what a crash left may be here, and of that only what waits for its folder still counts.
        connection.execute("DELETE FROM memory_operation WHERE operation NOT IN (SELECT operation FROM file_intent)")
        connection.execute(
            "INSERT INTO memory_operation(operation, entry, confirms, digest, undoes) VALUES (?, ?, ?, ?, ?)",
            (operation, wanted.entry, wanted.confirms, wanted.digest, wanted.undoes),
        )
    try:
        yield
    except BaseException:
        _forget(database, operation)
        raise


def settle(connection: apsw.Connection, operation: str, layer: str, entry_id: str, now: int) -> None:
    """The change of one entry is in the rows: settle what was noted for it, in the same transaction."""
    sql = "SELECT confirms, digest, undoes FROM memory_operation WHERE operation = ? AND entry = ?"
    for confirms, digest, undoes in list(connection.execute(sql, (operation, entry_id))):
        if confirms is not None:
            confirm(connection, confirms, layer, entry_id, digest, now, operation)
        if undoes is not None:
            _undo(connection, undoes, layer, now)
        connection.execute("DELETE FROM memory_operation WHERE operation = ?", (operation,))


def confirm(
    connection: apsw.Connection,
    candidate_id: str,
    layer: str,
    entry_id: str,
    digest: str,
    now: int,
    operation: str | None = None,
) -> None:
    """A candidate led to an entry: it is decided, and a rule is tied to the entries it was elevated from."""
    found = candidate_rows.find(connection, (layer,), candidate_id, now)
    if found is None:
        return
    if found.action is Action.ELEVATE:
        for source in found.sources:
            history_rows.add_derivation(connection, layer, source.id, entry_id, "elevate", now)
    candidate_rows.note_asked(connection, layer, found.question, digest, now)
    candidate_rows.decide(connection, candidate_id, CandidateState.CONFIRMED, now, entry_id, operation)


def _undo(connection: apsw.Connection, group: str, layer: str, now: int) -> None:
    history_rows.mark_undone(connection, group)
    confirmed = candidate_rows.confirmed_by(connection, group)
    if confirmed is None:
        return
    candidate_id, result_id = confirmed
    found = candidate_rows.find(connection, (layer,), candidate_id, now)
    text = _confirmed_text(connection, layer, group, result_id)
    if found is None or text is None:
        return
    if found.action is Action.ELEVATE:
        text = replace(text, body=without_sources(text.body))
    candidate_rows.reopen(connection, candidate_id, text, now, now + LIFETIME_DAYS * DAY_MS)
    _aim_anew(connection, layer, found)


def _confirmed_text(connection: apsw.Connection, layer: str, group: str, result_id: str) -> Wording | None:
    """The text a confirmation stored: the version it wrote, which the undo has just replaced."""
    row = rows.find(connection, (layer,), result_id)
    lines = [line for line in history_rows.changes(connection, (layer,), group, 100) if line.id == result_id]
    if row is None or not lines:
        return None
    for past in history_rows.revisions(connection, row.rid):
        if past.entry.version == lines[0].after:
            return Wording(past.entry.name, past.entry.description, past.body.strip())
    return None


def _aim_anew(connection: apsw.Connection, layer: str, found: Candidate) -> None:
    """The undo made a new version of the target: the candidate is about that one, whatever others were shown before."""
    row = rows.find(connection, (layer,), found.target.id) if found.target else None
    if row is not None:
        candidate_rows.retarget(connection, found.id, row.entry.version)


def _forget(database: Database, operation: str) -> None:
    try:
        with database.write(durable=False) as connection:
            connection.execute("DELETE FROM memory_operation WHERE operation = ?", (operation,))
    except SparkError as error:  # the failure that led here is the one to report; the next operation sweeps this up
        _log.warning("note of operation %s left: %s", operation, error.code)
