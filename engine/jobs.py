"""Work that outlives a crash: a queue of jobs, one for each key, put off, tried again, kept readable afterwards.

Knows no kind of job. Text of a job is emptied when it is done; what came of it stays for thirty days.
"""

import json
from pathlib import Path
from typing import Final

import apsw

from engine.bus import Bus
from engine.clock import DAY_MS, Clock
from engine.errors import NotFound, ValidationFailed
from engine.events import JobsChanged
from engine.identity import Ids
from engine.job_table import WAITING as WAITING
from engine.job_table import Job as Job
from engine.job_table import JobState as JobState
from engine.job_table import Json as Json
from engine.job_table import change, forget_finished, insert, jobs_where
from engine.storage.database import Database

KEPT_MS: Final = 30 * DAY_MS


class Jobs:
    """The queue as everybody but a worker sees it. Every verb is one short transaction."""

    def __init__(self, database: Database, clock: Clock, ids: Ids, bus: Bus) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._bus = bus

    def put(
        self,
        kind: str,
        key: str,
        payload: Json,
        *,
        folder: Path | None = None,
        session: str | None = None,
        turn: str | None = None,
        connection: apsw.Connection | None = None,
    ) -> Job:
        """Queue a job, or answer the one that is there: one per (kind, key), whatever fires twice.

        With ``connection`` it is written inside the caller's transaction.
        """
        if connection is not None:
            return self._put(connection, kind, key, payload, folder, session, turn)
        self._database.check_writable()  # a job in a temporary index would be acknowledged and lost
        with self._database.write() as own:
            job = self._put(own, kind, key, payload, folder, session, turn)
        self._bus.announce(JobsChanged())
        return job

    def _put(
        self, connection: apsw.Connection, kind: str, key: str, payload: Json,
        folder: Path | None, session: str | None, turn: str | None,
    ) -> Job:  # fmt: skip
        now = self._clock.now_ms()
        forget_finished(connection, now - KEPT_MS)
        insert(connection, self._fresh_id(connection), kind, key, payload, folder, session, turn, now)
        return next(jobs_where(connection, "kind = ? AND key = ?", (kind, key)))

    def _fresh_id(self, connection: apsw.Connection) -> str:
        while True:
            job_id = self._ids.make("job")
            if next(jobs_where(connection, "id = ?", (job_id,)), None) is None:
                return job_id

    def known(self, kind: str, key: str) -> Job | None:
        """The job of this kind and key, if there is one."""
        with self._database.read() as connection:
            return next(jobs_where(connection, "kind = ? AND key = ?", (kind, key)), None)

    def get(self, job_id: str) -> Job:
        """The job of an id. Raises ``NotFound``."""
        with self._database.read() as connection:
            found = next(jobs_where(connection, "id = ?", (job_id,)), None)
        if found is None:
            raise NotFound(f"no job {job_id[:40]}", "spark-tui jobs list shows what there is")
        return found

    def recent(self, limit: int = 50, state: JobState | None = None) -> list[Job]:
        """The latest jobs, newest first."""
        with self._database.read() as connection:
            found = jobs_where(connection, "(? IS NULL OR state = ?) ORDER BY seq DESC LIMIT ?", (state, state, limit))
            return list(found)

    def count(self, *states: JobState) -> int:
        """How many jobs are in one of these states (in any, without one)."""
        wanted = json.dumps(list(states or JobState))
        with self._database.read() as connection:
            sql = "SELECT count(*) FROM job WHERE state IN (SELECT value FROM json_each(?))"
            return int(next(connection.execute(sql, (wanted,)))[0])

    def next_due(self) -> int | None:
        """When the earliest queued job may run, in ms; None when nothing is queued."""
        with self._database.read() as connection:
            sql = "SELECT min(due_at) FROM job WHERE state = ?"
            due = next(connection.execute(sql, (JobState.QUEUED,)))[0]
            return None if due is None else int(due)

    def retry(self, job_id: str) -> Job:
        """Queue a job again that failed or had no model. Raises ``NotFound``, ``ValidationFailed`` for any other."""
        job = self.get(job_id)
        anew = {"state": JobState.QUEUED, "attempts": 0, "due_at": self._clock.now_ms(), "finished_at": None,
                "reason": None}  # fmt: skip
        with self._database.write() as connection:
            waits = "id = ? AND state IN (?, ?) AND payload IS NOT NULL"
            changed = change(connection, anew, waits, (job_id, *WAITING))
        if not changed and job.state in WAITING:
            raise ValidationFailed(f"the text of {job.id} is gone; it cannot run again")
        if not changed and job.state is not JobState.QUEUED:
            raise ValidationFailed(f"{job.id} is {job.state}; only failed jobs and those without a model run again")
        self._bus.announce(JobsChanged())
        return self.get(job_id)
