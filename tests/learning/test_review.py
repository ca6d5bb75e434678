"""What a review found, each as it was met: places, switches, clocks, crashes, names and items that must not spread."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.clock import DAY_MS
from engine.jobs import JobState
from engine.memory.extraction.turn import Turn
from engine.memory.listing import Filter
from engine.memory.model import Scope, State
from spark_tui.demo.steps import Fail, Say
from tests.learning.conftest import School, item
from tests.learning.test_failures import KILLED
from tests.support import REPOSITORY, child_environment, draft

BUILD = item("build", "Secret project alpha builds with pnpm", scope="project", type="project")


def queued(school: School, **fields: object) -> str:
    taken = school.engine.intake.submit(Turn("a", "b", said_at=school.place.clock.now_ms(), **fields))  # type: ignore[arg-type]
    assert taken.job is not None
    return taken.job.id


def files(folder: Path) -> list[Path]:
    return sorted((folder / ".spark-agent" / "memory").glob("prj_*.md"))


def test_a_turn_of_one_project_is_never_written_into_another_that_stands_in_its_place(school: School) -> None:
    school.engine.store.add(draft("first", scope=Scope.PROJECT))
    school.answers(BUILD)
    job_id = queued(school)
    alpha = school.place.project
    moved = alpha.with_name("moved")
    alpha.rename(moved)
    alpha.mkdir()
    with school.place.open(alpha) as other:
        other.store.add(draft("of-another", scope=Scope.PROJECT))
    school.engine.learning.drain()
    job = school.engine.jobs.get(job_id)
    assert (job.state, len(files(alpha))) == (JobState.QUEUED, 1)
    school.place.open(moved).close()  # now it is known where the project is
    school.place.clock.advance(ms=2_000)
    school.engine.learning.drain()
    assert school.engine.jobs.get(job_id).state is JobState.DONE
    assert (len(files(moved)), len(files(alpha))) == (2, 1)


def test_a_turn_in_a_folder_that_became_part_of_a_larger_project_waits(school: School) -> None:
    child = school.place.project / "child"
    for folder in (school.place.project, child):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    engine = school.open(child)
    school.answers(BUILD)
    taken = engine.intake.submit(Turn("a", "b", said_at=1))
    assert taken.job is not None
    shutil.rmtree(child / ".git")
    engine.learning.drain()
    assert engine.jobs.get(taken.job.id).state is JobState.QUEUED
    assert files(school.place.project) == []


def test_memory_switched_off_stops_what_is_queued_and_on_again_goes_on(school: School) -> None:
    school.answers(item("tea", "Likes tea"))
    job_id = queued(school)
    school.configure(memory__enabled="false")
    assert school.engine.learning.drain() == 0
    assert school.engine.learning.run(job_id).state is JobState.QUEUED
    assert school.server.requests == []
    school.configure(memory__enabled="true")
    school.engine.learning.drain()
    assert school.engine.jobs.get(job_id).result[0]["outcome"] == "added"


@pytest.mark.parametrize("days", [40, 4_000])
def test_a_turn_that_waits_for_a_model_is_kept_however_long_and_whatever_the_clock_says(
    school: School, days: int
) -> None:
    school.server.script.default = Fail(401)
    job = school.job()
    school.place.clock.advance(days=days)
    queued(school)
    assert school.engine.jobs.get(job.id).state is JobState.NO_MODEL
    school.place.clock.advance(days=-days)
    assert school.engine.jobs.retry(job.id).state is JobState.QUEUED


def test_what_was_done_is_forgotten_after_a_month(school: School) -> None:
    job = school.job()
    school.place.clock.advance(ms=31 * DAY_MS)
    queued(school)
    assert job.id not in [each.id for each in school.engine.jobs.recent()]


def test_a_replacement_whose_name_a_third_entry_has_goes_into_that_one(school: School) -> None:
    old = school.learned("vim-user", "Uses vim as the editor")
    third = school.learned("editor", "The editor has a dark theme")
    school.decides("DELETE", old.id, replace=True)
    told = school.turn(item("editor", "The editor is helix with a dark theme, not vim"), item("tea", "Likes tea"))
    assert [each["outcome"] for each in told] == ["invalidated", "added"]
    assert school.engine.listing.entry(old.id).superseded_by == third.id
    assert school.entry("editor").description.startswith("The editor is helix")


def test_an_item_for_which_there_is_no_room_does_not_cost_those_behind_it(school: School) -> None:
    old = school.learned("vim-user", "Uses vim as the editor")
    for name in ("one", "two"):
        school.engine.store.add(draft(name, f"Says {name}"))
    school.configure(memory__quota__user=1)
    school.decides("DELETE", old.id, replace=True)
    told = school.turn(item("helix-user", "Uses helix as the editor"), BUILD)
    assert [(each["outcome"], each.get("gate")) for each in told] == [("dropped", "quota"), ("added", None)]
    assert school.engine.listing.entry(old.id).state(school.place.clock.now_ms()) is State.ACTIVE


@pytest.mark.parametrize("verb", ["DELETE", "UPDATE"])
@pytest.mark.parametrize("step", ["committed", "settled"])
def test_killed_right_after_a_change_it_is_not_made_a_second_time_as_something_else(
    school: School, verb: str, step: str
) -> None:
    old = school.learned("editor", "Uses vim as the editor")
    school.server.script.when("You keep a list", Say(json.dumps({"decision": verb, "targetId": old.id})))
    school.answers(item("forget-editor", "No longer uses vim as the editor"))
    job_id = queued(school, session="s", turn="t")
    command = [sys.executable, "-c", KILLED, str(school.place.home.root), str(school.place.project)]
    environment = {**child_environment(SPARK_FAULT=step), "PYTHONPATH": str(REPOSITORY)}
    died = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    again = school.open()
    again.learning.drain()
    job = again.jobs.get(job_id)
    assert [each["outcome"] for each in job.result] == ["invalidated" if verb == "DELETE" else "updated"]
    assert again.listing.count(Filter(state=None)) == 1
    assert school.asked("You keep a list") == 1


def test_no_secret_of_an_answer_is_stored_not_even_while_the_job_waits(school: School) -> None:
    secret = "ghp_" + "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"
    school.answers(
        item("token", f"The token is {secret}", body=secret),
        item(f"sk-ant-api03-{'k' * 30}AA", "Has an odd name"),
        item("password-is-sup3rsecretzebra", "Has another"),
        item("tea", "Likes tea"),
    )
    school.server.script.when("You keep a list", Fail(500))
    school.place.home.memory_user.parent.mkdir(parents=True, exist_ok=True)
    school.place.home.memory_user.write_text("in the way: nothing can be written", "utf-8")
    job_id = queued(school)
    school.engine.learning.drain()
    assert school.engine.jobs.get(job_id).state is JobState.QUEUED
    rows = str(run_rows(school))
    assert "Likes tea" in rows
    assert all(word not in rows for word in (secret, "kkkkkkkk", "sup3rsecret"))


def run_rows(school: School) -> list[tuple[object, ...]]:
    with school.engine.database.read() as connection:
        return list(connection.execute("SELECT progress, result, reason FROM job"))


def test_of_two_equal_items_the_one_that_passes_is_kept(school: School) -> None:
    told = school.turn(item("unsure", "Likes tea", confidence=0.4), item("sure", "Likes tea", confidence=0.95))
    assert [(each["name"], each["outcome"], each.get("gate")) for each in told] == [
        ("unsure", "dropped", "confidence"),
        ("sure", "added", None),
    ]


@pytest.mark.parametrize("session", [None, "s"])
def test_a_deleted_memory_takes_the_text_of_its_unfinished_turn_with_it(school: School, session: str | None) -> None:
    school.answers(item("tea", "Likes wombattea"), item("milk", "Likes wombatmilk too"))
    folder = school.place.home.memory_user

    def stop_after_one(_fact: object) -> None:
        if folder.is_dir() and len(list(folder.glob("usr_*.md"))) == 1:
            school.engine.loop.close()  # the second item asks a model: this process ends before it can

    unlisten = school.engine.bus.listen(stop_after_one)
    job_id = queued(school, session=session)
    school.engine.learning.drain()
    unlisten()
    again = school.open()
    assert again.jobs.get(job_id).state is JobState.QUEUED
    again.store.delete([again.listing.window(Filter())[0].id])
    with again.database.read() as connection:
        assert list(connection.execute("SELECT payload, progress FROM job WHERE id = ?", (job_id,))) == [(None, None)]
    assert again.learning.drain() == 0


def test_a_provider_that_says_how_long_to_wait_is_waited_for(school: School) -> None:
    school.server.script.default = Fail(429, retry_after=60)
    job_id = queued(school)
    school.engine.learning.drain()
    assert school.engine.jobs.get(job_id).due_at == school.place.clock.now_ms() + 60_000


def test_a_job_that_is_held_up_by_another_is_not_looked_for_ten_times_a_second(school: School) -> None:
    queued(school)
    assert school.engine.learning.until_due(30.0) == 30.0


def test_leases_of_dead_processes_are_swept_away(school: School) -> None:
    workers = school.place.home.run / "workers"
    workers.mkdir(parents=True, exist_ok=True)
    (workers / "wrk_deadbeef").touch()
    queued(school)
    school.engine.learning.drain()
    assert list(workers.iterdir()) == []


def test_handing_the_same_turn_in_twice_is_told_once(school: School, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        assert queued(school, session="s") == queued(school, session="s")
    assert [each.getMessage() for each in caplog.records].count("memory extraction triggered") == 1


def test_the_gate_log_does_not_grow_without_end(school: School) -> None:
    from engine.memory import gate_log
    from engine.memory.gate_log import Drop, Gate, GateLog

    drops = [Drop(0, Scope.USER, f"n{number}", Gate.QUOTA, "full") for number in range(gate_log.KEPT + 10)]
    with school.engine.database.write() as connection:
        gate_log.note(connection, drops)
    assert GateLog(school.engine.database).count() == gate_log.KEPT


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_model_on_this_machine_is_not_looked_for_behind_a_proxy(
    school: School, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert school.turn(item("tea", "Likes tea"))[0]["outcome"] == "added"
