"""The hands that do jobs: takes them one at a time, reports on them, and notices when one was taken away."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw

from engine.bus import Bus
from engine.clock import Clock
from engine.errors import SparkError
from engine.events import JobsChanged
from engine.identity import Ids
from engine.job_table import Job, JobState, Json, change, jobs_where, text_of
from engine.leases import Lease, is_held, sweep
from engine.storage.database import Database

LEASE_MS: Final = 10 * 60_000  # renewed every minute while a model is asked
DELAY_MAX_MS: Final = 60 * 60_000  # what is due later than that was put off by a clock that has been set back since
INTERRUPTED: Final = "interrupted"
CRASHES_MAX: Final = 5  # a job that took its process down so often is not given to another
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """A job this process has taken: what to do, and how far it was when somebody else stopped."""

    job: Job
    payload: Json
    progress: Json


@contextmanager
def worker(database: Database, clock: Clock, ids: Ids, bus: Bus, run: Path) -> Iterator["Worker"]:
    """Take jobs within the block; what is left running at its end, however it ends, is free for others at once."""
    sweep(run / "workers")
    with Lease(run / "workers", ids) as lease:
        hands = Worker(database, clock, bus, run / "workers", lease.name)
        yield hands
        if hands.emptied:
            _wipe(database)


def _wipe(database: Database) -> None:
    """Empty the write-ahead log: a program that stays open for days would keep the text of done jobs in it."""
    try:
        database.checkpoint()
    except SparkError as error:  # the jobs are done all the same; the next ones, or the end of the program, wipe it
        _log.info("the text of done jobs is wiped later: %s", error.code)


class Worker:
    """One process's hands: takes jobs, reports on them, and notices when one was taken from it.

    ``emptied`` says whether the text of a job went.
    """

    def __init__(self, database: Database, clock: Clock, bus: Bus, places: Path, name: str) -> None:
        self._database = database
        self._clock = clock
        self._bus = bus
        self._places = places
        self.name = name
        self.emptied = False

    def take(self, *, job_id: str | None = None, kinds: Sequence[str] = ()) -> Work | None:
        """The next due job, or the one of an id whether it is due or not; None while there is none to take.

        One job of a kind runs at a time on the whole machine. One whose worker is dead is taken over at once; one
        whose worker says nothing for ``LEASE_MS`` as well.
        """
        now = self._clock.now_ms()
        with self._database.write() as connection:
            self._free_orphans(connection, now)
            found = self._next(connection, job_id, kinds, now)
            if found is None:
                return None
            mine = {"state": JobState.RUNNING, "owner": self.name, "lease_until": now + LEASE_MS,
                    "attempts": found.attempts + 1}  # fmt: skip
            change(connection, mine, "id = ?", (found.id,))
            job = next(jobs_where(connection, "id = ?", (found.id,)))
            payload, progress = text_of(connection, job.id)
        self._bus.announce(JobsChanged())
        return Work(job, payload, progress)

    def _next(self, connection: apsw.Connection, job_id: str | None, kinds: Sequence[str], now: int) -> Job | None:
        wanted = json.dumps(list(kinds))
        where = (
            "state = ? AND (? IS NULL OR id = ?) AND (? = '[]' OR kind IN (SELECT value FROM json_each(?)))"
            " AND (? IS NOT NULL OR NOT due_at BETWEEN ? AND ?)"
            " AND NOT EXISTS (SELECT 1 FROM job r WHERE r.state = ? AND r.kind = job.kind) ORDER BY seq LIMIT 1"
        )
        values = (
            JobState.QUEUED, job_id, job_id, wanted, wanted, job_id, now + 1, now + DELAY_MAX_MS, JobState.RUNNING
        )  # fmt: skip
        return next(jobs_where(connection, where, values), None)

    def _free_orphans(self, connection: apsw.Connection, now: int) -> None:
        running: list[tuple[Any, ...]] = connection.execute(
            "SELECT id, owner, lease_until, attempts FROM job WHERE state = ?", (JobState.RUNNING,)
        ).fetchall()
        for job_id, owner, lease_until, attempts in running:
            # A clock set back by hours must not hold a job for hours: no lease reaches further than it was given.
            stale = not now <= lease_until <= now + LEASE_MS
            if owner != self.name and (stale or not is_held(self._places, owner)):
                state = JobState.FAILED if attempts >= CRASHES_MAX else JobState.QUEUED
                ended = now if state is JobState.FAILED else None
                freed = {"state": state, "owner": None, "due_at": now, "reason": INTERRUPTED, "finished_at": ended}
                change(connection, freed, "id = ?", (job_id,))

    def keep(self, work: Work, progress: Json) -> bool:
        """Note how far the work is, and hold on to it; False when somebody else has it meanwhile."""
        far = {"progress": json.dumps(progress, ensure_ascii=True), "lease_until": self._clock.now_ms() + LEASE_MS}
        return self._report(work, far)

    def done(self, work: Work, result: Sequence[Json], reason: str | None = None) -> bool:
        """It is done: what came of it stays, its text goes."""
        self.emptied = True
        ended = self._ended(JobState.DONE, reason)
        return self._report(work, ended | {"result": json.dumps(list(result)), "payload": None, "progress": None})

    def put_off(self, work: Work, delay_ms: int, reason: str) -> bool:
        """It shall be tried again after ``delay_ms``, at most an hour."""
        due = self._clock.now_ms() + min(delay_ms, DELAY_MAX_MS)
        return self._report(work, {"state": JobState.QUEUED, "owner": None, "due_at": due, "reason": reason})

    def give_back(self, work: Work) -> bool:
        """This process ends: as if the job had not been taken."""
        return self._report(work, {"state": JobState.QUEUED, "owner": None, "attempts": max(0, work.job.attempts - 1)})

    def give_up(self, work: Work, state: JobState, reason: str) -> bool:
        """It failed, or has no model; its text is kept so that it can be run again."""
        return self._report(work, self._ended(state, reason))

    def _ended(self, state: JobState, reason: str | None) -> dict[str, object]:
        return {"state": state, "owner": None, "reason": reason, "finished_at": self._clock.now_ms()}

    def _report(self, work: Work, fields: Mapping[str, object]) -> bool:
        with self._database.write() as connection:
            mine = change(connection, fields, "id = ? AND owner = ? AND state = ?",
                          (work.job.id, self.name, JobState.RUNNING))  # fmt: skip
        self._bus.announce(JobsChanged())
        return mine
