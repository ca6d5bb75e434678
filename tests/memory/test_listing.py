"""Lists, counts and facets over entries in every state; SQL and Python agree on the word for each state (02 §9)."""

import random
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clock import DAY_MS, ManualClock
from engine.errors import NotFound, ValidationFailed
from engine.memory import listing
from engine.memory.listing import Filter, Order
from engine.memory.model import (
    AuthorRole,
    Changes,
    Entry,
    MemoryType,
    Scope,
    Source,
    State,
    Validity,
)
from engine.runtime import Engine
from tests.support import Place, draft, run_sql


def ids(engine: Engine, **wanted: object) -> list[str]:
    return engine.listing.ids(Filter(**wanted))


def test_a_list_shows_active_entries_of_all_scopes_newest_first(place: Place) -> None:
    with place.open() as engine:
        user = engine.store.add(draft("one"))
        place.clock.advance(ms=1)
        agent = engine.store.add(draft("two", scope=Scope.AGENT, agent="main"))
        place.clock.advance(ms=1)
        project = engine.store.add(draft("three", scope=Scope.PROJECT))
        gone = engine.store.add(draft("four"))
        engine.store.archive([gone.id])
        assert ids(engine) == [project.id, agent.id, user.id]
        assert ids(engine, scope=Scope.USER) == [user.id]
        assert ids(engine, agent="main") == [agent.id]
        assert ids(engine, agent="other") == []
        assert ids(engine, state=State.ARCHIVED) == [gone.id]
        assert set(ids(engine, state=None)) == {user.id, agent.id, project.id, gone.id}


def test_windows_of_a_list_are_its_consecutive_parts(place: Place) -> None:
    with place.open() as engine:
        for number in range(7):
            engine.store.add(draft(f"entry-{number}"))  # all at the same instant: the id decides
        whole = engine.listing.window(Filter())
        assert [each.id for each in whole] == sorted(each.id for each in whole)
        parts = [each for offset in range(0, 9, 3) for each in engine.listing.window(Filter(), offset, 3)]
        assert parts == whole
        assert engine.listing.window(Filter(), 7, 3) == []
        assert engine.listing.count(Filter()) == len(whole) == len(ids(engine))


def test_each_order_puts_its_greatest_first(place: Place) -> None:
    with place.open() as engine:
        b = engine.store.add(draft("b", type=MemoryType.PROJECT))
        place.clock.advance(ms=1)
        a = engine.store.add(draft("a", type=MemoryType.FEEDBACK))
        place.clock.advance(ms=1)
        engine.store.edit(b.id, Changes(description="changed"))
        assert ids(engine, order=Order.UPDATED) == [b.id, a.id]
        assert ids(engine, order=Order.CREATED) == [a.id, b.id]
        assert ids(engine, order=Order.NAME) == [a.id, b.id]
        assert ids(engine, order=Order.TYPE) == [a.id, b.id]


def test_filters_by_type_text_and_entity_narrow_together(place: Place) -> None:
    with place.open() as engine:
        one = engine.store.add(draft("vite-build", "Uses VITE", type=MemoryType.PROJECT, entities=("Arco Design",)))
        two = engine.store.add(draft("node", "runs 100% node_modules", entities=("@arco-design/web-react",)))
        assert ids(engine, type=MemoryType.PROJECT) == [one.id]
        assert ids(engine, text="vite") == [one.id]
        assert ids(engine, text="100%") == [two.id]
        assert ids(engine, text="e_m") == [two.id]  # neither % nor _ is a wildcard
        assert set(ids(engine, entity="arco")) == {one.id, two.id}
        assert ids(engine, entity="arco", type=MemoryType.PROJECT) == [one.id]
        assert ids(engine, entity="' OR 1=1 --") == []
        assert ids(engine, text="' OR 1=1 --") == []


def test_as_of_shows_what_was_active_at_that_instant(place: Place) -> None:
    start = place.clock.now_ms()
    with place.open() as engine:
        old = engine.store.add(draft("address", "old", valid_until=date(2026, 1, 5)))
        place.clock.advance(days=10)
        new = engine.store.add(draft("address", "new"))
        assert ids(engine, as_of_ms=start - 1) == []
        assert ids(engine, as_of_ms=start + DAY_MS) == [old.id]
        assert ids(engine, as_of_ms=start + 7 * DAY_MS) == []
        assert ids(engine, as_of_ms=place.clock.now_ms()) == [new.id]


