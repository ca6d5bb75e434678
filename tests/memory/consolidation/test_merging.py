"""MERGE: one entry takes in what the others say, nothing is lost, nobody's newer words are overwritten (02 §8)."""

import signal
from datetime import date

import pytest

from engine.errors import ModelFailed
from engine.memory.consolidation.model import Skipped
from engine.memory.model import AuthorRole, Changes, MemoryType, State
from engine.providers.chat import ChatReply, ChatRequest
from engine.storage.faults import VARIABLE, Step
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail
from tests.memory.candidates.proposing import SECRET
from tests.memory.consolidation.asking import actions, asking, consolidated, extracted, merge, shown_ids
from tests.support import Place, complaints, draft, durable, everything, matches, run_python, run_sql, state_of


def test_the_kept_entry_keeps_its_words_and_takes_in_the_full_texts_of_the_others(
    place: Place, model_server: ModelServer
) -> None:
    with place.open() as engine:
        keep = extracted(engine, "pnpm", "uses pnpm", "The body.", entities=("pnpm",), confidence=0.7)
        long = "meadowlark " * 500
        two = extracted(engine, "package-manager", "the package manager is pnpm", long, entities=("Node.js", "PNPM"))
        three = extracted(engine, "no-npm", "pnpm instead of npm", confidence=0.9)
        place.clock.advance(days=1)
        report = consolidated(engine, model_server, actions(merge(keep, three, two)))
        [merged] = report.merged
        assert (merged.keep, merged.ids, report.calls) == (keep.id, (two.id, three.id), 1)
        now = engine.listing.entry(keep.id)
        assert (now.name, now.description, now.confidence, now.type) == ("pnpm", "uses pnpm", 0.7, MemoryType.USER)
        assert (now.version, now.created_at, now.entities) == (2, keep.created_at, ("pnpm", "Node.js"))
        assert engine.listing.body(keep.id) == (
            "The body.\n\n"
            f"## Merged: package-manager\n\nthe package manager is pnpm\n\n{long.strip()}\n\n"
            "## Merged: no-npm\n\npnpm instead of npm\n"
        )
        for other in (two, three):
            gone = engine.listing.entry(other.id)
            assert (gone.state(place.clock.now_ms()), gone.superseded_by) == (State.INVALID, keep.id)
            assert gone.invalid_at == place.clock.now_ms()
            assert engine.listing.body(other.id) == (long if other is two else "")
            assert place.path(other).exists()
        edges = {(each.from_id, each.to_id, each.kind) for each in engine.history.derivations(keep.id)}
        assert edges == {(two.id, keep.id, "merge"), (three.id, keep.id, "merge")}
        assert matches(engine, "meadowlark") == [keep.id]
        assert complaints(place, engine) == []


