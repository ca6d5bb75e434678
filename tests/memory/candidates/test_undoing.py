"""A confirmation taken back puts its candidate before the person again; a crash leaves it pending or confirmed (02 §9)."""

import signal

import pytest

from engine.errors import DigestMismatch
from engine.memory.candidates.model import Action, Candidate, CandidateState, Edits, Origin, digest_of, quoted
from engine.memory.model import Changes, Entry
from engine.runtime import Engine
from engine.storage.faults import VARIABLE, Step
from tests.memory.candidates.proposing import forget, proposed, update_of
from tests.support import Place, complaints, draft, durable, everything, run_python, state_of

LATE = list(Step)[list(Step).index(Step.RENAMED) :]


def replacement(engine: Engine, target: Entry) -> Candidate:
    return proposed(
        engine, "style", "answers in verse", action=Action.DELETE, origin=Origin.EVOLUTION, target=quoted(target),
        replaces=True,
    )  # fmt: skip


def elevated(engine: Engine, target: Entry) -> Candidate:
    return proposed(engine, sources=(quoted(target),))


KINDS = {"elevate": elevated, "update": update_of, "forget": forget, "replace": replacement}


def undo_last(engine: Engine) -> None:
    engine.history.undo(engine.history.changes(limit=1)[0].group)


@pytest.mark.parametrize("kind", KINDS)
def test_an_undone_confirmation_waits_again_and_can_be_confirmed_again(place: Place, kind: str) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly", "body"))
        candidate = KINDS[kind](engine, target)
        place.clock.advance(days=20)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        confirmed = {key: (fields["description"], body) for key, (fields, body) in durable(engine).items()}
        place.clock.advance(days=20)
        undo_last(engine)
        again = engine.candidates.get(candidate.id).candidate
        assert (again.state, again.result_id, again.operation) == (CandidateState.PENDING, None, None)
        assert again.wording == candidate.wording
        version = None if kind == "elevate" else engine.listing.entry(target.id).version
        assert again.digest == digest_of(again.name, again.description, again.body, version)
        assert not engine.candidates.get(candidate.id).target_changed
        assert (state_of(engine, target.id), engine.listing.entry(target.id).description) == (
            "active",
            "answers briefly",
        )
        second = engine.candidates.confirm(candidate.id, again.digest)
        if kind in ("update", "forget"):
            after = {key: (fields["description"], body) for key, (fields, body) in durable(engine).items()}
            assert (second.id, after) == (entry.id, confirmed)
        else:
            assert (second.description, second.id != entry.id) == (entry.description, True)
        assert complaints(place, engine) == []


def test_what_waits_again_is_the_text_that_was_confirmed(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        engine.candidates.confirm(candidate.id, candidate.digest, "renamed", Edits("in one line", "edited"))
        undo_last(engine)
        again = engine.candidates.get(candidate.id).candidate
        assert (again.name, again.description, again.body) == ("renamed", "in one line", "edited")
        assert again.digest == again.wording.digest != candidate.digest


def test_a_yes_to_a_difference_seen_long_ago_does_not_count_after_an_undo(place: Place) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = update_of(engine, target)
        engine.store.edit(target.id, Changes(description="answers in rhyme"))
        engine.candidates.confirm(candidate.id, engine.candidates.get(candidate.id).candidate.digest)
        undo_last(engine)
        assert engine.listing.entry(target.id).description == "answers in rhyme"
        with pytest.raises(DigestMismatch):
            engine.candidates.confirm(candidate.id, candidate.digest)
        again = engine.candidates.get(candidate.id)
        assert engine.candidates.confirm(candidate.id, again.candidate.digest).description == "answers at length"


def test_an_undo_that_is_refused_leaves_the_candidate_confirmed(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        group = engine.history.changes(limit=1)[0].group
        engine.store.edit(entry.id, Changes(description="edited since"))
        with pytest.raises(Exception, match="changed since"):
            engine.history.undo(group)
        assert engine.candidates.get(candidate.id).candidate.state is CandidateState.CONFIRMED
        assert not any(each.undone for each in engine.history.changes())


def test_an_undo_of_something_else_touches_no_candidate(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        engine.store.edit(entry.id, Changes(description="edited since"))
        undo_last(engine)
        assert engine.candidates.get(candidate.id).candidate.state is CandidateState.CONFIRMED


CONFIRM = """
import sys
from pathlib import Path
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    candidate = engine.candidates.get(sys.argv[3]).candidate
    engine.candidates.confirm(candidate.id, candidate.digest)
"""
UNDO = """
import sys
from pathlib import Path
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    engine.history.undo(sys.argv[3])
"""


def killed(place: Place, script: str, argument: str, step: str) -> None:
    done = run_python(script, place.home.root, place.project, argument, **{VARIABLE: step})
    assert done.returncode == -signal.SIGKILL, f"{step} was not reached: {done.stderr}"


STEPS = [*((str(step), step in LATE) for step in Step), (f"{Step.RENAMED}:2", True)]


@pytest.mark.parametrize(("step", "new"), STEPS, ids=[step for step, _ in STEPS])
def test_a_confirmation_killed_at_any_step_is_pending_or_confirmed_as_its_memory_is(
    place: Place, step: str, new: bool
) -> None:
    two_files = step.endswith(":2")
    place.clock.ms = _now()
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = replacement(engine, target) if two_files else elevated(engine, target)
    killed(place, CONFIRM, candidate.id, step)
    with place.open() as engine:
        told = engine.candidates.get(candidate.id).candidate
        others = [entry for entry in everything(engine) if entry.id != target.id]
        assert complaints(place, engine) == []
        assert (told.state, len(others)) == ((CandidateState.CONFIRMED, 1) if new else (CandidateState.PENDING, 0))
        if new:
            assert told.result_id == others[0].id
            assert told.body == ""
            kinds = {"supersede"} if two_files else {"elevate"}
            assert {each.kind for each in engine.history.derivations(others[0].id)} == kinds
        else:
            assert engine.candidates.confirm(candidate.id, candidate.digest).name == candidate.name
        assert complaints(place, engine) == []
        assert _notes(engine) == 0


@pytest.mark.parametrize("kind", ["elevate", "update"])
@pytest.mark.parametrize("step", Step)
def test_an_undo_killed_at_any_step_is_whole_or_never_was(place: Place, kind: str, step: Step) -> None:
    place.clock.ms = _now()
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = KINDS[kind](engine, target)
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        group = engine.history.changes(limit=1)[0].group
    killed(place, UNDO, group, step)
    with place.open() as engine:
        undone = step in LATE
        told = engine.candidates.get(candidate.id).candidate
        assert told.state is (CandidateState.PENDING if undone else CandidateState.CONFIRMED)
        assert engine.history.changes(group=group)[0].undone is undone
        assert engine.listing.entry(entry.id).version == entry.version + undone
        assert (told.digest == candidate.digest) is (kind == "elevate" or not undone)
        assert complaints(place, engine) == []


def _now() -> int:
    """The children have the machine's clock."""
    from engine.clock import SystemClock

    return SystemClock().now_ms()


def _notes(engine: Engine) -> int:
    with engine.database.read() as connection:
        return int(next(connection.execute("SELECT count(*) FROM memory_operation"))[0])
