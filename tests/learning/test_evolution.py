"""What a turn does to the memories that are there: added, changed, ended, left alone, or put before the person (02 §4)."""

from typing import Any

import pytest

from engine.memory.gate_log import GateLog
from engine.memory.model import AuthorRole, Changes, MemoryType, Scope, State
from engine.memory.retrieval import SearchStatus
from tests.learning.conftest import DECIDES, School, item
from tests.support import draft, state_of


def test_moved_updates_the_entry_and_keeps_its_id_name_and_past(school: School) -> None:
    old = school.learned("build-tool", "项目用 webpack 构建", scope="project", type="project", entities=["webpack"])
    school.decides("UPDATE", old.id)
    told = school.turn(
        item(
            "build-moved", "已从 webpack 迁到 vite", scope="project", type="project", entities=["vite"], confidence=0.95
        ),
        user="我们已经从 webpack 迁到 vite 了",
    )
    assert told == [{"name": "build-moved", "scope": "project", "outcome": "updated", "id": old.id}]
    now = school.engine.listing.entry(old.id)
    assert (now.name, now.description, now.version, now.created_at) == (
        "build-tool",
        "已从 webpack 迁到 vite",
        2,
        old.created_at,
    )
    assert now.entities == ("vite",)
    assert now.author_role is AuthorRole.EXTRACTION
    past = school.engine.history.revisions(old.id)
    assert [each.entry.description for each in past] == ["项目用 webpack 构建"]


def test_also_does_is_added_beside_it(school: School) -> None:
    old = school.learned("frontend", "The frontend uses React", scope="project", type="project")
    school.decides("ADD")
    told = school.turn(item("admin-pages", "The admin frontend also uses Vue", scope="project", type="project"))
    assert told[0]["outcome"] == "added"
    assert state_of(school.engine, old.id) == "active"


def test_said_again_is_known_without_asking_twice(school: School) -> None:
    old = school.learned("answers", "Prefers short answers")
    told = school.turn(item("short-answers", "prefers  SHORT answers."))
    assert told == [{"name": "short-answers", "scope": "user", "outcome": "noop", "id": old.id}]
    assert school.asked(DECIDES) == 0


def test_what_holds_for_the_person_everywhere_is_not_said_again_for_one_project(school: School) -> None:
    old = school.learned("answers", "Prefers short answers")
    told = school.turn(item("answers-here", "Prefers short answers", scope="project", type="project"))
    assert (told[0]["outcome"], told[0]["id"]) == ("noop", old.id)


def test_forget_this_ends_the_entry_and_stores_nothing(school: School) -> None:
    old = school.learned("editor", "Uses vim as the editor")
    school.decides("DELETE", old.id)
    told = school.turn(item("forget-editor", "No longer uses vim as the editor"))
    assert told == [{"name": "forget-editor", "scope": "user", "outcome": "invalidated", "id": old.id}]
    after = school.engine.listing.entry(old.id)
    assert after.state(school.place.clock.now_ms()) is State.INVALID
    assert after.superseded_by is None
    assert school.engine.search("vim editor").status is SearchStatus.EMPTY


def test_an_end_with_a_replacement_is_one_change_that_can_be_undone(school: School) -> None:
    old = school.learned("editor", "Uses vim as the editor")
    school.decides("DELETE", old.id, replace=True)
    told = school.turn(item("editor", "Writes everything in helix instead, the editor"))
    assert told[0]["outcome"] == "invalidated"
    after = school.engine.listing.entry(old.id)
    new = school.entry("editor")
    assert after.superseded_by == new.id
    assert new.description.startswith("Writes everything in helix")
    group = school.engine.history.changes(1)[0].group
    school.engine.history.undo(group)
    assert school.entry("editor").id == old.id
    assert state_of(school.engine, new.id) == "archived"


def test_a_correction_may_lower_confidence(school: School) -> None:
    old = school.learned("team", "The team has five people", confidence=0.95)
    school.decides("UPDATE", old.id)
    school.turn(item("team", "The team has perhaps six people", confidence=0.65))
    assert school.engine.listing.entry(old.id).confidence == 0.65