def test_headings_are_chinese_in_a_chinese_memory(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        keep, other = (
            extracted(engine, "包管理", "用 pnpm 管理依赖"),
            extracted(engine, "依赖", "依赖用 pnpm 安装", "详情"),
        )
        consolidated(engine, model_server, actions(merge(keep, other)))
        assert engine.listing.body(keep.id) == "## 已合并：依赖\n\n依赖用 pnpm 安装\n\n详情\n"


def test_a_merge_is_one_line_of_the_feed_for_each_entry_and_is_undone_as_one(
    place: Place, model_server: ModelServer
) -> None:
    with place.open() as engine:
        keep, one, two = (extracted(engine, name, body=f"body of {name}") for name in ("keep", "one", "two"))
        before = durable(engine)
        report = consolidated(engine, model_server, actions(merge(keep, one, two)))
        lines = engine.history.changes(group=report.merged[0].group)
        assert {(line.id, line.action, line.author) for line in lines} == {
            (each.id, "merge", AuthorRole.CONSOLIDATION) for each in (keep, one, two)
        }
        engine.history.undo(report.merged[0].group)
        for each in (keep, one, two):
            assert (state_of(engine, each.id), engine.listing.body(each.id)) == ("active", before[each.id][1])
        assert complaints(place, engine) == []


@pytest.mark.parametrize("which", ["keep", "other"])
@pytest.mark.parametrize("how", ["edit", "file", "archive", "delete"])
def test_what_a_person_does_during_the_model_call_survives(
    place: Place, model_server: ModelServer, which: str, how: str
) -> None:
    with place.open() as engine:
        keep, other, third, fourth = (extracted(engine, name) for name in ("keep", "other", "third", "fourth"))
        touched = keep if which == "keep" else other

        def meanwhile() -> None:
            match how:
                case "edit":
                    engine.store.edit(touched.id, Changes(description="says the person's words"))
                case "file":
                    path = place.path(touched)
                    path.write_text(
                        path.read_text("utf-8").replace(touched.description, "says the person's words"), "utf-8"
                    )
                case "archive":
                    engine.store.archive([touched.id])
                case "delete":
                    engine.store.delete([touched.id])

        wanted = actions(merge(keep, other), merge(third, fourth))
        report = consolidated(engine, model_server, wanted, meanwhile=meanwhile)
        assert report.skipped == (Skipped("merge", "moved", (keep.id, other.id)),)
        assert [each.keep for each in report.merged] == [third.id]  # the others go on
        untouched = other if which == "keep" else keep
        assert state_of(engine, untouched.id) == "active"
        assert engine.listing.body(untouched.id) == ""
        if how in ("edit", "file"):
            assert engine.listing.entry(touched.id).description == "says the person's words"
        assert complaints(place, engine) == []
        again = consolidated(engine, model_server, actions(merge(keep, other)))
        assert bool(again.merged) is (how in ("edit", "file"))


def test_a_persons_own_entry_is_the_one_that_is_kept_and_stays_the_persons(
    place: Place, model_server: ModelServer
) -> None:
    with place.open() as engine:
        learnt = extracted(engine, "learnt", "uses pnpm")
        typed = engine.store.add(draft("typed", "always pnpm, never npm", "mine"))
        report = consolidated(engine, model_server, actions(merge(learnt, typed)))
        assert (report.merged[0].keep, report.merged[0].ids) == (typed.id, (learnt.id,))
        kept = engine.listing.entry(typed.id)
        assert (kept.description, kept.author_role) == ("always pnpm, never npm", AuthorRole.MANUAL_USER)
        assert engine.history.changes(limit=1)[0].author is AuthorRole.CONSOLIDATION


def test_among_entries_of_one_kind_of_author_the_models_choice_is_kept(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        one, two = (engine.store.add(draft(name, f"typed {name}", name)) for name in ("one", "two"))
        consolidated(engine, model_server, actions(merge(one, two)))
        assert (state_of(engine, one.id), state_of(engine, two.id)) == ("active", "invalid")
        assert engine.listing.body(one.id) == "one\n\n## Merged: two\n\ntyped two\n\ntwo\n"


@pytest.mark.parametrize("odd", ["feedback", "expiring"])
def test_entries_that_are_treated_differently_are_not_joined(place: Place, model_server: ModelServer, odd: str) -> None:
    fields = {"type": MemoryType.FEEDBACK} if odd == "feedback" else {"valid_until": date(2030, 1, 1)}
    with place.open() as engine:
        keep, alike, other = extracted(engine, "keep"), extracted(engine, "alike"), extracted(engine, "other", **fields)
        report = consolidated(engine, model_server, actions(merge(keep, other, alike)))
        assert report.merged[0].ids == (alike.id,)
        assert state_of(engine, other.id) == "active"
        report = consolidated(engine, model_server, actions(merge(keep, other)))
        assert report.skipped == (Skipped("merge", "unlike", (keep.id, other.id)),)


def test_a_secret_an_older_gate_let_in_is_not_carried_into_another_entry(
    place: Place, model_server: ModelServer
) -> None:
    with place.open() as engine:
        keep, other = extracted(engine, "keep", body="kept"), extracted(engine, "other", body="harmless")
    run_sql(place.home.database, f"UPDATE memory_entry SET body = 'it is {SECRET}' WHERE id = '{other.id}'")
    with place.open() as engine:
        report = consolidated(engine, model_server, actions(merge(keep, other)))
        assert report.skipped == (Skipped("merge", "sensitive", (keep.id, other.id)),)
        assert (engine.listing.body(keep.id), state_of(engine, other.id)) == ("kept", "active")


RUN = """
import sys
from pathlib import Path
from engine.paths import find_home
from engine.runtime import open_engine
from tests.memory.consolidation.asking import openai
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    model = openai(sys.argv[3])
    engine.consolidation.run("user", lambda request: engine.loop.run(model.complete(request)), 32000)
"""
STEPS = [*map(str, (Step.APPLIED, Step.RENAMED)), f"{Step.RENAMED}:2", f"{Step.RENAMED}:3", str(Step.COMMITTED)]
LATE = list(Step)[list(Step).index(Step.RENAMED) :]


@pytest.mark.parametrize("step", STEPS)
def test_a_run_killed_at_any_step_of_a_merge_has_merged_all_or_none(
    place: Place, model_server: ModelServer, step: str
) -> None:
    with place.open() as engine:
        keep, one, two = (extracted(engine, name, body=f"body of {name}") for name in ("keep", "one", "two"))
        before = durable(engine)
    model_server.then(actions(merge(keep, one, two)))
    done = run_python(RUN, place.home.root, place.project, model_server.base_url, **{VARIABLE: step})
    assert done.returncode == -signal.SIGKILL, f"{step} was not reached: {done.stderr}"
    place.clock.advance(days=10_000)
    with place.open() as engine:
        assert complaints(place, engine) == []
        if step.partition(":")[0] in LATE:
            assert [state_of(engine, each.id) for each in (keep, one, two)] == ["active", "invalid", "invalid"]
            assert engine.listing.body(keep.id).count("## Merged: ") == 2
            assert {each.kind for each in engine.history.derivations(keep.id)} == {"merge"}
            engine.history.undo(engine.history.changes(limit=1)[0].group)
            assert [state_of(engine, each.id) for each in (keep, one, two)] == ["active"] * 3
        else:
            assert durable(engine) == before
            report = consolidated(engine, model_server, actions(merge(keep, one, two)))
            assert len(report.merged) == 1
        assert {each.id for each in everything(engine)} == {keep.id, one.id, two.id}
        assert complaints(place, engine) == []


def test_what_a_run_did_before_a_call_that_fails_stays_done(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        for n in range(40):
            extracted(engine, f"fact-{n:03}", f"fact number {n}", "word " * 150)
        asked = asking(engine, model_server)

        def ask(request: ChatRequest) -> ChatReply:
            shown = shown_ids(request.messages[0].text)
            model_server.then(Fail(400, message="no") if model_server.requests else actions(merge(*shown[:2])))
            return asked(request)

        with pytest.raises(ModelFailed):
            engine.consolidation.run("user", ask, 8_000)
        assert [state_of(engine, each.id) for each in everything(engine)].count("invalid") == 1
        assert len(model_server.requests) == 2
        assert complaints(place, engine) == []
