"""What doctor says about learning: which model and why, what waits, what came of the last turn, what is held up or due."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.clock import DAY_MS, iso
from engine.doors.checks.row import Row, RowState
from engine.doors.doctor import examine
from engine.memory.candidates.model import Action, Candidate, Origin, Proposal
from engine.memory.extraction.turn import Turn
from engine.runtime import Engine, open_engine
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail, Say
from tests.cli.conftest import NO_VECTORS, Cli, cli, project
from tests.learning.conftest import School, item, school
from tests.providers.scripted import KEY, provider_config
from tests.support import draft

__all__ = ["cli", "project", "school"]
PERSON = {"LANG": "C.UTF-8", "TERM": "xterm-256color"}
TOLD = ("extraction-model", "jobs", "last-extraction", "gates", "candidates", "consolidation")


def rows_of(school: School, folder: Path | None = None) -> dict[str, Row]:
    """Doctor's rows by id, on the clock of the school; looking asks no model and says nothing without a fix."""
    place, asked = school.place, len(school.server.requests)

    def open_store() -> Engine:
        return open_engine(place.home, folder or place.project, clock=place.clock, ids=place.ids, refresh=False)

    rows = {row.id: row for row in examine(place.home, open_store, PERSON)}
    assert len(school.server.requests) == asked
    assert all(rows[name].evidence for name in TOLD)
    assert all(row.fix for row in rows.values() if row.state in (RowState.FAIL, RowState.WARN))
    return rows


@contextmanager
def settings(school: School, text: str) -> Iterator[dict[str, Row]]:
    """The rows under other settings."""
    config = school.place.home.config
    kept = config.read_text("utf-8")
    config.write_text(text, "utf-8")
    yield rows_of(school)
    config.write_text(kept, "utf-8")


def proposed(school: School, name: str, description: str = "Be short everywhere", **fields: Any) -> Candidate:
    """A rule that waits for the person."""
    wanted = {"layer": school.engine.layers.user(), "action": Action.ELEVATE, "origin": Origin.CONSOLIDATION, **fields}
    found = school.engine.candidates.propose(Proposal(name=name, description=description, **wanted)).candidate
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("memory", "providers", "rule"),
    [
        ("extractionProviderId = 'mine'", ("mine", "other"), "set by memory.extractionProviderId"),
        ("[model]\ndefaultProviderId = 'mine'", ("mine", "other"), "the default, for turns that do not name a model"),
        ("", ("mine",), "the only one there is, for turns that do not name a model"),
        ("extractionModel = 'tiny'", ("mine",), "the model is set by memory.extractionModel"),
    ],
)
def test_the_model_is_named_with_the_rule_that_chose_it(
    school: School, memory: str, providers: tuple[str, ...], rule: str
) -> None:
    text = f"[memory]\n{memory}\n" + "".join(provider_config(school.server, name=name) for name in providers)
    with settings(school, text) as rows:
        row = rows["extraction-model"]
        assert row.evidence.startswith("mine tiny" if "tiny" in memory else "mine scripted")
        assert rule in row.evidence


def test_a_model_that_was_never_asked_is_told_with_the_command_that_asks_it(school: School) -> None:
    row = rows_of(school)["extraction-model"]
    assert (row.state, "never asked yet" in row.evidence) == (RowState.INFO, True)
    assert "spark-tui settings test-extraction" in str(row.fix)
    school.job()
    after = rows_of(school)["extraction-model"]
    assert (after.state, iso(school.place.clock.now_ms(), school.place.clock.zone()) in after.evidence) == (
        RowState.OK,
        True,
    )


@pytest.mark.parametrize(
    ("text", "evidence", "fix"),
    [
        ("[memory]\nextractionProviderId = 'gone'\n", "no provider named gone", "settings unset memory.extraction"),
        (
            "[memory]\nextractionProviderId = 'mine'\n"
            + provider_config("https://api.example.invalid", "anthropic", key_env="NOT_SET_HERE"),
            "NOT_SET_HERE",
            "memory.extractionProviderId",
        ),
        (provider_config("http://127.0.0.1:9/v1", models=()), "provider mine names no model", "config.toml"),
        (provider_config("http://127.0.0.1:9/v1") + "enabled = false\n", "none: a turn is", "provider offers"),
        ("", "none: a turn is learned from by the model that ran it", "provider offers"),
    ],
)
def test_what_is_missing_is_told_with_the_command_that_mends_it(
    school: School, text: str, evidence: str, fix: str
) -> None:
    with settings(school, text) as rows:
        row = rows["extraction-model"]
        assert row.state is (RowState.INFO if evidence.startswith("none") else RowState.FAIL)
        assert (evidence in row.evidence or evidence in str(row.fix), fix in str(row.fix)) == (True, True), row