def test_what_was_said_earlier_never_overwrites_what_was_said_later(school: School) -> None:
    early = school.place.clock.now_ms()
    new = school.learned("bundler", "The bundler is vite")
    school.decides("UPDATE", new.id)
    told = school.turn(item("bundler-old", "The bundler is webpack"), said_at=early)
    assert (told[0]["outcome"], told[0]["reason"]) == ("queued_for_review", "said_before_it")
    assert school.engine.listing.entry(new.id).description == "The bundler is vite"


def test_jobs_that_waited_long_still_go_by_when_things_were_said(school: School) -> None:
    said = school.place.clock.now_ms()
    school.place.clock.advance(days=1)
    old = school.learned("bundler", "The bundler is webpack")
    assert old.valid_from > said
    school.decides("UPDATE", old.id)
    assert school.turn(item("bundler", "The bundler is vite"))[0]["outcome"] == "updated"


def test_one_project_never_touches_another(school: School) -> None:
    here = school.learned("build-tool", "Builds with webpack", scope="project", type="project")
    beta = school.place.project.parent / "beta"
    beta.mkdir()
    school.engine.bind(beta)
    told = school.turn(item("build-tool", "Builds with vite", scope="project", type="project"))
    assert told[0]["outcome"] == "added"
    assert school.asked(DECIDES) == 0
    school.engine.bind(school.place.project)
    assert school.entry("build-tool").id == here.id
    assert school.entry("build-tool").description == "Builds with webpack"


def test_repeats_within_a_batch_are_one_memory(school: School) -> None:
    told = school.turn(
        item("short", "Prefers short answers"),
        item("short-again", "prefers short answers"),
        item("tabs", "Indents with tabs"),
    )
    assert [(each["outcome"], each.get("gate")) for each in told] == [
        ("added", None),
        ("dropped", "duplicate"),
        ("added", None),
    ]


@pytest.mark.parametrize("verb", ["UPDATE", "DELETE"])
def test_what_a_person_wrote_is_put_before_them_instead(school: School, verb: str) -> None:
    mine = school.engine.store.add(draft("editor", "Uses vim as the editor"))
    school.decides(verb, mine.id)
    told = school.turn(item("editor-now", "Uses helix as the editor"))
    assert told[0]["outcome"] == "queued_for_review"
    assert school.engine.listing.entry(mine.id) == mine
    waiting = school.engine.candidates.pending()
    assert [(each.action.value, each.target.id if each.target else None) for each in waiting] == [
        (verb.lower(), mine.id)
    ]
    school.decides(verb, mine.id)
    again = school.turn(item("editor-now", "Uses helix as the editor"), user="said once more")
    assert (again[0]["outcome"], again[0]["gate"]) == ("dropped", "duplicate")


def test_a_learned_entry_that_a_person_has_edited_is_theirs_from_then_on(school: School) -> None:
    old = school.learned("editor", "Uses vim as the editor")
    school.engine.store.edit(old.id, Changes(description="Uses neovim as the editor"))
    school.decides("UPDATE", old.id)
    assert school.turn(item("editor", "Uses helix as the editor"))[0]["outcome"] == "queued_for_review"


def test_an_exact_name_never_gets_a_second_entry_whatever_the_model_says(school: School) -> None:
    old = school.learned("editor", "Uses vim as the editor")
    school.decides("ADD")
    told = school.turn(item("editor", "The editor is helix"))
    assert (told[0]["outcome"], told[0]["id"]) == ("updated", old.id)


UNSURE: list[Any] = [
    "I am not sure.",
    '{"decision": "MERGE", "targetId": "usr_00000001"}',
    '{"decision": "UPDATE", "targetId": "usr_ffffffff", "reason": "?"}',
    "",
]


@pytest.mark.parametrize("answer", UNSURE)
def test_an_answer_that_decides_nothing_adds(school: School, answer: str) -> None:
    from spark_tui.demo.steps import Say, Shape

    old = school.learned("editor", "Uses vim as the editor")
    school.server.script.when(DECIDES, Say(answer, shape=Shape.AS_IS), times=1)
    assert school.turn(item("editor-two", "Uses helix as the second editor"))[0]["outcome"] == "added"
    assert school.engine.listing.entry(old.id) == old


