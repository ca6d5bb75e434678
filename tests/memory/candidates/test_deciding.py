"""Yes and no: what a confirmation stores, and everything that leaves a candidate waiting as it was (02 §8)."""

import subprocess
import sys
from collections.abc import Callable
from datetime import date

import pytest

from engine.clock import SystemClock
from engine.errors import (
    DigestMismatch,
    NameConflict,
    NotFound,
    QuotaExceeded,
    SensitiveContent,
    SparkError,
    ValidationFailed,
    VersionConflict,
)
from engine.memory.candidates.model import Action, Candidate, CandidateState, Edits, Origin, digest_of, quoted
from engine.memory.model import AuthorRole, Changes, Entry, MemoryType, Scope, Source
from engine.runtime import Engine
from tests.memory.candidates.proposing import SECRET, forget, proposal, proposed, update_of
from tests.support import (
    REPOSITORY,
    Place,
    child_environment,
    complaints,
    draft,
    durable,
    everything,
    matches,
    state_of,
)


def state(engine: Engine, candidate: Candidate) -> CandidateState:
    return engine.candidates.get(candidate.id).candidate.state


def test_a_confirmed_rule_is_feedback_with_its_sources_below_it(place: Place) -> None:
    with place.open() as engine:
        one = engine.store.add(draft("short-mails", "keeps mails short"))
        two = engine.store.add(draft("short-answers", "wants short answers"))
        candidate = proposed(engine, sources=(quoted(one), quoted(two)), confidence=0.8)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (entry.type, entry.source, entry.author_role) == (
            MemoryType.FEEDBACK, Source.CONSOLIDATION, AuthorRole.MANUAL_USER,
        )  # fmt: skip
        assert (entry.name, entry.description, entry.confidence) == ("a-rule", "answer briefly", 0.8)
        assert engine.listing.body(entry.id) == (
            "**Why:** time is short\n\n## Elevated from\n\n"
            f"- [short-mails]({one.file}) — keeps mails short\n- [short-answers]({two.file}) — wants short answers\n"
        )
        edges = {(each.from_id, each.to_id, each.kind) for each in engine.history.derivations(entry.id)}
        assert edges == {(one.id, entry.id, "elevate"), (two.id, entry.id, "elevate")}
        assert entry.links == (one.id, two.id)
        assert matches(engine, "briefly") == [entry.id]
        told = engine.candidates.get(candidate.id).candidate
        assert (told.state, told.result_id) == (CandidateState.CONFIRMED, entry.id)
        assert told.operation == engine.history.changes(limit=1)[0].group
        assert engine.candidates.pending() == []
        assert complaints(place, engine) == []


@pytest.mark.parametrize(
    ("language", "description", "heading"),
    [
        ("auto", "answer briefly", "## Elevated from"),
        ("auto", "用 pnpm 管理依赖，提交前跑 lint", "## 升华来源"),
        ("auto", "短い返事が好き", "## Elevated from"),
        ("zh", "answer briefly", "## 升华来源"),
        ("en", "先给结论", "## Elevated from"),
    ],
)
def test_the_heading_of_the_sources_speaks_the_persons_language(
    place: Place, language: str, description: str, heading: str
) -> None:
    place.configure(ui__language=language)
    with place.open() as engine:
        source = engine.store.add(draft("n"))
        candidate = proposed(engine, "a-rule", description, body="", sources=(quoted(source),))
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert engine.listing.body(entry.id).startswith(f"{heading}\n\n- [n]({source.file})")


