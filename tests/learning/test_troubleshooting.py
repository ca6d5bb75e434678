"""The twelve rows of the product's trouble-shooting table: each fault is seeded, and the program itself names the cause."""

import logging
from datetime import date
from pathlib import Path

import pytest

from engine.errors import NameConflict, NotFound, SensitiveContent, VersionConflict
from engine.jobs import JobState
from engine.learning import UNAVAILABLE
from engine.memory.agent_access import AgentSession
from engine.memory.candidates.model import Action, Edits, Origin, Proposal
from engine.memory.extraction.intake import TRIGGERED
from engine.memory.extraction.turn import Turn
from engine.memory.gate_log import GateLog
from engine.memory.injection import AgentProfile, Request
from engine.memory.listing import Filter
from engine.memory.model import Changes, Scope, State
from engine.memory.retrieval import Channel, SearchStatus
from spark_tui.cli.main import main
from spark_tui.demo.steps import Fail
from tests.learning.conftest import School, item
from tests.support import Place, draft

CLAUDE = AgentSession("s1", "claude-code")


def names(school: School) -> list[str]:
    return [each.name for each in school.engine.listing.window(Filter())]


def test_1_nothing_was_remembered_the_log_says_triggered_and_then_unavailable(
    school: School, caplog: pytest.LogCaptureFixture
) -> None:
    school.server.script.default = Fail(401)
    with caplog.at_level(logging.INFO):
        job = school.job()
    said = [each.getMessage() for each in caplog.records]
    assert said.index(TRIGGERED) < said.index(UNAVAILABLE)
    assert job.state is JobState.NO_MODEL
    tried = main(["--home", str(school.place.home.root), "settings", "test-extraction", "--json"])
    assert tried == 1


def test_1_nothing_was_remembered_because_the_switch_is_off(school: School) -> None:
    school.configure(memory__enabled="false")
    assert school.engine.intake.submit(Turn("a", "b")).reason == "disabled"


def test_2_a_turn_of_tool_calls_alone_brings_nothing(school: School) -> None:
    only_tools = '<function_calls>\n<invoke name="Bash">ls</invoke>\n</function_calls>'
    assert school.engine.intake.submit(Turn("list the files", only_tools)).reason == "blank"
    assert school.engine.jobs.count() == 0