def test_facets_count_what_the_lists_show(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("one", type=MemoryType.FEEDBACK, entities=("React", "Vite")))
        engine.store.add(draft("two", scope=Scope.AGENT, agent="main", entities=("react.js",)))
        engine.store.add(draft("three", valid_until=date(2025, 1, 1), entities=("Webpack",)))
        archived = engine.store.add(draft("four"))
        engine.store.archive([archived.id])
        facets = engine.listing.facets()
        assert facets.layers == {"user": 1, "agent:main": 1}
        assert facets.types == {MemoryType.FEEDBACK: 1, MemoryType.USER: 1}
        assert facets.states == {State.ACTIVE: 2, State.EXPIRED: 1, State.ARCHIVED: 1}
        assert facets.entities == (("React", 2), ("Vite", 1))
        for state, count in facets.states.items():
            assert engine.listing.count(Filter(state=state)) == count


def test_an_id_out_of_sight_is_not_found(place: Place) -> None:
    with place.open() as engine:
        for look in (engine.listing.entry, engine.listing.body, engine.listing.layer):
            with pytest.raises(NotFound):
                look("usr_12345678")
        with pytest.raises(ValidationFailed):
            engine.listing.count(Filter(agent="../.."))


instants = st.none() | st.integers(-5, 5)
entries = st.builds(
    lambda archived, invalid, until, file_state: (archived, invalid, until, file_state),
    st.booleans(),
    instants,
    instants,
    st.sampled_from([None, State.QUARANTINED, State.MISSING]),
)


@given(entries)
def test_sql_and_python_give_every_entry_the_same_state(
    fields: tuple[bool, int | None, int | None, State | None],
) -> None:
    archived, invalid, until, file_state = fields
    now = 1_767_225_600_000
    entry = Entry(
        id="usr_00000001", scope=Scope.USER, scope_ref=None, type=MemoryType.USER, name="a", description="b",
        source=Source.MANUAL, confidence=1.0, author_role=AuthorRole.MANUAL_USER, created_at=0, updated_at=0,
        valid_from=0, archived=archived, invalid_at=None if invalid is None else now + invalid,
        valid_until=None if until is None else Validity(date(2026, 1, 1), "UTC", now + until), file_state=file_state,
    )  # fmt: skip
    assert in_sql(entry, now) == (entry.state(now).value, entry.state(now) is State.ACTIVE)


def in_sql(entry: Entry, now: int) -> tuple[str, bool]:
    import apsw

    from engine.memory import rows

    values = {
        "now": now,
        "file_state": entry.file_state,
        "archived": int(entry.archived),
        "invalid_at": entry.invalid_at,
        "valid_until": entry.valid_until.until_ms if entry.valid_until else None,
    }
    row = "SELECT :file_state AS file_state, :archived AS archived, :invalid_at AS invalid_at, :valid_until AS valid_until"
    sql = f"SELECT {listing.STATE}, {rows.ACTIVE} FROM ({row})"
    connection = apsw.Connection(":memory:")
    [(state, active)] = list(connection.execute(sql, values))
    connection.close()
    return state, bool(active)


def test_the_states_of_a_whole_store_agree_too(place: Place) -> None:
    dice = random.Random(7)
    with place.open() as engine:
        for number in range(25):
            until = date(2026, 1, dice.randint(1, 28)) if dice.random() < 0.5 else None
            entry = engine.store.add(draft(f"entry-{number}", valid_until=until))
            if dice.random() < 0.3:
                engine.store.archive([entry.id])
            if dice.random() < 0.2:
                place.path(entry).unlink()
        engine.refresh()
    run_sql(place.home.database, "UPDATE memory_entry SET invalid_at = created_at + 86400000 * 3 WHERE rid % 4 = 0")
    for days in (0, 2, 3, 10, 40):
        with place.open(clock=ManualClock(place.clock.now_ms() + days * DAY_MS)) as engine:
            now = engine.clock.now_ms()
            for entry in engine.listing.window(Filter(state=None)):
                state = entry.state(now)
                assert entry.id in engine.listing.ids(Filter(state=state)), (days, entry.id, state)
