"""When a layer is consolidated: settings, size and time of each layer, one job however many ask (02 §8)."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.errors import StoreBusy
from engine.jobs import Job, JobState
from engine.memory.model import Scope
from engine.runtime import Engine
from engine.storage.lock import exclusive
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail
from tests.memory.consolidation.asking import asking, consolidated, extracted
from tests.support import REPOSITORY, Place, child_environment, draft


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home in which two entries are enough."""
    made = Place(tmp_path)
    made.configure(memory__consolidationThreshold=2)
    return made


def fill(engine: Engine, count: int = 2) -> None:
    for n in range(count):
        extracted(engine, f"fact-{n}")


def check(engine: Engine) -> list[Job]:
    return engine.due.check(engine.layers.person())


def test_a_layer_is_due_with_enough_active_entries(place: Place) -> None:
    with place.open() as engine:
        fill(engine, 1)
        assert check(engine) == []
        entry = extracted(engine, "another")
        engine.store.archive([entry.id])
        assert check(engine) == []
        engine.store.unarchive([entry.id])
        [job] = check(engine)
        assert (job.kind, job.key.partition("@")[0], job.state, job.folder) == (
            "consolidation",
            "user",
            JobState.QUEUED,
            None,
        )


@pytest.mark.parametrize("days", [7.0, 0.01])
def test_a_layer_is_due_again_once_the_interval_has_passed(place: Place, days: float) -> None:
    place.configure(memory__consolidationIntervalDays=days)
    with place.open() as engine:
        fill(engine)
        assert len(check(engine)) == 1
        assert check(engine) == []
        assert engine.due.last(engine.layers.user()) == place.clock.now_ms()
        place.clock.advance(days=days)
        assert check(engine) == []
        place.clock.advance(ms=1)
        assert len(check(engine)) == 1
    assert len({job.key for job in _jobs(place)}) == 2


def test_layers_are_timed_separately_and_each_job_stands_where_its_layer_is(place: Place) -> None:
    with place.open() as engine:
        fill(engine)
        assert len(check(engine)) == 1
        for name in ("one", "two"):
            engine.store.add(draft(name, scope=Scope.PROJECT))
            engine.store.add(draft(name, scope=Scope.AGENT, agent="codex"))
        queued = {job.key.partition(":")[0].partition("@")[0]: job.folder for job in check(engine)}
        assert queued == {"project": place.project, "agent": None}


@pytest.mark.parametrize("key", ["memory__enabled", "memory__consolidationEnabled"])
def test_nothing_is_due_while_it_is_switched_off(place: Place, key: str) -> None:
    with place.open() as engine:
        fill(engine)
    place.configure(**{key: "false"})
    with place.open() as engine:
        assert check(engine) == []
        assert engine.due.last(engine.layers.user()) is None


def test_a_clock_that_ran_ahead_stops_no_layer_for_years(place: Place) -> None:
    with place.open() as engine:
        fill(engine)
        place.clock.advance(days=10_000)
        assert len(check(engine)) == 1
        place.clock.advance(days=-10_000)
        assert len(check(engine)) == 1
        assert check(engine) == []


BOTH = """
import sys, time
from pathlib import Path
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    time.sleep(max(0.0, float(sys.argv[3]) - time.time()))
    for _ in range(20):
        print(len(engine.due.check(engine.layers.person())))
"""


def test_processes_that_ask_in_the_same_moment_queue_one_job(place: Place) -> None:
    with place.open() as engine:
        fill(engine)
    begin = str(time.time() + 2.5)
    command = [sys.executable, "-c", BOTH, str(place.home.root), str(place.project), begin]
    children = [
        subprocess.Popen(command, env=child_environment(), cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    queued = [int(line) for child in children for line in child.communicate(timeout=60)[0].split()]
    assert (len(queued), sum(queued)) == (60, 1)
    assert len(_jobs(place)) == 1


def test_a_check_meets_a_busy_or_read_only_store_without_failing_the_turn(place: Place) -> None:
    with place.open() as engine:
        fill(engine)
        script = (
            "import apsw, sys, time\nc = apsw.Connection(sys.argv[1])\nc.execute('BEGIN IMMEDIATE')\n"
            "print('held', flush=True)\ntime.sleep(30)"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", script, str(place.home.database)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            assert check(engine) == []
        finally:
            holder.kill()
            holder.wait()
        assert len(check(engine)) == 1


def test_a_person_may_force_a_run_and_an_unfinished_job_is_not_queued_twice(place: Place) -> None:
    with place.open() as engine:
        fill(engine, 1)
        [job] = engine.due.force([engine.layers.user()])
        place.clock.advance(days=1)
        assert [each.id for each in engine.due.force([engine.layers.user()])] == [job.id]
        assert [each.id for each in engine.jobs.recent()] == [job.id]


def test_one_run_at_a_time_over_a_layer(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        fill(engine)
        with exclusive(place.home.run / "consolidation-user.lock", 0), pytest.raises(StoreBusy):
            consolidated(engine, model_server)
        assert model_server.requests == []
        assert consolidated(engine, model_server).calls == 1


def test_the_time_is_noted_before_the_model_is_asked(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        fill(engine)
        [job] = check(engine)
        model_server.then(Fail(400, message="no"))
        with pytest.raises(Exception, match="400"):
            engine.consolidation.run("user", asking(engine, model_server), 8_000)
        assert check(engine) == []
        assert engine.jobs.get(job.id).state is JobState.QUEUED


def _jobs(place: Place) -> list[Job]:
    with place.open() as engine:
        return engine.jobs.recent()