def test_a_refused_key_is_seen_until_the_model_answers_again(school: School) -> None:
    assert rows_of(school)["jobs"].state is RowState.OK
    school.server.script.default = Fail(401)
    job = school.job()
    rows = rows_of(school)
    assert rows["extraction-model"].state is rows["jobs"].state is RowState.WARN
    assert "no answer 2026-01-01T08:01:02.000+08:00: HTTP 401 from 127.0.0.1:" in rows["extraction-model"].evidence
    assert f"1 had no model; the latest, extraction {job.id}: HTTP 401" in rows["jobs"].evidence
    assert str(rows["jobs"].fix).endswith(f"spark-tui jobs retry {job.id}")
    school.server.script.default = Say()
    school.engine.jobs.retry(job.id)
    assert school.engine.learning.run(job.id).state == "done"
    rows = rows_of(school)
    assert rows["extraction-model"].state is rows["jobs"].state is RowState.OK


def test_jobs_are_counted_by_state_and_the_latest_reason_is_the_latest(school: School) -> None:
    school.server.script.default = Fail(401)
    school.job()
    school.server.script.default = Fail(400)
    school.job()
    school.engine.intake.submit(Turn("a", "b", said_at=1))
    row = rows_of(school)["jobs"]
    assert row.evidence.startswith("1 had no model, 1 failed; the latest, extraction ")
    assert row.evidence.endswith(": the request was refused; 1 queued, 0 running")
    assert str(row.fix).endswith("spark-tui jobs retry --all")


def test_old_failures_are_still_told_under_any_number_of_turns_that_went_well(school: School) -> None:
    school.server.script.default = Fail(401)
    school.job()
    with school.engine.database.write() as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)"
            " INSERT INTO job(id, kind, key, state, created_at, due_at, finished_at)"
            " SELECT 'job_f' || i, 'extraction', 'k' || i, 'done', 1, 1, 1 FROM n"
        )
    assert "1 had no model" in rows_of(school)["jobs"].evidence


def test_queued_work_says_who_does_it_and_that_nobody_does_while_memory_is_off(school: School) -> None:
    school.engine.intake.submit(Turn("a", "b", said_at=1))
    row = rows_of(school)["jobs"]
    assert (row.state, row.evidence) == (RowState.INFO, "1 queued, 0 running")
    assert "spark-tui jobs run" in str(row.fix)
    school.configure(memory__enabled="false")
    row = rows_of(school)["jobs"]
    assert (row.state, row.fix) == (RowState.WARN, "spark-tui settings set memory.enabled true")


def test_what_came_of_the_last_turn_or_why_nothing_did(school: School) -> None:
    assert "none yet" in rows_of(school)["last-extraction"].evidence
    school.job()
    assert "0 items: nothing worth keeping" in rows_of(school)["last-extraction"].evidence
    school.turn(item("tea", "Likes tea"), item("sure", "Perhaps likes milk", confidence=0.2), user="again")
    assert "2 items: 1 added, 1 dropped by gate confidence" in rows_of(school)["last-extraction"].evidence
    school.configure(memory__quota__user=1)
    school.turn(item("speaks", "Speaks German"), user="and again")
    assert "1 item: 1 dropped by gate quota" in rows_of(school)["last-extraction"].evidence
    school.engine.bind(Path("/"))
    school.turn(item("build", "Builds with vite", scope="project", type="project"), user="elsewhere")
    assert "1 item: 1 dropped by gate no_workspace" in rows_of(school)["last-extraction"].evidence


