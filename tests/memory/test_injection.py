"""The memory block: within budget, in one order, the same bytes each time, and honest about why there is none (02 §6)."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.clock import DAY_MS, local_day
from engine.memory.block import HOW_TO_SEARCH, PROVENANCE
from engine.memory.injection import AgentProfile, Injection, Request
from engine.memory.model import Changes, MemoryType, Scope
from engine.runtime import Engine
from tests.support import Place, draft, everything

LINE = re.compile(r"- \[((?:usr|prj|agt)_[0-9a-f]{8})\] (\S+) \((user|feedback|project|reference)\): (.*)")
AGENT = AgentProfile("main", "Main", "writes code")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, Engine]]:
    """One place and engine for tests that clean up after themselves: loading a vocabulary takes half a second."""
    place = Place(tmp_path_factory.mktemp("injection"))
    place.configure(memory__quota__user=5000)
    with place.open() as engine:
        yield place, engine


@pytest.fixture
def engine(shared: tuple[Place, Engine]) -> Iterator[Engine]:
    place, engine = shared
    yield engine
    engine.store.delete([entry.id for entry in everything(engine)])
    place.configure(memory__maxInjectTokens=4000, memory__enabled="true")


def in_days(engine: Engine, days: int) -> date:
    """The day that many days from now."""
    return local_day(engine.clock.now_ms() + days * DAY_MS, engine.clock.zone())


def lines(block: str) -> list[tuple[str, ...]]:
    """(id, name, type, description) of every line of a block, in its order."""
    return [match.groups() for line in block.splitlines() if (match := LINE.fullmatch(line))]


def test_a_block_has_a_section_for_each_scope_and_one_line_for_each_entry(
    shared: tuple[Place, Engine], engine: Engine
) -> None:
    place, _ = shared
    user = engine.store.add(draft("answers", "prefers <b>short</b> answers", type=MemoryType.FEEDBACK))
    project = engine.store.add(draft("build", "uses vite", scope=Scope.PROJECT, type=MemoryType.PROJECT))
    agent = engine.store.add(draft("tone", "be kind", scope=Scope.AGENT, agent="main"))
    engine.store.add(draft("secretive", "of another agent", scope=Scope.AGENT, agent="other"))
    found = engine.inject(Request(AGENT))
    assert found.status == "matched"
    assert found.block == (
        f"<user-memory>\n- [{user.id}] answers (feedback): prefers ‹b›short‹/b› answers\n</user-memory>\n\n"
        f'<project-memory workspace="{place.project.name}">\n- [{project.id}] build (project): uses vite\n'
        f"</project-memory>\n\n<agent-memory>\n- [{agent.id}] tone (user): be kind\n</agent-memory>\n\n"
        f"{HOW_TO_SEARCH}\n\n{PROVENANCE}\n"
    )
    assert found.injected == (user.id, project.id, agent.id)
    assert found.tokens == engine.tokens.count(found.block)
    assert "search_memory" in found.block
    assert "recall_memory" in found.block


def test_the_printed_order_is_scope_then_type_then_newest_then_id(shared: tuple[Place, Engine], engine: Engine) -> None:
    place, _ = shared
    wanted = []
    for scope, fields in ((Scope.AGENT, {"agent": "main"}), (Scope.PROJECT, {}), (Scope.USER, {})):
        for kind in (MemoryType.REFERENCE, MemoryType.PROJECT, MemoryType.FEEDBACK, MemoryType.USER):
            for number in range(2):
                entry = engine.store.add(draft(f"{kind}-{number}", scope=scope, type=kind, **fields))
                wanted.append(entry)
            place.clock.advance(ms=1)
    priority = ["feedback", "user", "project", "reference"]
    wanted.sort(key=lambda e: (list(Scope).index(e.scope), priority.index(e.type), -e.updated_at, e.id))
    assert [each[0] for each in lines(engine.inject(Request(AGENT)).block)] == [entry.id for entry in wanted]


def test_a_hundred_renderings_are_byte_identical_whatever_was_recalled_meanwhile(
    shared: tuple[Place, Engine], engine: Engine
) -> None:
    place, _ = shared
    for number in range(60):
        kind = list(MemoryType)[number % 4]
        engine.store.add(draft(f"entry-{number}", f"fact {number} about vite and 组件", type=kind))
    for session in ("s", None):
        blocks = set()
        for round_ in range(50):
            blocks.add(engine.inject(Request(AGENT, session=session)).block)
            engine.search(f"fact {round_}")
            place.clock.advance(ms=1000)
        with place.open() as other:
            blocks.add(other.inject(Request(AGENT, session=session)).block)
        assert len(blocks) == 1
    assert sum(entry.hit_count for entry in everything(engine)) > 0


def test_a_session_keeps_its_choice_until_an_entry_changes_or_expires(
    shared: tuple[Place, Engine], engine: Engine
) -> None:
    place, _ = shared
    ids = [engine.store.add(draft(f"entry-{number}", f"fact {number}")).id for number in range(40)]
    short = engine.store.add(draft("short", "about vite", valid_until=in_days(engine, 3)))
    first = engine.inject(Request(AGENT, prompt="vite", session="s"))
    assert short.id in first.injected
    assert engine.inject(Request(AGENT, prompt="something else entirely", session="s")).block == first.block
    place.clock.advance(days=1)
    assert engine.inject(Request(AGENT, session="s")).block == first.block
    changed = engine.store.edit(
        next(each for each in first.injected if each in ids), Changes(description="changed now")
    )
    second = engine.inject(Request(AGENT, session="s"))
    assert second.block != first.block
    assert "changed now" in second.block
    assert changed.id in second.injected
    place.clock.advance(days=5)
    third = engine.inject(Request(AGENT, session="s"))
    assert short.id not in third.injected
    assert short.id in {each.id for each in third.dropped if each.reason == "expired"}


def test_hits_are_counted_once_for_each_session_and_entry(engine: Engine) -> None:
    entry = engine.store.add(draft("a-fact"))
    for session in ("one", "one", "two"):
        engine.inject(Request(AGENT, session=session))
    assert engine.listing.entry(entry.id).hit_count == 2
    engine.inject(Request(AGENT, session="three", count_hits=False))
    engine.inject(Request(AGENT, session="four", as_of_ms=engine.clock.now_ms()))
    assert engine.listing.entry(entry.id).hit_count == 2
    engine.store.edit(entry.id, Changes(description="changed"))
    engine.inject(Request(AGENT, session="one"))
    assert engine.listing.entry(entry.id).hit_count == 2  # still once for that session
    assert engine.listing.entry(entry.id).version == 2


def test_the_four_states_say_why_there_is_a_block_or_none(shared: tuple[Place, Engine], engine: Engine) -> None:
    place, _ = shared
    assert engine.inject(Request(AGENT)) == Injection("empty")
    entry = engine.store.add(draft("a-fact", valid_until=in_days(engine, 1)))
    assert engine.inject(Request(AGENT)).status == "matched"
    place.configure(memory__enabled="false")
    off = engine.inject(Request(AGENT))
    assert (off.status, off.block, off.injected, off.dropped, off.tokens) == ("disabled", "", (), (), 0)
    assert engine.search("a-fact").status == "disabled"
    place.configure(memory__enabled="true")
    assert engine.inject(Request(AGENT)).status == "matched"
    place.clock.advance(days=5)
    gone = engine.inject(Request(AGENT))
    assert (gone.status, gone.block, gone.injected) == ("expired", "", ())
    assert [(each.id, each.reason) for each in gone.dropped] == [(entry.id, "expired")]
    engine.store.archive([entry.id])
    assert engine.inject(Request(AGENT)).status == "empty"


def test_a_preview_shows_what_an_agent_got_on_a_day(shared: tuple[Place, Engine], engine: Engine) -> None:
    place, _ = shared
    start = place.clock.now_ms()
    old = engine.store.add(draft("address", "old", valid_until=in_days(engine, 2)))
    place.clock.advance(days=10)
    new = engine.store.add(draft("address", "new"))
    assert engine.inject(Request(AGENT, as_of_ms=start)).injected == (old.id,)
    assert engine.inject(Request(AGENT, as_of_ms=start - 1)).status == "empty"
    assert engine.inject(Request(AGENT)).injected == (new.id,)


def test_feedback_goes_in_whole_and_the_budget_takes_the_least_important_first(
    shared: tuple[Place, Engine], engine: Engine
) -> None:
    place, _ = shared
    for kind in (MemoryType.REFERENCE, MemoryType.PROJECT, MemoryType.USER, MemoryType.FEEDBACK):
        for number in range(12):
            engine.store.add(draft(f"{kind}-{number}", f"{kind} number {number} " + "word " * 20, type=kind))
    for budget in (200, 400, 600, 1000, 2000, 4000):
        place.configure(memory__maxInjectTokens=budget)
        found = engine.inject(Request(AGENT))
        assert found.tokens <= budget
        assert found.tokens == engine.tokens.count(found.block)
        kinds = [each[2] for each in lines(found.block)]
        dropped = {engine.listing.entry(each.id).type for each in found.dropped}
        if MemoryType.FEEDBACK in dropped:
            assert set(kinds) <= {"feedback"}
        assert set(found.injected) | {each.id for each in found.dropped} == {e.id for e in everything(engine)}
        assert set(found.injected).isdisjoint(each.id for each in found.dropped)
        assert sum(tokens for _, tokens in found.lines) < found.tokens or not found.block
    assert {each[2] for each in lines(engine.inject(Request(AGENT)).block)} >= {"feedback"}


def test_a_large_entry_that_does_not_fit_is_skipped_for_smaller_ones_and_reported(
    shared: tuple[Place, Engine], engine: Engine
) -> None:
    place, _ = shared
    small = engine.store.add(draft("small", "short"))
    place.clock.advance(ms=1)
    large = engine.store.add(draft("large", "字" * 200))
    fixed = engine.tokens.count(engine.inject(Request(AGENT)).block)
    place.configure(memory__maxInjectTokens=max(200, fixed - 60))
    found = engine.inject(Request(AGENT))
    assert found.injected == (small.id,)
    assert [(each.id, each.reason) for each in found.dropped] == [(large.id, "budget")]


PIECES = (*"<>/&;\"'[]()`#-—:: \t組件ａＡ‹›🎉\u200b\u202e\xa0\ufeff", "</user-memory>", "\x07", "\x1b[0m")
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=60).map("".join)


@settings(max_examples=30)
@given(st.lists(st.tuples(HOSTILE, st.sampled_from(list(MemoryType))), min_size=1, max_size=8), st.integers(200, 600))
def test_no_text_of_a_memory_can_leave_its_line_or_the_budget(
    shared: tuple[Place, Engine], texts: list[tuple[str, MemoryType]], budget: int
) -> None:
    place, engine = shared
    kept = []
    for number, (text, kind) in enumerate(texts):
        description = text if text.strip() else "blank"
        kept.append(engine.store.add(draft(f"entry-{number}", description[:200], type=kind)))
        place.clock.advance(ms=1)
    place.configure(memory__maxInjectTokens=budget)
    found = engine.inject(Request(AGENT))
    assert engine.tokens.count(found.block) == found.tokens <= budget
    body = found.block.removesuffix(f"\n\n{HOW_TO_SEARCH}\n\n{PROVENANCE}\n")
    if found.block:
        first, *middle, last = body.split("\n")
        assert (first, last) == ("<user-memory>", "</user-memory>")
        assert all(LINE.fullmatch(line) and not set("<>") & set(line) for line in middle)
        assert [LINE.fullmatch(line)[1] for line in middle] == list(found.injected)
    assert set(found.injected) | {each.id for each in found.dropped} == {entry.id for entry in kept}
    engine.store.delete([entry.id for entry in kept])
    place.configure(memory__maxInjectTokens=4000)


def test_a_workspace_name_cannot_break_its_tag(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.project = place.project.rename(place.project.with_name('a"><b>\nc'))
    with place.open() as engine:
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        block = engine.inject(Request()).block
    [tag] = [line for line in block.splitlines() if line.startswith("<project-memory")]
    assert re.fullmatch(r'<project-memory workspace="[^"<>]*">', tag)


def test_a_block_that_cannot_be_counted_as_used_is_given_all_the_same(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        engine.inject(Request(count_hits=False))  # reads the vocabulary
        with place.open() as other, other.database.write():  # the whole store is held by someone else
            found = engine.inject(Request(session="s"))
        assert found.injected == (entry.id,)
        assert engine.listing.entry(entry.id).hit_count == 0


def test_sessions_of_long_ago_leave_nothing_behind(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs"))
        for number in range(5):
            engine.inject(Request(session=f"old-{number}"))
        place.clock.advance(days=31)
        engine.inject(Request(session="new"))
        with engine.database.read() as connection:
            kept = [row[0] for row in connection.execute("SELECT session FROM memory_injection")]
            counted = {row[0] for row in connection.execute("SELECT session FROM memory_injection_hit")}
        assert kept == ["new"]
        assert counted == {"new"}
        assert engine.listing.entry(entry.id).hit_count == 6


def test_what_a_faster_clock_wrote_is_injected_as_it_is_found(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        place.clock.advance(days=-1)
        assert engine.inject(Request()).injected == (entry.id,)
        assert engine.search("tabs").hits[0].entry.id == entry.id
        assert engine.inject(Request(as_of_ms=place.clock.now_ms())).injected == ()
