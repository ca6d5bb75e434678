"""What is put before a person, once: gates at the door, a limit for models, thirty days (02 §8)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DigestMismatch, NotFound
from engine.events import CandidatesChanged
from engine.memory.candidates.model import Action, CandidateState, Origin, Outcome, Quoted, digest_of, quoted
from engine.memory.model import Changes, MemoryType, Scope
from tests.memory.candidates.proposing import SECRET, proposal, proposed, update_of
from tests.support import Place, draft, run_sql

ANY = [CandidateState(each) for each in CandidateState]


def test_a_proposal_waits_with_its_text_sources_and_digest(place: Place) -> None:
    with place.open() as engine:
        one, two = (engine.store.add(draft(name)) for name in ("one", "two"))
        candidate = proposed(engine, sources=(quoted(one), quoted(two)), model="m:1", reason="both say so")
        shown = engine.candidates.get(candidate.id)
        assert shown.candidate == candidate
        assert (candidate.state, candidate.scope, candidate.layer) == (CandidateState.PENDING, Scope.USER, "user")
        assert candidate.digest == digest_of("a-rule", "answer briefly", "**Why:** time is short")
        assert [(each.id, each.name, each.changed) for each in shown.sources] == [
            (one.id, "one", False), (two.id, "two", False),
        ]  # fmt: skip
        assert engine.candidates.pending() == [candidate]
    with place.open() as engine:
        assert engine.candidates.get(candidate.id).candidate == candidate


def test_proposing_writes_no_memory_and_says_that_something_waits(place: Place) -> None:
    with place.open() as engine:
        facts: list[object] = []
        engine.bus.listen(facts.append)
        proposed(engine)
        assert facts == [CandidatesChanged()]
        assert engine.history.changes() == []
        assert not place.home.memory_user.exists()


@pytest.mark.parametrize("decision", ["none", "confirm", "reject", "expire"])
def test_the_same_text_is_never_asked_again_in_its_layer(place: Place, decision: str) -> None:
    with place.open() as engine:
        candidate = proposed(engine)
        match decision:
            case "confirm":
                entry = engine.candidates.confirm(candidate.id, candidate.digest)
                engine.store.archive([entry.id])
            case "reject":
                engine.candidates.reject(candidate.id)
            case "expire":
                place.clock.advance(days=31)
        assert engine.candidates.propose(proposal(engine)).outcome is Outcome.ASKED_BEFORE
        agent = engine.layers.agent("codex")
        assert engine.candidates.propose(proposal(engine, layer=agent)).outcome is Outcome.QUEUED
        assert engine.candidates.propose(proposal(engine, body="another")).outcome is Outcome.QUEUED


def test_a_text_that_only_looks_different_is_the_same_text(place: Place) -> None:
    with place.open() as engine:
        proposed(engine, "a-rule", "answer briefly")
        again = engine.candidates.propose(
            proposal(engine, " A Rule! ", " answer\n briefly", body="**Why:** time is short\n")
        )
        assert again.outcome is Outcome.ASKED_BEFORE


def test_to_forget_a_text_is_another_question_than_to_keep_it(place: Place) -> None:
    with place.open() as engine:
        candidate = proposed(engine, "a-rule", "answer briefly", body="")
        entry = engine.candidates.confirm(candidate.id, candidate.digest)
        wanted = proposal(
            engine,
            "a-rule",
            "answer briefly",
            body="",
            action=Action.DELETE,
            origin=Origin.EVOLUTION,
            target=quoted(entry),
        )
        assert engine.candidates.propose(wanted).outcome is Outcome.QUEUED
        assert engine.candidates.propose(wanted).outcome is Outcome.ASKED_BEFORE


def test_models_may_have_twenty_waiting_in_a_layer_and_imports_are_not_counted(place: Place) -> None:
    with place.open() as engine:
        for n in range(25):
            proposed(engine, f"import-{n}", action=Action.ADD, origin=Origin.IMPORT)
        waiting = [proposed(engine, f"rule-{n}") for n in range(20)]
        full = proposal(engine, "one-more")
        assert engine.candidates.propose(full).outcome is Outcome.FULL
        assert engine.candidates.propose(proposal(engine, "m", action=Action.ADD, origin=Origin.IMPORT)).candidate
        other = engine.layers.agent("codex")
        assert engine.candidates.propose(proposal(engine, "one-more", layer=other)).candidate
        engine.candidates.reject(waiting[0].id)
        assert engine.candidates.propose(full).outcome is Outcome.QUEUED  # what was not shown may be asked later


def test_the_ones_that_ran_out_make_room(place: Place) -> None:
    with place.open() as engine:
        for n in range(20):
            proposed(engine, f"rule-{n}")
        place.clock.advance(days=30)
        assert engine.candidates.count() == 0
        assert engine.candidates.propose(proposal(engine, "one-more")).outcome is Outcome.QUEUED
        assert engine.candidates.count(states=[CandidateState.EXPIRED]) == 20


@pytest.mark.parametrize("place_of_it", ["description", "body", "reason", "evidence", "entities"])
def test_a_secret_does_not_even_wait(place: Place, place_of_it: str) -> None:
    text = f"the token is {SECRET}"
    fields = {place_of_it: (text,) if place_of_it == "entities" else text}
    with place.open() as engine:
        answer = engine.candidates.propose(proposal(engine, **fields))
        assert (answer.outcome, answer.candidate) == (Outcome.SENSITIVE, None)
        assert engine.candidates.count(states=None) == 0


def test_what_a_layer_says_already_word_for_word_is_not_asked(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("a-rule", "answer briefly", "body"))
        plain = {"action": Action.ADD, "origin": Origin.IMPORT}
        assert engine.candidates.propose(proposal(engine, body="body", **plain)).outcome is Outcome.KNOWN
        assert engine.candidates.propose(proposal(engine, body="more", **plain)).outcome is Outcome.QUEUED
        assert engine.candidates.propose(proposal(engine, body="body")).outcome is Outcome.QUEUED


def test_an_update_is_shown_with_the_name_and_the_body_it_will_keep(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("style", "answers briefly", "the body\n"))
        assert update_of(engine, entry).name == "style"
        assert update_of(engine, entry, "in verse", body="").body == "the body"
        gone = proposal(engine, action=Action.UPDATE, origin=Origin.EVOLUTION, target=Quoted("usr_ffffffff", 1))
        assert engine.candidates.propose(gone).outcome is Outcome.INVALID


def test_only_candidates_of_layers_seen_from_here_are_shown(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    with place.open() as engine:
        layer = engine.layers.for_writing(Scope.PROJECT, None)
        candidate = proposed(engine, layer=layer)
        assert [each.candidate.scope_ref for each in engine.candidates.window()] == [layer.ref]
    with place.open(other) as engine:
        assert engine.candidates.window(states=None) == []
        with pytest.raises(Exception, match="no candidate"):
            engine.candidates.get(candidate.id)
        with pytest.raises(Exception, match="no candidate"):
            engine.candidates.confirm(candidate.id, candidate.digest)


def test_sources_that_moved_on_are_told_by_name(place: Place) -> None:
    with place.open() as engine:
        edited, archived, same = (engine.store.add(draft(name)) for name in ("edited", "archived", "same"))
        candidate = proposed(engine, sources=tuple(map(quoted, (edited, archived, same))))
        engine.store.edit(edited.id, Changes(description="something else"))
        engine.store.archive([archived.id])
        shown = engine.candidates.get(candidate.id)
        assert {each.name: each.changed for each in shown.sources} == {"edited": True, "archived": True, "same": False}


@pytest.mark.parametrize("role", ["target", "source", "result"])
def test_a_deleted_memory_takes_along_every_candidate_that_holds_its_words(place: Place, role: str) -> None:
    with place.open() as engine:
        entry, kept = engine.store.add(draft("a-fact", "meadowlark")), proposed(engine, "another", "nightingale")
        match role:
            case "target":
                update_of(engine, entry, "meadowlark too")
            case "source":
                proposed(engine, sources=(quoted(entry),), body="quotes the meadowlark")
            case "result":
                candidate = proposed(engine, "result", "meadowlark")
                entry = engine.candidates.confirm(candidate.id, candidate.digest)
        engine.store.delete([entry.id])
        assert [each.candidate.id for each in engine.candidates.window(states=None)] == [kept.id]
    texts = run_sql(place.home.database, "SELECT name || description || body || reason FROM memory_candidate")
    assert not any("meadowlark" in text for (text,) in texts)


@pytest.mark.parametrize("decision", ["confirm", "reject", "expire"])
def test_a_decided_candidate_keeps_its_name_and_no_other_text(place: Place, decision: str) -> None:
    with place.open() as engine:
        candidate = proposed(engine, "a-rule", "meadowlark", body="meadowlark", evidence="meadowlark")
        match decision:
            case "confirm":
                engine.candidates.confirm(candidate.id, candidate.digest)
            case "reject":
                engine.candidates.reject(candidate.id)
            case "expire":
                place.clock.advance(days=30)
                proposed(engine, "another")
                [told] = engine.candidates.window(states=[CandidateState.EXPIRED])
                assert (told.candidate.body, told.candidate.decided_at) == ("", candidate.expires_at)
                place.clock.advance(days=30)
                proposed(engine, "a-third")
                engine.candidates.reject(engine.candidates.pending()[0].id)
        [*_, told] = engine.candidates.window(states=[each for each in ANY if each is not CandidateState.PENDING])
        assert (told.candidate.name, told.candidate.description, told.candidate.body) == ("a-rule", "", "")
    columns = "description || body || ifnull(evidence, '')"
    texts = run_sql(place.home.database, f"SELECT {columns} FROM memory_candidate WHERE name = 'a-rule'")
    assert texts == [("",)]


@pytest.mark.parametrize("days", [31, 60, 10_000])
def test_a_clock_that_ran_ahead_for_a_while_costs_no_waiting_text(place: Place, days: int) -> None:
    with place.open() as engine:
        candidate = proposed(engine, "a-rule", "answer briefly", entities=("mail",), evidence="said so")
        place.clock.advance(days=days)
        proposed(engine, "seen-ahead")
        place.clock.advance(days=1)
        proposed(engine, "seen-ahead-again")
        place.clock.advance(days=-days - 1)
        proposed(engine, "seen-today")
        assert engine.candidates.get(candidate.id).candidate == candidate
        assert engine.candidates.confirm(candidate.id, candidate.digest).description == "answer briefly"


def test_the_text_of_what_ran_out_goes_thirty_days_after_that_was_seen(place: Place) -> None:
    def text() -> list[tuple[object, ...]]:
        return run_sql(place.home.database, "SELECT state, body FROM memory_candidate WHERE name = 'a-rule'")

    with place.open() as engine:
        candidate = proposed(engine, body="meadowlark")
        for days, left in ((100, ("pending", "meadowlark")), (29, ("pending", "meadowlark")), (1, ("expired", ""))):
            place.clock.advance(days=days)
            proposed(engine, f"another-{days}")
            assert text() == [left]
        assert engine.candidates.get(candidate.id).candidate.decided_at == candidate.expires_at


def test_what_was_decided_half_a_year_ago_is_forgotten_and_still_not_asked_again(place: Place) -> None:
    with place.open() as engine:
        source = engine.store.add(draft("a-source"))
        candidate = proposed(engine, sources=(quoted(source),))
        engine.candidates.reject(candidate.id)
        place.clock.advance(days=179)
        proposed(engine, "another")
        assert engine.candidates.get(candidate.id).candidate.state is CandidateState.REJECTED
        place.clock.advance(days=1)
        proposed(engine, "a-third")
        with pytest.raises(NotFound):
            engine.candidates.get(candidate.id)
        assert engine.candidates.propose(proposal(engine)).outcome is Outcome.ASKED_BEFORE
    assert run_sql(place.home.database, "SELECT candidate FROM memory_candidate_source") == []


def test_the_same_text_about_a_newer_target_aims_the_waiting_candidate_anew(place: Place) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = update_of(engine, target)
        newer = engine.store.edit(target.id, Changes(description="the person's newer words"))
        seen = engine.candidates.get(candidate.id).candidate.digest
        again = update_of(engine, newer)
        shown = engine.candidates.get(candidate.id)
        assert (again.id, again.target, again.created_at) == (candidate.id, quoted(newer), candidate.created_at)
        assert (shown.target_changed, shown.target_version, engine.candidates.count()) == (False, newer.version, 1)
        # Who saw the old difference must look again; who saw the new one need not.
        with pytest.raises(DigestMismatch):
            engine.candidates.confirm(candidate.id, candidate.digest)
        assert engine.candidates.confirm(candidate.id, seen).description == candidate.description


@pytest.mark.parametrize("why", ["same version", "rejected", "another target"])
def test_what_was_asked_about_that_very_version_is_not_asked_again(place: Place, why: str) -> None:
    with place.open() as engine:
        target = engine.store.add(draft("style", "answers briefly"))
        candidate = update_of(engine, target)
        wanted = proposal(
            engine, "some-name", candidate.description, body=candidate.body, action=Action.UPDATE,
            origin=Origin.EVOLUTION, target=quoted(target), type=MemoryType.USER,
        )  # fmt: skip
        if why == "rejected":
            engine.candidates.reject(candidate.id)
            wanted = replace(wanted, target=quoted(engine.store.edit(target.id, Changes(description="newer"))))
        if why == "another target":
            engine.store.archive([target.id])
            other = engine.store.edit(engine.store.add(draft("style", "one")).id, Changes(description="two"))
            wanted = replace(wanted, target=quoted(other))
        assert engine.candidates.propose(wanted).outcome is Outcome.ASKED_BEFORE
        stored = run_sql(place.home.database, "SELECT target_id, target_version FROM memory_candidate")
        assert stored == [(target.id, 1)]


@given(
    one=st.tuples(st.text(), st.text(), st.text()),
    two=st.tuples(st.text(), st.text(), st.text()),
)
def test_different_texts_have_different_digests(one: tuple[str, str, str], two: tuple[str, str, str]) -> None:
    assert (digest_of(*one) == digest_of(*two)) == (one == two)


def test_moving_a_border_between_two_texts_changes_the_digest() -> None:
    assert (
        len({digest_of("ab", "c", ""), digest_of("a", "bc", ""), digest_of("a", "b", "c"), digest_of('a","', "b", "c")})
        == 4
    )


@given(name=st.text(max_size=120), description=st.text(max_size=300), body=st.text(max_size=100))
def test_any_text_of_a_model_is_queued_or_refused_never_a_crash(
    name: str, description: str, body: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = Place(tmp_path_factory.mktemp("any"))
    with place.open() as engine:
        answer = engine.candidates.propose(proposal(engine, name, description, body=body, type=MemoryType.USER))
        if answer.candidate is not None:
            entry = engine.candidates.confirm(answer.candidate.id, answer.candidate.digest)
            assert (entry.name, entry.description) == (answer.candidate.name, answer.candidate.description)