def test_drops_are_summed_up_by_gate_for_a_week_however_many_there_are(school: School) -> None:
    school.turn(item("sure", "Perhaps likes milk", confidence=0.2))
    with school.engine.database.write() as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO"
            " memory_gate_log(at, scope, name, gate, reason) SELECT ?, 'user', 'n', 'transient', 'now' FROM n",
            (school.place.clock.now_ms(),),
        )
    assert rows_of(school)["gates"].evidence == "in the last 7 days: 1200 transient, 1 confidence"
    school.place.clock.advance(days=8)
    assert rows_of(school)["gates"].evidence == "nothing in the last 7 days"


def test_what_waits_for_the_person_and_which_of_it_a_taken_name_holds_up(school: School) -> None:
    rule = proposed(school, "short")
    row = rows_of(school)["candidates"]
    assert (row.state, row.evidence) == (RowState.INFO, "1 wait for you")
    school.engine.store.add(draft("short", "Likes short trousers"))
    row = rows_of(school)["candidates"]
    assert (row.state, f"the name of 1 of them: {rule.id}" in row.evidence) == (RowState.WARN, True)
    assert "--name" in str(row.fix)


def test_a_name_whose_memory_says_the_same_holds_nothing_up(school: School) -> None:
    rule = proposed(school, "short")
    school.engine.store.add(draft("short", "Be short everywhere"))
    assert rows_of(school)["candidates"].evidence == "1 wait for you"
    assert school.engine.candidates.confirm(rule.id, rule.digest).name == "short"  # and so it is


def test_a_layer_with_so_many_candidates_that_no_more_are_proposed_is_named(school: School) -> None:
    for number in range(20):
        proposed(school, f"rule-{number}", f"Rule number {number}")
    row = rows_of(school)["candidates"]
    assert (row.state, "no more are proposed for user" in row.evidence) == (RowState.WARN, True)


def test_when_each_layer_was_consolidated_and_which_is_due(school: School) -> None:
    school.configure(memory__consolidationThreshold=2, memory__consolidationIntervalDays=7)
    school.engine.store.add(draft("one", "Knows one"))
    assert rows_of(school)["consolidation"].evidence == "user: never yet, not due with 1 of 2 entries"
    school.engine.store.add(draft("two", "Knows two"))
    row = rows_of(school)["consolidation"]
    assert (row.evidence, "consolidate" in str(row.fix)) == ("user: never yet, due at the next turn", True)
    assert len(school.engine.due.check(school.engine.layers.person())) == 1
    now, zone = school.place.clock.now_ms(), school.place.clock.zone()
    row = rows_of(school)["consolidation"]
    assert (row.evidence, row.fix) == (
        f"user: last {iso(now, zone)}, due again {iso(now + 7 * DAY_MS, zone)}",
        None,
    )
    school.place.clock.advance(days=7)
    assert school.engine.due.check(school.engine.layers.person()) == []  # the rule itself agrees, to the moment
    assert "due again" in rows_of(school)["consolidation"].evidence
    school.place.clock.advance(ms=1)
    assert "due at the next turn" in rows_of(school)["consolidation"].evidence
    assert len(school.engine.due.check(school.engine.layers.person())) == 1
    school.configure(memory__consolidationEnabled="false")
    assert rows_of(school)["consolidation"].evidence == "off"


def test_the_command_tells_the_same_rows_and_none_carries_text_of_a_memory_or_a_key(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", KEY)
    (tmp_path / "said").write_text("wombat secret")
    answer = '[{"scope": "user", "type": "user", "name": "n", "description": "wombat description", "confidence": 0.1}]'
    submit = ("turn", "submit", "--user-file", str(tmp_path / "said"), "--assistant-file", str(tmp_path / "said"))
    with ModelServer() as server:
        (cli.home / "config.toml").write_text(NO_VECTORS + provider_config(server, key_env="CANARY"), "utf-8")
        server.then(Say(answer))
        cli.json(*submit, "--wait")
        server.script.default = Fail(401)
        cli.json(*submit, "--session", "s", "--wait", code=1)
        done = cli.run("doctor", "--json")
    rows = {row["id"]: row for row in done.json["rows"]}
    assert set(TOLD) <= set(rows)
    assert (rows["jobs"]["state"], rows["extraction-model"]["state"]) == ("warn", "warn")
    assert "1 dropped by gate confidence" in rows["last-extraction"]["evidence"]
    assert "1 confidence" in rows["gates"]["evidence"]
    assert "wombat" not in done.out
    assert KEY not in done.out
