"""Any order of verbs, hand edits, crashes of files and rebuilds against a small model; any text at all (02 §1, §9)."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from engine.clock import day_end_ms, local_day
from engine.errors import AlreadyExists, NotFound, SparkError, ValidationFailed, VersionConflict
from engine.memory.listing import Filter
from engine.memory.model import AuthorRole, Changes, MemoryType, Scope
from engine.runtime import Engine
from tests.support import Place, complaints, draft, durable, everything, matches, state_of

NAMES = st.sampled_from(["alpha", "beta", "组件"])
WORDS = st.sampled_from(["robin", "heron", "egret", "加入 vite", "x: 'y' # z", "…"])
BODIES = st.sampled_from(["", "one\n", "  two\r\nlines  ", "---\nthree: 3\n---\n", "尾"])


@dataclass
class Known:
    """What the model believes of one entry."""

    id: str
    name: str
    description: str
    body: str
    version: int = 1
    archived: bool = False
    invalid: bool = False
    until: int | None = None
    file: str = "sound"  # or broken, gone, stray (a broken file the index never knew as a memory)
    bytes: bytes = b""
    texts: set[str] = field(default_factory=set)

    def state(self, now: int) -> str:
        if self.file != "sound":
            return {"broken": "quarantined", "stray": "quarantined", "gone": "missing"}[self.file]
        if self.archived:
            return "archived"
        if self.invalid:
            return "invalid"
        return "expired" if self.until is not None and self.until <= now else "active"

    @property
    def holds_name(self) -> bool:
        return self.file == "sound" and not self.archived and not self.invalid


class Store(RuleBasedStateMachine):
    """The store as a person drives it, with accidents."""

    ids = Bundle("ids")

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="spark-tui-sequence-"))
        self.place = Place(self.root)
        self.engine = self.place.open()
        self.known: dict[str, Known] = {}

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.close()
            shutil.rmtree(self.root, ignore_errors=True)

    @property
    def now(self) -> int:
        return self.place.clock.now_ms()

    def path(self, known: Known) -> Path:
        return self.place.home.memory_user / f"{known.id}.md"

    def holder(self, name: str, but: str = "") -> Known | None:
        return next((k for k in self.known.values() if k.holds_name and k.name == name and k.id != but), None)

    def make_way(self, name: str, by: str) -> bool:
        """What the model expects of a wish for a name: an expired holder goes, any other refuses."""
        taken = self.holder(name, by)
        if taken is None:
            return True
        if taken.state(self.now) != "expired":
            return False
        taken.invalid, taken.version = True, taken.version + 1
        return True

    def usable(self, entry_id: str) -> Known:
        known = self.known.get(entry_id)
        assume(known is not None and known.file == "sound")
        assert known is not None
        return known

    @rule(target=ids, name=NAMES, words=WORDS, body=BODIES, days=st.none() | st.integers(-2, 3))
    def add(self, name: str, words: str, body: str, days: int | None) -> object:
        until = None if days is None else self.day(days)
        free = self.make_way(name, "")
        if not free:
            with pytest.raises(AlreadyExists):
                self.engine.store.add(draft(name, words, body, valid_until=until))
            return multiple()
        entry = self.engine.store.add(draft(name, words, body, valid_until=until))
        self.known[entry.id] = Known(entry.id, name, words, body, until=self.end(until))
        return entry.id

    @rule(entry_id=ids, name=st.none() | NAMES, words=st.none() | WORDS, body=st.none() | BODIES, stale=st.booleans())
    def edit(self, entry_id: str, name: str | None, words: str | None, body: str | None, stale: bool) -> None:
        known = self.usable(entry_id)
        changes = Changes(name=name, description=words, body=body)
        if stale:
            with pytest.raises(VersionConflict):
                self.engine.store.edit(entry_id, changes, known.version + 1)
            return
        wanted = (name or known.name, words or known.description, known.body if body is None else body)
        changed = wanted != (known.name, known.description, known.body)
        if changed and not (known.archived or known.invalid) and not self.make_way(wanted[0], entry_id):
            with pytest.raises(AlreadyExists):
                self.engine.store.edit(entry_id, changes, known.version)
            return
        entry = self.engine.store.edit(entry_id, changes, known.version, AuthorRole.EXTRACTION)
        known.name, known.description, known.body = wanted
        known.version += changed
        assert entry.version == known.version

    @rule(entry_id=ids, days=st.none() | st.integers(-2, 3))
    def set_last_day(self, entry_id: str, days: int | None) -> None:
        known = self.usable(entry_id)
        until = None if days is None else self.day(days)
        changed = self.end(until) != known.until
        self.engine.store.edit(entry_id, Changes(valid_until=until))
        known.until, known.version = self.end(until), known.version + changed

    @rule(entry_id=ids, back=st.booleans())
    def archive(self, entry_id: str, back: bool) -> None:
        known = self.usable(entry_id)
        verb = self.engine.store.unarchive if back else self.engine.store.archive
        if known.archived != back:
            assert verb([entry_id])[0].outcome == "unchanged"
        elif back and not known.invalid and not self.make_way(known.name, entry_id):
            assert verb([entry_id])[0].outcome == "ALREADY_EXISTS"
        else:
            assert verb([entry_id])[0].outcome == "done"
            known.archived, known.version = not back, known.version + 1

    @rule(entry_id=ids)
    def undo_the_last_change(self, entry_id: str) -> None:
        known = self.usable(entry_id)
        line = next((each for each in self.engine.history.changes(limit=1)), None)
        assume(line is not None and line.id == entry_id and line.action == "edit" and not line.undone)
        assert line is not None
        then = next(r for r in self.engine.history.revisions(entry_id) if r.entry.version == line.before)
        assume(known.archived or known.invalid or self.holder(then.entry.name, entry_id) is None)
        self.engine.history.undo(line.group)
        known.name, known.description, known.body = then.entry.name, then.entry.description, then.body
        known.until = then.entry.valid_until.until_ms if then.entry.valid_until else None
        known.version += 1

    @rule(entry_id=ids)
    def delete(self, entry_id: str) -> None:
        outcome = self.engine.store.delete([entry_id])[0].outcome
        assert outcome == ("done" if self.known.pop(entry_id, None) else "NOT_FOUND")

    @rule(entry_id=ids, words=WORDS, body=st.none() | BODIES)
    def change_by_hand(self, entry_id: str, words: str, body: str | None) -> None:
        from engine.storage import frontmatter

        known = self.usable(entry_id)
        data = self.path(known).read_bytes()
        changed = (words, known.body if body is None else body) != (known.description, known.body)
        self.path(known).write_bytes(frontmatter.patch(data, {"description": words, "mine": words}, body))
        self.engine.refresh()
        known.description, known.body = words, known.body if body is None else body
        known.version += changed

    @rule(entry_id=ids)
    def break_the_file(self, entry_id: str) -> None:
        known = self.usable(entry_id)
        known.bytes, known.file = self.path(known).read_bytes(), "broken"
        self.path(known).write_bytes(known.bytes.replace(b"name:", b"<<<<<<< ours\nname:"))
        self.engine.refresh()

    @rule(entry_id=ids)
    def lose_the_file(self, entry_id: str) -> None:
        known = self.usable(entry_id)
        known.bytes, known.file = self.path(known).read_bytes(), "gone"
        self.path(known).unlink()
        self.engine.refresh()

    @rule(entry_id=ids)
    def put_the_file_back(self, entry_id: str) -> None:
        known = self.known.get(entry_id)
        assume(known is not None and known.file in ("broken", "gone"))
        assert known is not None
        taken = self.holder(known.name, entry_id)
        back = replace(known, file="sound")
        assume(not (back.holds_name and taken))  # who gets a contested name is told elsewhere
        self.path(known).write_bytes(known.bytes)
        known.file = "sound"
        self.engine.refresh()

    @rule(entry_id=ids)
    def restore(self, entry_id: str) -> None:
        known = self.known.get(entry_id)
        assume(known is not None and known.file in ("broken", "gone", "stray"))
        assert known is not None
        if known.file == "stray":
            with pytest.raises(ValidationFailed):
                self.engine.history.restore(entry_id)
            return
        back = replace(known, file="sound")
        if back.holds_name and not self.make_way(known.name, entry_id):
            with pytest.raises(AlreadyExists):
                self.engine.history.restore(entry_id)
            return
        known.version = self.engine.history.restore(entry_id).version
        assert known.version == back.version + 1
        known.file = "sound"
        for copy in self.path(known).parent.glob("*.broken-*"):
            copy.unlink()

    @rule(days=st.integers(1, 2))
    def wait(self, days: int) -> None:
        self.place.clock.advance(days=days)
        self.engine.refresh()

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = self.place.open()

    @precondition(lambda self: self.known)
    @rule()
    def lose_the_database(self) -> None:
        self.engine.close()
        for path in self.place.home.root.glob("spark.db*"):
            path.unlink()
        self.engine = self.place.open()
        self.known = {key: known for key, known in self.known.items() if known.file != "gone"}
        for known in self.known.values():
            if known.file == "broken":
                known.file = "stray"

    @invariant()
    def the_store_is_as_the_model_says(self) -> None:
        if not hasattr(self, "engine"):
            return
        found = {entry.id: entry for entry in everything(self.engine)}
        assert set(found) == set(self.known)
        for entry_id, known in self.known.items():
            assert state_of(self.engine, entry_id) == known.state(self.now)
            if known.file != "stray":
                entry = found[entry_id]
                assert (entry.name, entry.description, entry.version) == (known.name, known.description, known.version)
                assert self.engine.listing.body(entry_id) == known.body
        active = {key for key, known in self.known.items() if known.state(self.now) == "active"}
        assert set(self.engine.listing.ids(Filter())) == active
        robins = {key for key in active if self.known[key].description == "robin"}
        assert {key for key in matches(self.engine, "robin") if key in self.known} <= robins
        assert bool(robins) == bool(matches(self.engine, "robin"))
        assert complaints(self.place, self.engine) == []

    def day(self, days: int) -> date:
        return local_day(self.now, self.place.clock.zone()) + timedelta(days=days)

    def end(self, day: date | None) -> int | None:
        return None if day is None else day_end_ms(day, self.place.clock.zone())


Store.TestCase.settings = settings(
    max_examples=8, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestAnySequence = Store.TestCase


@pytest.mark.soak
def test_many_long_sequences() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        Store,
        settings=settings(
            max_examples=150, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


ANY = st.text(st.characters(exclude_categories=()), max_size=40)
ODD = st.sampled_from(
    [
        "yes", "no", "null", "~", "1e3", "0x1F", "1_000", "2026-10-31", "12:30:00", "-", "- a", "? b", ": c", "a: b", "a #b",
        "#", "'", '"', "'quoted'", "|", ">", "%", "@lead", "`x`", "{a: 1}", "[1, 2]", "&anchor", "*alias", "!tag", "---",
        "...", "\\", "\\n", "\ttab", "trailing ", " leading", "\u00a0", "\ufeff", "🎉", "組件", "<<", "=", "\x07", "\x7f",
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def open_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, list[Engine]]]:
    place = Place(tmp_path_factory.mktemp("texts"))
    place.configure(memory__quota__user=100_000)
    engines = [place.open()]
    yield place, engines
    engines[0].close()


def stored_or_refused(engine: Engine, name: str, description: str, body: str, lists: list[str]) -> str | None:
    try:
        wanted = replace(
            draft(name, description, body), entities=tuple(lists), links=tuple(lists), evidence=body or None
        )
        entry = engine.store.add(wanted)
    except SparkError as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert refused.code in ("VALIDATION_FAILED", "SENSITIVE_CONTENT", "ALREADY_EXISTS")
        assert len(body) < 8 or body not in refused.message + str(refused.hint)
        return None
    assert (entry.name, entry.description, entry.links, entry.evidence) == (
        name,
        description,
        tuple(each for each in lists if each.strip()),
        body or None,
    )
    assert engine.listing.entry(entry.id) == entry
    assert engine.listing.body(entry.id) == body
    return entry.id


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b-1", "组件"]) | ANY,
            ANY | ODD | st.tuples(ODD, ODD).map(" ".join),
            ANY | ODD.map(lambda text: text + "\n") | st.lists(ODD).map("\r\n".join),
            st.lists(ANY | ODD, max_size=3),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_text_is_stored_and_comes_back_the_same_or_is_refused_with_a_typed_error(
    open_place: tuple[Place, list[Engine]], texts: list[tuple[str, str, str, list[str]]]
) -> None:
    place, engines = open_place
    ids = [stored_or_refused(engines[0], *each) for each in texts]
    kept = durable(engines[0])
    engines[0].close()
    for path in place.home.root.glob("spark.db*"):
        path.unlink()
    engines[0] = place.open()
    assert durable(engines[0]) == kept
    engines[0].store.delete([each for each in ids if each])
    assert everything(engines[0]) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=300)
    | st.tuples(st.sampled_from([b"---\n", b"---\r\n", b""]), st.binary(max_size=200)).map(b"".join)
)
def test_any_bytes_in_a_memory_file_are_a_memory_or_quarantined_and_never_changed_then(
    open_place: tuple[Place, list[Engine]], data: bytes
) -> None:
    place, engines = open_place
    path = place.home.memory_user / "usr_0000dead.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    engines[0].refresh()
    if state_of(engines[0], "usr_0000dead") == "quarantined":
        assert path.read_bytes() == data
    path.unlink()
    engines[0].refresh()
    for entry in everything(engines[0]):
        engines[0].store.delete([entry.id])


FIELDS = ("description", "name", "type", "entities", "archived", "valid_until", "confidence", "version", "mine")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FIELDS), ANY | ODD)
def test_any_value_written_by_hand_is_adopted_or_quarantined(
    open_place: tuple[Place, list[Engine]], key: str, value: str
) -> None:
    place, engines = open_place
    engine = engines[0]
    entry = engine.store.add(draft("by-hand", "harmless", scope=Scope.USER, type=MemoryType.USER))
    path = place.path(entry)
    by_hand = path.read_bytes().replace(b"---\nid:", f"---\n{key}: {value}\nid:".encode("utf-8", "replace"))
    path.write_bytes(by_hand)
    engine.refresh()
    if state_of(engine, entry.id) == "quarantined":
        assert path.read_bytes() == by_hand
        assert engine.listing.entry(entry.id).version == 1
    engine.store.delete([entry.id])
    with pytest.raises(NotFound):
        engine.listing.entry(entry.id)