def test_what_was_not_shown_is_not_stored(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        with pytest.raises(DigestMismatch) as caught:
            engine.candidates.confirm(candidate.id, digest_of("a-rule", "answer briefly", "other"))
        assert caught.value.details == {"digest": candidate.digest}
        assert (everything(engine), state(engine, candidate)) == ([], CandidateState.PENDING)


def _rename(engine: Engine, candidate: Candidate) -> Entry:
    return engine.candidates.confirm(candidate.id, candidate.digest, name="another-name")


def _plain(engine: Engine, candidate: Candidate) -> Entry:
    return engine.candidates.confirm(candidate.id, candidate.digest)


def _edit(description: str | None = None, body: str | None = None) -> Callable[[Engine, Candidate], Entry]:
    def edit(engine: Engine, candidate: Candidate) -> Entry:
        return engine.candidates.confirm(candidate.id, candidate.digest, edits=Edits(description, body))

    return edit


SAME = ("answer briefly", "**Why:** time is short")
OTHER = ("answers at length", "")
# What holds the name already; what the person does; the error, or the name, description and number of entries after it.
MATRIX: list[tuple[str, tuple[str, str] | None, Callable[[Engine, Candidate], Entry], object]] = [
    ("free name", None, _plain, ("a-rule", "answer briefly", 1)),
    ("free name, renamed", None, _rename, ("another-name", "answer briefly", 1)),
    ("same name, same content", SAME, _plain, ("a-rule", "answer briefly", 1)),
    ("same name, same content, renamed", SAME, _rename, ("another-name", "answer briefly", 2)),
    ("same name, other content", OTHER, _plain, NameConflict),
    ("same name, other content, renamed", OTHER, _rename, ("another-name", "answer briefly", 2)),
    ("same name, edited to be the same", OTHER, _edit(*OTHER), ("a-rule", "answers at length", 1)),
    ("edited", None, _edit("answer in one line"), ("a-rule", "answer in one line", 1)),
    ("edited body", None, _edit(body="**Why:** because"), ("a-rule", "answer briefly", 1)),
    ("edited to hold a secret", None, _edit(body=f"use {SECRET}"), SensitiveContent),
    ("edited to be no description", None, _edit("two\nlines"), ValidationFailed),
    ("renamed to no name", None, lambda e, c: e.candidates.confirm(c.id, c.digest, name="No Slug"), ValidationFailed),
]


@pytest.mark.parametrize(("holder", "decide", "expected"), [row[1:] for row in MATRIX], ids=[row[0] for row in MATRIX])
def test_every_way_to_confirm_stores_what_was_seen_or_leaves_it_waiting(
    place: Place,
    holder: tuple[str, str] | None,
    decide: Callable[[Engine, Candidate], Entry],
    expected: type[SparkError] | tuple[str, str, int],
) -> None:
    with place.open() as engine:
        source = engine.store.add(draft("a-source", scope=Scope.USER))
        candidate = proposed(engine, sources=(quoted(source),))
        if holder is not None:
            engine.store.add(draft("a-rule", *holder))
        before = durable(engine)
        if isinstance(expected, tuple):
            entry = decide(engine, candidate)
            assert (entry.name, entry.description, len(everything(engine)) - 1) == expected
            assert state(engine, candidate) is CandidateState.CONFIRMED
            assert engine.candidates.get(candidate.id).candidate.result_id == entry.id
            assert [each.from_id for each in engine.history.derivations(entry.id)] == [source.id]
        else:
            with pytest.raises(expected):
                decide(engine, candidate)
            assert (durable(engine), state(engine, candidate)) == (before, CandidateState.PENDING)
        assert complaints(place, engine) == []


def test_a_name_conflict_says_who_holds_the_name_and_renaming_settles_it(place: Place) -> None:
    with place.open() as engine:
        holder = engine.store.add(draft("a-rule", "made by hand"))
        candidate = proposed(engine)
        with pytest.raises(NameConflict) as caught:
            engine.candidates.confirm(candidate.id, candidate.digest)
        assert caught.value.details == {"id": holder.id, "name": "a-rule"}
        assert engine.candidates.confirm(candidate.id, candidate.digest, name="a-rule-2").name == "a-rule-2"


def test_a_name_freed_by_hand_is_free(place: Place) -> None:
    with place.open() as engine:
        holder = engine.store.add(draft("a-rule", "made by hand"))
        candidate = proposed(engine)
        path = place.path(holder)
        path.write_text(path.read_text("utf-8").replace("name: a-rule", "name: renamed"), "utf-8")
        assert engine.candidates.confirm(candidate.id, candidate.digest).name == "a-rule"
        assert complaints(place, engine) == []


def test_an_expired_holder_gives_its_name_to_a_confirmed_rule(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("a-rule", "for a while", valid_until=date(2026, 1, 1)))
        candidate = proposed(engine)
        place.clock.advance(days=5)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (state_of(engine, entry.id), state_of(engine, old.id)) == ("active", "invalid")
        assert engine.listing.entry(old.id).superseded_by == entry.id


def test_the_edited_text_is_not_asked_again_either(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        entry = engine.candidates.confirm(candidate.id, candidate.digest, edits=Edits("answer in one line"))
        engine.store.archive([entry.id])
        for description in ("answer briefly", "answer in one line"):
            assert engine.candidates.propose(proposal(engine, "a-rule", description)).outcome == "asked_before"


def test_a_full_layer_refuses_and_the_candidate_waits(place: Place) -> None:
    place.configure(memory__quota__user=1)
    with place.open() as engine:
        entry = engine.store.add(draft("one"))
        candidate = proposed(engine)
        with pytest.raises(QuotaExceeded):
            engine.candidates.confirm(candidate.id, candidate.digest)
        assert state(engine, candidate) is CandidateState.PENDING
        engine.store.archive([entry.id])
        engine.candidates.confirm(candidate.id, candidate.digest)


@pytest.mark.parametrize("decision", ["confirm", "reject", "expire"])
def test_a_decided_candidate_cannot_be_decided_again(place: Place, decision: str) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        match decision:
            case "confirm":
                engine.candidates.confirm(candidate.id, candidate.digest)
            case "reject":
                assert engine.candidates.reject(candidate.id).state is CandidateState.REJECTED
                assert everything(engine) == []
            case "expire":
                place.clock.advance(days=30)
        before = durable(engine)
        with pytest.raises(ValidationFailed):
            engine.candidates.confirm(candidate.id, candidate.digest)
        with pytest.raises(ValidationFailed):
            engine.candidates.reject(candidate.id)
        assert durable(engine) == before
        with pytest.raises(NotFound):
            engine.candidates.reject("cnd_ffffffff")


def test_a_confirmed_update_takes_the_text_and_keeps_id_name_and_creation(place: Place) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly", "old body", entities=("React",)))
        place.clock.advance(days=1)
        candidate = update_of(engine, target)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (entry.id, entry.name, entry.created_at, entry.version) == (target.id, "style", target.created_at, 2)
        assert (entry.description, entry.confidence, entry.entities) == ("answers at length", 0.7, ("React",))
        assert engine.listing.body(entry.id) == "new body"
        assert [each.body for each in engine.history.revisions(entry.id)] == ["old body"]
        other = update_of(engine, entry, "third text")
        with pytest.raises(ValidationFailed):
            engine.candidates.confirm(other.id, other.digest, name="another-name")


@pytest.mark.parametrize("action", ["update", "delete"])
@pytest.mark.parametrize("by", ["edit", "archive", "hand"])
def test_a_target_that_moved_on_is_not_changed(place: Place, action: str, by: str) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = update_of(engine, target) if action == "update" else forget(engine, target)
        match by:
            case "edit":
                engine.store.edit(target.id, Changes(description="the person's newer words"))
            case "archive":
                engine.store.archive([target.id])
            case "hand":
                path = place.path(target)
                path.write_text(path.read_text("utf-8").replace("answers briefly", "by hand"), "utf-8")
        with pytest.raises(VersionConflict) as caught:
            engine.candidates.confirm(candidate.id, candidate.digest)
        gone = {"state": "archived"} if by == "archive" else {}
        assert caught.value.details == {"current_version": 2, "base_version": 1, **gone}
        assert state(engine, candidate) is CandidateState.PENDING
        shown = engine.candidates.get(candidate.id)
        assert (shown.target_changed, shown.target_gone) == (True, bool(gone))
        assert engine.listing.entry(target.id).version == 2


MAKERS = {"update": update_of, "forget": forget}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_difference_to_a_target_that_moved_on_is_confirmed_once_it_was_shown(place: Place, kind: str) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = MAKERS[kind](engine, target)
        engine.store.edit(target.id, Changes(description="the person's newer words"))
        shown = engine.candidates.get(candidate.id)
        assert (shown.target_changed, shown.target_version) == (True, 2)
        assert shown.candidate.digest == digest_of(*_texts(candidate), 2) != candidate.digest
        entry = engine.candidates.confirm(candidate.id, shown.candidate.digest)
        assert (entry.id, entry.version, state(engine, candidate)) == (target.id, 3, CandidateState.CONFIRMED)
        assert complaints(place, engine) == []


@pytest.mark.parametrize("kind", MAKERS)
def test_a_difference_that_changed_after_it_was_shown_is_not_confirmed(place: Place, kind: str) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = MAKERS[kind](engine, target)
        engine.store.edit(target.id, Changes(description="newer words"))
        seen = engine.candidates.get(candidate.id).candidate.digest
        engine.store.edit(target.id, Changes(description="still newer words"))
        with pytest.raises(DigestMismatch) as caught:
            engine.candidates.confirm(candidate.id, seen)
        assert caught.value.details == {"digest": engine.candidates.get(candidate.id).candidate.digest}
        assert engine.listing.entry(target.id).description == "still newer words"


@pytest.mark.parametrize("kind", MAKERS)
def test_a_candidate_whose_target_is_out_of_use_says_so_and_can_be_rejected(place: Place, kind: str) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = MAKERS[kind](engine, target)
        other = forget(engine, target) if kind == "update" else update_of(engine, target)
        engine.store.archive([target.id])
        shown = engine.candidates.get(candidate.id)
        assert (shown.target_gone, shown.candidate.digest) == (True, candidate.digest)
        assert engine.candidates.reject(candidate.id).state is CandidateState.REJECTED
        assert not engine.candidates.get(candidate.id).target_gone
        engine.store.unarchive([target.id])
        back = engine.candidates.get(other.id)
        assert (back.target_gone, back.target_version) == (False, 3)
        engine.candidates.confirm(other.id, back.candidate.digest)


def test_what_would_be_forgotten_is_shown_as_it_is_now(place: Place) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly", "old body"))
        candidate = forget(engine, target)
        engine.store.edit(target.id, Changes(description="newer words", body="new body\n"))
        shown = engine.candidates.get(candidate.id).candidate
        assert (shown.description, shown.body) == ("newer words", "new body")
        engine.candidates.confirm(candidate.id, shown.digest)
        assert state_of(engine, target.id) == "invalid"


def _texts(candidate: Candidate) -> tuple[str, str, str]:
    return candidate.name, candidate.description, candidate.body


def test_an_update_of_an_expired_target_becomes_an_entry_of_its_own(place: Place) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("address", "old street", valid_until=date(2026, 1, 1)))
        candidate = update_of(engine, target, "new street")
        place.clock.advance(days=5)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (entry.id != target.id, entry.name, state_of(engine, entry.id)) == (True, "address", "active")
        assert (state_of(engine, target.id), engine.listing.entry(target.id).superseded_by) == ("invalid", entry.id)


def test_a_confirmed_forgetting_invalidates_the_target_and_deletes_nothing(place: Place) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly", "body"))
        candidate = forget(engine, target)
        assert (candidate.description, candidate.replaces) == ("answers briefly", False)
        with pytest.raises(ValidationFailed):
            engine.candidates.confirm(candidate.id, candidate.digest, edits=Edits(body="edited"))
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (entry.id, state_of(engine, entry.id), entry.superseded_by) == (target.id, "invalid", None)
        assert engine.listing.body(target.id) == "body"


def test_a_replacement_and_what_it_replaces_change_together(place: Place) -> None:
    place.configure(memory__quota__user=1)
    with place.open() as engine:
        target = engine.store.add(draft("build", "builds with webpack"))
        candidate = proposed(
            engine, "build", "builds with vite", action=Action.DELETE, origin=Origin.EVOLUTION, target=quoted(target),
            replaces=True, type=MemoryType.PROJECT,
        )  # fmt: skip
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (entry.name, entry.description, entry.type) == ("build", "builds with vite", MemoryType.PROJECT)
        assert engine.listing.entry(target.id).superseded_by == entry.id
        assert len({each.group for each in engine.history.changes(limit=2)}) == 1
        assert complaints(place, engine) == []


def test_a_source_that_changed_does_not_stand_in_the_way_and_is_still_told(place: Place) -> None:
    with place.open() as engine:
        source = engine.store.add(draft("n", "first"))
        candidate = proposed(engine, sources=(quoted(source),))
        engine.store.edit(source.id, Changes(description="second"))
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert engine.candidates.get(candidate.id).sources[0].changed
        assert f"- [n]({source.file}) — second" in engine.listing.body(entry.id)


def test_an_import_keeps_its_source_and_type(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine, action=Action.ADD, origin=Origin.IMPORT, type=MemoryType.REFERENCE, body="")
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        assert (entry.source, entry.type, entry.confidence) == (Source.IMPORT, MemoryType.REFERENCE, 1.0)
        assert engine.listing.body(entry.id) == ""


DECIDE = """
import sys
from pathlib import Path
from engine.errors import SparkError
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    candidate = engine.candidates.get(sys.argv[3]).candidate
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        if sys.argv[4] == "confirm":
            engine.candidates.confirm(candidate.id, candidate.digest)
        else:
            engine.candidates.reject(candidate.id)
    except SparkError as error:
        print(error.code)
    else:
        print("done")
"""


@pytest.mark.parametrize("verbs", [("confirm", "confirm"), ("confirm", "reject")])
def test_of_two_processes_that_decide_at_once_one_does(place: Place, verbs: tuple[str, str]) -> None:
    place.clock.ms = SystemClock().now_ms()
    with place.open() as engine:
        candidate = proposed(engine)
    command = [sys.executable, "-c", DECIDE, str(place.home.root), str(place.project), candidate.id]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [
        subprocess.Popen([*command, verb], env=child_environment(), cwd=REPOSITORY, **pipes)  # type: ignore[call-overload]
        for verb in verbs
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [child.communicate(timeout=60)[0].strip() for child in children]
    assert sorted(told) == ["VALIDATION_FAILED", "done"]
    with place.open() as engine:
        confirmed = state(engine, candidate) is CandidateState.CONFIRMED
        assert confirmed is (verbs[told.index("done")] == "confirm")
        assert len(everything(engine)) == confirmed
        assert complaints(place, engine) == []