def test_after_a_failed_call_names_decide(school: School) -> None:
    from spark_tui.demo.steps import Fail

    learned = school.learned("editor", "Uses vim as the editor")
    mine = school.engine.store.add(draft("shell", "Uses zsh as the shell"))
    school.server.script.when(DECIDES, Fail(500))
    told = school.turn(
        item("editor", "Uses helix as the editor"),
        item("shell", "Uses fish as the shell"),
        item("pager", "Uses less as the pager for the shell"),
    )
    assert [each["outcome"] for each in told] == ["updated", "queued_for_review", "added"]
    assert (told[0]["id"], school.engine.listing.entry(mine.id)) == (learned.id, mine)


def test_an_expired_holder_of_a_name_gives_way_to_the_new_fact(school: School) -> None:
    from datetime import date

    old = school.engine.store.add(draft("contract", "The contract ends in May", valid_until=date(2020, 5, 31)))
    told = school.turn(item("contract", "The contract was renewed for good"))
    assert told[0]["outcome"] == "added"
    after = school.engine.listing.entry(old.id)
    assert (after.state(school.place.clock.now_ms()), after.superseded_by) == (State.INVALID, told[0]["id"])
    assert [hit.entry.id for hit in school.engine.search("contract renewed").hits] == [told[0]["id"]]


def test_a_full_layer_drops_and_says_so(school: School) -> None:
    school.configure(memory__quota__user=2)
    school.learned("one", "Likes tea with milk")
    school.learned("two", "Lives in Shanghai")
    told = school.turn(item("three", "Speaks German"))
    assert (told[0]["outcome"], told[0]["gate"]) == ("dropped", "quota")
    assert [each.gate for each in GateLog(school.engine.database).recent(1)] == ["quota"]


def test_a_full_layer_may_let_the_least_useful_learned_entry_go_but_never_feedback_nor_a_persons(
    school: School,
) -> None:
    school.configure(memory__quota__user=3, memory__quotaPolicy="evict")
    mine = school.engine.store.add(draft("mine", "My own old words"))
    rule = school.learned("rule", "Never commit by yourself", type="feedback", confidence=0.61)
    weak = school.learned("weak", "Perhaps likes tea", confidence=0.62)
    told = school.turn(item("strong", "Speaks German", confidence=0.95))
    assert told[0]["outcome"] == "added"
    assert [state_of(school.engine, each.id) for each in (mine, rule, weak)] == ["active", "active", "archived"]
    group = school.engine.history.changes(1)[0].group
    assert {each.action for each in school.engine.history.changes(10, group)} == {"add", "evict"}


def test_each_learned_entry_says_where_it_comes_from(school: School) -> None:
    told = school.turn(
        item("rule", "Never commit by yourself", type="feedback", evidence="never commit by yourself",
             body="**Why:** it was lost once\n**How to apply:** ask"),
        item("guess", "Likes Rust", evidence="I love Rust so much"),
        user="Please never commit by yourself, it was lost once.", session="s1", turn="t1", agent="codex",
    )  # fmt: skip
    rule, guess = (school.engine.listing.entry(str(each["id"])) for each in told)
    assert (rule.type, rule.scope, rule.source.value) == (MemoryType.FEEDBACK, Scope.USER, "extraction")
    assert (rule.source_session_id, rule.source_turn_id) == ("s1", "t1")
    assert rule.extraction_model == "mine:scripted"
    assert (rule.evidence_status, guess.evidence_status) == ("verified", "unverified")


def test_a_members_reply_goes_to_its_own_agent(school: School) -> None:
    told = school.turn(
        item("review-style", "Reviews small commits first", scope="agent", type="feedback"),
        agent="reviewer", is_member=True,
    )  # fmt: skip
    entry = school.engine.listing.entry(str(told[0]["id"]))
    assert (entry.scope, entry.scope_ref) == (Scope.AGENT, "reviewer")
