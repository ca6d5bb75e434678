"""What becomes of a turn when something is in the way: kept, tried again, given up in words; never lost, never twice."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.jobs import JobState
from engine.learning import UNAVAILABLE
from engine.memory.extraction.intake import TRIGGERED
from engine.memory.extraction.turn import Turn
from engine.memory.listing import Filter
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Cut, Fail, Hang, Say, Shape
from tests.learning.conftest import EXTRACTS, School, item
from tests.providers.scripted import provider_config
from tests.support import REPOSITORY


def count(school: School) -> int:
    return school.engine.listing.count(Filter(state=None))


def test_a_turn_is_queued_with_exactly_these_words(school: School, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        school.engine.intake.submit(Turn("hello", "hi there", session="s"))
    assert [each.getMessage() for each in caplog.records if each.name.endswith("intake")] == [TRIGGERED]
    assert TRIGGERED == "memory extraction triggered"


@pytest.mark.parametrize("assistant", ["", "  \n\t ", '<function_results>{"ok": true}</function_results>'])
def test_a_turn_without_words_of_the_assistant_makes_no_job(school: School, assistant: str) -> None:
    taken = school.engine.intake.submit(Turn("do it", assistant))
    assert (taken.job, taken.reason) == (None, "blank")


def test_nothing_is_queued_while_memory_is_off(school: School) -> None:
    school.configure(memory__enabled="false")
    assert school.engine.intake.submit(Turn("a", "b")).reason == "disabled"


def test_the_same_turn_of_a_session_is_one_job_and_two_sessions_are_two(school: School) -> None:
    submit = school.engine.intake.submit
    one = submit(Turn("a", "b", session="s", turn="1")).job
    assert submit(Turn("a", "b", session="s", turn="1")).job == one
    assert submit(Turn("a", "b", session="s", turn="2")).job != one
    assert submit(Turn("a", "b", session="t", turn="1")).job != one
    assert submit(Turn("a", "b", session="s", turn="1", agent="reviewer", is_member=True)).job != one


def test_an_empty_answer_is_a_success_with_a_reason(school: School) -> None:
    job = school.job()
    assert (job.state, job.result, job.reason) == (JobState.DONE, (), "nothing worth keeping")


def test_without_any_model_the_turn_is_kept_and_runs_when_there_is_one(
    school: School, caplog: pytest.LogCaptureFixture
) -> None:
    config = school.place.home.config
    with_model = config.read_text("utf-8")
    config.write_text("[memory]\nembeddingProviderId = 'none'\n", "utf-8")
    job = school.job()
    assert job.state is JobState.NO_MODEL
    assert UNAVAILABLE in [each.getMessage() for each in caplog.records]
    config.write_text(with_model, "utf-8")
    school.answers(item("short", "Prefers short answers"))
    school.engine.jobs.retry(job.id)
    assert school.engine.learning.run(job.id).result[0]["outcome"] == "added"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_model_that_refuses_us_is_no_model(school: School, status: int) -> None:
    school.server.script.default = Fail(status)
    job = school.job()
    assert job.state is JobState.NO_MODEL
    assert str(status) in str(job.reason)


def test_a_server_that_is_not_there_is_no_model(school: School) -> None:
    with ModelServer() as gone:
        lines = provider_config(gone)
    config = school.place.home.config
    config.write_text(config.read_text("utf-8").partition("[providers")[0] + lines, "utf-8")
    assert school.job().state is JobState.NO_MODEL


PASSING = [
    Fail(429),
    Fail(500),
    Fail(529),
    Cut(3, Say('[{"scope":"user"')),
    Say("I would rather talk", shape=Shape.AS_IS),
]


@pytest.mark.parametrize("step", PASSING, ids=lambda step: type(step).__name__ + str(getattr(step, "status", "")))
def test_what_may_pass_is_tried_three_times_in_all_and_then_set_aside(school: School, step: Fail) -> None:
    school.server.script.default = step
    taken = school.engine.intake.submit(Turn("a", "b", said_at=school.place.clock.now_ms()))
    assert taken.job is not None
    for tries, wait in ((1, 2_000), (2, 20_000), (3, 0)):
        assert school.engine.learning.drain() == 1
        job = school.engine.jobs.get(taken.job.id)
        assert job.attempts == tries
        if wait:
            assert (job.state, job.due_at) == (JobState.QUEUED, school.place.clock.now_ms() + wait)
            assert school.engine.learning.drain() == 0
            school.place.clock.advance(ms=wait)
    assert job.state is JobState.FAILED
    assert job.reason
    school.server.script.default = Say()
    assert school.engine.jobs.retry(job.id).state is JobState.QUEUED
    school.engine.learning.drain()
    assert school.engine.jobs.get(job.id).state is JobState.DONE


def test_an_answer_cut_in_the_middle_still_brings_its_whole_items(school: School) -> None:
    whole = json.dumps([item("short", "Prefers short answers"), item("tabs", "Indents with tabs")])
    school.server.script.when(EXTRACTS, Say(whole[:-20], shape=Shape.AS_IS), times=1)
    job = school.job()
    assert [(each["name"], each["outcome"]) for each in job.result] == [("short", "added"), ("tabs", "dropped")]


def test_a_project_item_without_a_workspace_is_dropped_with_that_reason(school: School, tmp_path: Path) -> None:
    school.engine.bind(Path("/"))
    told = school.turn(item("build", "Builds with vite", scope="project", type="project"), item("tea", "Likes tea"))
    assert [(each["outcome"], each.get("gate")) for each in told] == [("dropped", "no_workspace"), ("added", None)]


def test_a_job_is_done_where_its_turn_was_even_when_the_screen_has_gone_elsewhere(school: School) -> None:
    school.answers(item("build", "Builds with vite", scope="project", type="project"))
    taken = school.engine.intake.submit(Turn("a", "b", said_at=school.place.clock.now_ms()))
    beta = school.place.project.parent / "beta"
    beta.mkdir()
    school.engine.bind(beta)
    school.engine.learning.drain()
    assert taken.job is not None
    assert list((school.place.project / ".spark-agent" / "memory").glob("prj_*.md"))
    assert not (beta / ".spark-agent").exists()


def test_closing_while_the_model_is_asked_ends_at_once_and_the_turn_goes_on_the_next_time(school: School) -> None:
    school.server.script.when(EXTRACTS, Hang(), times=1)
    engine = school.place.open()
    taken = engine.intake.submit(Turn("a", "b", said_at=school.place.clock.now_ms()))
    engine.workers.start()
    deadline = time.monotonic() + 20
    while not school.server.requests and time.monotonic() < deadline:
        time.sleep(0.01)
    assert school.server.requests
    engine.close()
    assert taken.job is not None
    job = school.engine.jobs.get(taken.job.id)
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    school.answers(item("short", "Prefers short answers"))
    school.engine.learning.drain()
    assert school.engine.jobs.get(job.id).result[0]["outcome"] == "added"


def test_an_interrupted_job_goes_on_after_the_item_it_had_reached(school: School) -> None:
    """A folder in which nothing can be written stops it at the second item; nothing is asked or written twice."""
    school.answers(item("one", "Likes tea"), item("two", "Speaks German"), item("three", "Lives in Bern"))
    folder = school.place.home.memory_user
    taken = school.engine.intake.submit(Turn("a", "b", said_at=school.place.clock.now_ms()))
    assert taken.job is not None
    unlisten = school.engine.bus.listen(lambda _fact: _take_away_after_one(folder))
    school.engine.learning.drain()
    unlisten()
    folder.unlink()
    folder.with_name("aside").rename(folder)
    job = school.engine.jobs.get(taken.job.id)
    assert (job.state, count(school)) == (JobState.QUEUED, 1)
    school.place.clock.advance(ms=2_000)
    school.engine.learning.drain()
    job = school.engine.jobs.get(taken.job.id)
    assert [each["outcome"] for each in job.result] == ["added", "added", "added"]
    assert (count(school), school.asked(EXTRACTS)) == (3, 1)


def _take_away_after_one(folder: Path) -> None:
    """From the second file on nothing can be written there, not even by root."""
    if folder.is_dir() and len(list(folder.glob("usr_*.md"))) == 1:
        folder.rename(folder.with_name("aside"))
        folder.write_text("in the way", "utf-8")


def test_two_workers_do_every_turn_once(school: School) -> None:
    for number in range(6):
        school.answers(item(f"fact-{number}", f"Fact number {number} about the weather in town {number}"))
        school.engine.intake.submit(Turn(f"turn {number}", "yes", session="s", turn=str(number)))
    school.server.script.when("You keep a list", Say('{"decision": "ADD", "targetId": ""}'))
    others = [school.place.open(ids=school.place.ids) for _ in range(2)]
    threads = [threading.Thread(target=_until_done, args=(engine,)) for engine in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for engine in others:
        engine.close()
    jobs = school.engine.jobs.recent()
    assert {job.state for job in jobs} == {JobState.DONE}
    assert school.asked(EXTRACTS) == 6
    assert count(school) == 6


def _until_done(engine: "object") -> None:
    from engine.runtime import Engine

    assert isinstance(engine, Engine)
    while engine.jobs.count(JobState.QUEUED, JobState.RUNNING):
        engine.learning.drain()
        time.sleep(0.01)


KILLED = """
import sys
from pathlib import Path
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    engine.learning.drain()
"""


@pytest.mark.parametrize("step", ["staged:2", "renamed:2", "committed:2", "settled:1"])
def test_kill_9_in_the_middle_of_a_turn_loses_nothing_and_writes_nothing_twice(
    school: School, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    school.answers(item("one", "Likes tea"), item("two", "Speaks German"), item("three", "Lives in Bern"))
    taken = school.engine.intake.submit(Turn("a", "b", session="s", turn="1"))
    assert taken.job is not None
    command = [sys.executable, "-c", KILLED, str(school.place.home.root), str(school.place.project)]
    environment = {**os.environ, "SPARK_FAULT": step, "PYTHONPATH": str(REPOSITORY)}
    died = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    again = school.place.open()
    again.learning.drain()
    job = again.jobs.get(taken.job.id)
    assert job.state is JobState.DONE
    assert sorted(each.name for each in again.listing.window(Filter())) == ["one", "three", "two"]
    assert school.asked(EXTRACTS) == 1
    assert all(each["outcome"] in ("added", "noop") for each in job.result)
    again.close()


def test_a_persons_edit_during_the_model_call_survives(school: School) -> None:
    from engine.memory.model import Changes

    old = school.learned("editor", "Uses vim as the editor")
    school.decides("UPDATE", old.id)
    edited = threading.Event()

    def edit() -> None:
        while not school.asked("You keep a list"):
            time.sleep(0.005)
        school.engine.store.edit(old.id, Changes(description="Uses emacs, as I say myself"))
        edited.set()

    from spark_tui.demo.steps import Delay

    answer = json.dumps({"decision": "UPDATE", "targetId": old.id})
    school.server.script._rules.clear()
    school.server.script.when("You keep a list", Delay(before=1.5, answer=Say(answer)), times=1)
    school.server.script.when("You keep a list", Say(answer))
    school.answers(item("editor-now", "Uses helix as the editor"))
    hand = threading.Thread(target=edit)
    hand.start()
    job = school.job()
    hand.join(10)
    assert edited.is_set()
    assert school.engine.listing.entry(old.id).description == "Uses emacs, as I say myself"
    assert job.result[0]["outcome"] == "queued_for_review"
