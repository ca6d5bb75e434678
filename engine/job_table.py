"""The rows of jobs: every statement that reads or writes them, inside the caller's transaction; decides nothing."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import apsw

from engine.storage.erasing import apart

Json = Mapping[str, Any]
_COLUMNS: Final = (
    "id, kind, key, state, folder, session, turn, attempts, reason, result, created_at, due_at, finished_at"
)


class JobState(StrEnum):
    """``NO_MODEL`` waits for a person to configure or start one; ``FAILED`` for a person to look."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    NO_MODEL = "no_model"


WAITING: Final = (JobState.FAILED, JobState.NO_MODEL)
FORGOTTEN: Final = "a memory of this turn was deleted, and its text with it"


@dataclass(frozen=True, slots=True)
class Job:
    """One row without its text; times in ms. ``result`` lists what came of it, by names and codes only."""

    id: str
    kind: str
    key: str
    state: JobState
    folder: Path | None
    session: str | None
    turn: str | None
    attempts: int
    reason: str | None
    result: tuple[Json, ...]
    created_at: int
    due_at: int
    finished_at: int | None


def jobs_where(connection: apsw.Connection, where: str, values: tuple[object, ...]) -> Iterator[Job]:
    """The jobs a condition holds for."""
    for row in connection.execute(f"SELECT {_COLUMNS} FROM job WHERE {where}", values):
        id_, kind, key, state, folder, session, turn, attempts, reason, result, created, due, finished = row
        yield Job(
            id_, kind, key, JobState(state), Path(folder) if folder else None, session, turn, attempts, reason,
            tuple(json.loads(result)), created, due, finished,
        )  # fmt: skip


def text_of(connection: apsw.Connection, job_id: str) -> tuple[Json, Json]:
    """What a job shall do, and how far it is; both empty once its text is gone."""
    payload, progress = next(connection.execute("SELECT payload, progress FROM job WHERE id = ?", (job_id,)))
    return json.loads(payload or "{}"), json.loads(progress or "{}")


def insert(
    connection: apsw.Connection, job_id: str, kind: str, key: str, payload: Json,
    folder: Path | None, session: str | None, turn: str | None, now: int,
) -> None:  # fmt: skip
    """A new job, unless there is one of this kind and key."""
    connection.execute(
        "INSERT INTO job(id, kind, key, state, folder, session, turn, payload, created_at, due_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(kind, key) DO NOTHING",
        (
            job_id, kind, key, JobState.QUEUED, str(folder) if folder else None, session, turn,
            apart(json.dumps(payload, ensure_ascii=True)), now, now,
        ),
    )  # fmt: skip


def change(connection: apsw.Connection, fields: Mapping[str, object], where: str, values: Sequence[object]) -> bool:
    """Set columns of the jobs a condition holds for; answers whether there was one."""
    columns = ", ".join(f"{name} = ?" for name in fields)
    connection.execute(f"UPDATE job SET {columns} WHERE {where}", (*fields.values(), *values))
    return connection.changes() > 0


def forget_finished(connection: apsw.Connection, before: int) -> None:
    """Remove what was done before that time, in ms; what waits for a person is kept however long that takes."""
    connection.execute("DELETE FROM job WHERE state = ? AND finished_at < ?", (JobState.DONE, before))


def forget_text(connection: apsw.Connection, session: str | None, turn: str | None) -> None:
    """Empty the text of jobs of a turn whose memory is deleted; what had not been done of them stays undone."""
    if turn is not None:
        emptied = {"state": JobState.DONE, "payload": None, "progress": None, "reason": FORGOTTEN}
        open_ = (*WAITING, JobState.QUEUED)
        change(connection, emptied, "session IS ? AND turn = ? AND state IN (?, ?, ?)", (session, turn, *open_))