def test_3_what_did_not_pass_is_listed_with_the_gate_that_stopped_it(school: School) -> None:
    school.configure(memory__quota__user=1)
    school.turn(
        item("login", "Is fixing the login page right now"),
        item("tea", "Perhaps likes tea", confidence=0.4),
        item("key", "The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        item("lives", "Lives in Bern"),
        item("speaks", "Speaks German"),
    )
    dropped = {each.name: each.gate.value for each in GateLog(school.engine.database).recent(10)}
    assert dropped == {"login": "transient", "tea": "confidence", "key": "sensitive", "speaks": "quota"}
    assert names(school) == ["lives"]


def test_4_a_project_memory_outside_any_project_says_so(school: School) -> None:
    school.engine.bind(Path("/"))
    told = school.turn(item("build", "Builds with vite", scope="project", type="project"))
    assert (told[0]["gate"], told[0]["reason"]) == ("no_workspace", "no_workspace")
    with pytest.raises(Exception, match="needs a workspace"):
        school.engine.store.add(draft("build", scope=Scope.PROJECT))


def test_5_search_by_words_alone_says_that_the_other_channel_is_off(school: School) -> None:
    school.learned("style", "Prefers function components")
    found = school.engine.search("class components")
    assert found.channels == {"fts": Channel.OK, "vector": Channel.OFF}


def test_6_i_do_not_remember_the_block_says_what_was_cut_and_a_search_still_finds_it(school: School) -> None:
    school.configure(memory__maxInjectTokens=200)
    for number in range(6):
        school.engine.store.add(draft(f"rule-{number}", f"Rule {number}: " + "keep the tests small and fast " * 5))
    told = school.engine.inject(Request(AgentProfile("claude-code", "", "")))
    assert told.dropped
    assert {each.reason for each in told.dropped} <= {"budget", "relevance"}
    hidden = school.engine.listing.entry(told.dropped[0].id)
    found = school.engine.agent_memory.search(CLAUDE, hidden.description)
    assert hidden.id in [hit.entry.id for hit in found.hits]


def test_7_another_wording_is_found_only_with_the_channel_of_meaning(tmp_path: Path) -> None:
    found = {}
    for embedding in ("none", "local"):
        place = Place(tmp_path / embedding, embedding=embedding)
        with place.open() as engine:
            engine.store.add(draft("函数式", "写界面时偏好函数式组件"))
            engine.store.add(draft("提交", "每次提交前先跑测试"))
            found[embedding] = [hit.entry.name for hit in engine.search("how does he like to write his UI code").hits]
    assert found["none"] == []
    assert found["local"][0] == "函数式"


def test_8_an_agent_has_no_way_to_write_and_is_told_that_a_person_is_needed(
    school: School, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verbs = {name for name in dir(school.engine.agent_memory) if not name.startswith("_")}
    assert verbs == {"is_offered", "recall", "search"}
    monkeypatch.setenv("CLAUDECODE", "1")
    words = ["memory", "add", "--scope", "user", "--type", "user", "--name", "n", "--description", "d", "--json"]
    assert main(["--home", str(school.place.home.root), *words]) == 1
    assert "PERSON_REQUIRED" in capsys.readouterr().out
    assert names(school) == []


def test_9_a_confirmed_candidate_that_changes_nothing_says_which_of_two_things_held_it_up(school: School) -> None:
    candidates, layer = school.engine.candidates, school.engine.layers.user()
    school.engine.store.add(draft("short", "Likes short trousers"))
    rule = candidates.propose(Proposal(layer, Action.ELEVATE, Origin.CONSOLIDATION, "short", "Be short")).candidate
    assert rule is not None
    with pytest.raises(NameConflict):
        candidates.confirm(rule.id, rule.digest)
    secret = Edits(description="The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    with pytest.raises(SensitiveContent):
        candidates.confirm(rule.id, rule.digest, "be-short", secret)
    assert [each.id for each in candidates.pending()] == [rule.id]
    assert candidates.confirm(rule.id, rule.digest, "be-short").name == "be-short"
    assert candidates.pending() == []


def test_10_a_late_editor_is_told_both_versions_and_overwrites_nothing(school: School) -> None:
    entry = school.learned("editor", "Uses vim")
    school.engine.store.edit(entry.id, Changes(description="Uses helix"), expected_version=1)
    with pytest.raises(VersionConflict) as late:
        school.engine.store.edit(entry.id, Changes(description="Uses emacs"), expected_version=1)
    assert (late.value.details["current_version"], late.value.details["base_version"]) == (2, 1)
    assert school.engine.listing.entry(entry.id).description == "Uses helix"


def test_11_an_expired_memory_is_out_of_search_and_block_but_still_there_until_its_day_is_moved(school: School) -> None:
    entry = school.engine.store.add(draft("contract", "The contract with ACME", valid_until=date(2020, 1, 31)))
    assert school.engine.search("contract ACME").status is SearchStatus.EMPTY
    assert school.engine.inject(Request(AgentProfile("main", "", ""))).status == "expired"
    assert school.engine.listing.entry(entry.id).state(school.place.clock.now_ms()) is State.EXPIRED
    school.engine.store.edit(entry.id, Changes(valid_until=date(2090, 1, 31)))
    assert [hit.entry.id for hit in school.engine.search("contract ACME").hits] == [entry.id]


def test_12_a_detail_deleted_elsewhere_is_an_answer_at_once_not_a_wait(school: School) -> None:
    entry = school.learned("editor", "Uses vim")
    other = school.open()
    school.engine.store.delete([entry.id])
    with pytest.raises(NotFound):
        other.listing.entry(entry.id)
    with pytest.raises(NotFound):
        other.agent_memory.recall(CLAUDE, entry.id)
