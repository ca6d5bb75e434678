"""Durable jobs: one a key, one at a time, taken over from the dead, put off, kept readable, emptied when done."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.bus import Bus
from engine.clock import ManualClock
from engine.errors import NotFound, ValidationFailed
from engine.identity import Ids, counting_ids
from engine.job_worker import CRASHES_MAX, LEASE_MS, Worker, worker
from engine.jobs import Job, Jobs, JobState
from engine.storage.database import Database, open_database
from tests.support import REPOSITORY, Place


class Desk:
    """A queue, and as many workers on it as a test wants."""

    def __init__(self, root: Path, stack: ExitStack) -> None:
        self.root = root
        self.clock = ManualClock()
        self.ids: Ids = counting_ids()
        self.database: Database = open_database(root / "spark.db", self.clock)
        stack.callback(self.database.close)
        self.bus = Bus()
        self.jobs = Jobs(self.database, self.clock, self.ids, self.bus)
        self._stack = stack

    def worker(self) -> Worker:
        return self._stack.enter_context(worker(self.database, self.clock, self.ids, self.bus, self.root / "run"))

    def put(self, key: str = "s/t", kind: str = "extraction") -> Job:
        return self.jobs.put(kind, key, {"text": f"said {key}"}, session="s", turn=key)

    def text_left(self) -> bool:
        with self.database.read() as connection:
            sql = "SELECT count(*) FROM job WHERE payload IS NOT NULL OR progress IS NOT NULL"
            return bool(next(connection.execute(sql))[0])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(tmp_path, stack)


def test_whatever_fires_twice_is_one_job(desk: Desk) -> None:
    first = desk.put()
    assert desk.put() == first
    assert desk.put("s/u").id != first.id
    assert desk.put(kind="consolidation").id != first.id
    assert desk.jobs.count() == 3


def test_jobs_are_taken_in_their_order_one_of_a_kind_at_a_time(desk: Desk) -> None:
    one, two, other = desk.put("1"), desk.put("2"), desk.put("1", "consolidation")
    mine, theirs = desk.worker(), desk.worker()
    taken = mine.take()
    assert taken is not None
    assert (taken.job.id, taken.payload) == (one.id, {"text": "said 1"})
    second = theirs.take()
    assert second is not None
    assert second.job.id == other.id
    assert theirs.take() is None
    assert mine.done(taken, [{"name": "x", "outcome": "added"}])
    third = theirs.take()
    assert third is not None
    assert third.job.id == two.id


def test_a_done_job_keeps_what_came_of_it_and_loses_its_text(desk: Desk) -> None:
    job, hands = desk.put(), desk.worker()
    taken = hands.take()
    assert taken is not None
    hands.keep(taken, {"items": ["secret plans"]})
    hands.done(taken, [{"name": "x", "outcome": "noop"}], "nothing new")
    after = desk.jobs.get(job.id)
    assert (after.state, after.reason, after.result) == (
        JobState.DONE,
        "nothing new",
        ({"name": "x", "outcome": "noop"},),
    )
    assert not desk.text_left()


def test_a_job_put_off_waits_for_its_time_unless_it_is_asked_for_by_name(desk: Desk) -> None:
    job, hands = desk.put(), desk.worker()
    taken = hands.take()
    assert taken is not None
    hands.put_off(taken, 20_000, "HTTP 503 from model")
    assert hands.take() is None
    assert desk.jobs.next_due() == desk.clock.now_ms() + 20_000
    by_name = hands.take(job_id=job.id)
    assert by_name is not None
    hands.put_off(by_name, 20_000, "again")
    desk.clock.advance(ms=20_000)
    again = hands.take()
    assert again is not None
    assert again.job.attempts == 3


def test_how_far_it_was_is_known_to_whoever_takes_over(desk: Desk) -> None:
    desk.put()
    with worker(desk.database, desk.clock, desk.ids, desk.bus, desk.root / "run") as first:
        taken = first.take()
        assert taken is not None
        first.keep(taken, {"next": 2})
    second = desk.worker().take()
    assert second is not None
    assert second.progress == {"next": 2}
    assert not first.keep(taken, {"next": 3})
    assert not first.done(taken, [])
    assert desk.jobs.get(taken.job.id).state is JobState.RUNNING


@pytest.mark.parametrize("jump", [LEASE_MS + 1, -24 * LEASE_MS])
def test_a_worker_that_says_nothing_for_too_long_loses_its_job_whichever_way_the_clock_went(
    desk: Desk, jump: int
) -> None:
    desk.put()
    silent, other = desk.worker(), desk.worker()
    assert silent.take() is not None
    assert other.take() is None
    desk.clock.advance(ms=jump)
    assert other.take() is not None


def test_a_job_that_takes_its_worker_down_again_and_again_is_set_aside(desk: Desk) -> None:
    job = desk.put()
    for _ in range(CRASHES_MAX):
        with worker(desk.database, desk.clock, desk.ids, desk.bus, desk.root / "run") as doomed:
            assert doomed.take() is not None
    assert desk.worker().take() is None
    after = desk.jobs.get(job.id)
    assert (after.state, after.reason) == (JobState.FAILED, "interrupted")


def test_failed_jobs_and_those_without_a_model_run_again_when_asked_and_no_others(desk: Desk) -> None:
    job, hands = desk.put(), desk.worker()
    taken = hands.take()
    assert taken is not None
    with pytest.raises(ValidationFailed):
        desk.jobs.retry(job.id)
    hands.give_up(taken, JobState.NO_MODEL, "nothing configured")
    assert desk.jobs.recent(state=JobState.NO_MODEL)[0].reason == "nothing configured"
    assert desk.jobs.retry(job.id).state is JobState.QUEUED
    again = hands.take()
    assert again is not None
    assert (again.job.attempts, again.payload) == (1, {"text": "said s/t"})
    hands.done(again, [])
    with pytest.raises(ValidationFailed):
        desk.jobs.retry(job.id)
    with pytest.raises(NotFound):
        desk.jobs.retry("job_00000000")


TAKE_AND_HANG = """
import sys, time
from pathlib import Path
from engine.bus import Bus
from engine.clock import SystemClock
from engine.identity import Ids
from engine.job_worker import worker
from engine.storage.database import open_database
root, clock, ids = Path(sys.argv[1]), SystemClock(), Ids()
database = open_database(root / "spark.db", clock)
with worker(database, clock, ids, Bus(), root / "run") as hands:
    taken = hands.take()
    print("taken" if taken else "none", flush=True)
    if len(sys.argv) > 2:
        time.sleep(60)
"""


def test_a_killed_process_frees_its_job_at_once_and_two_live_ones_never_share_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.home.root.mkdir(exist_ok=True)
    clock = ManualClock(0)
    with_database = open_database(place.home.database, clock)
    jobs = Jobs(with_database, clock, Ids(), Bus())
    jobs.put("extraction", "k", {})
    command = [sys.executable, "-c", TAKE_AND_HANG, str(place.home.root)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    first = subprocess.Popen([*command, "hang"], stdout=subprocess.PIPE, text=True, env=environment)
    assert first.stdout is not None
    assert first.stdout.readline() == "taken\n"
    assert subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout == "none\n"
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    assert subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout == "taken\n"
    assert list((place.home.run / "workers").iterdir()) == []
    with_database.close()
