"""What a hand does to files while the store works: nothing it wrote is lost, and one bad file is one bad file."""

import os
import shutil
from datetime import date
from pathlib import Path

import pytest

from engine.doors.parts import importer
from engine.errors import AlreadyExists, StoreNewer, ValidationFailed, VersionConflict
from engine.memory import rows
from engine.memory.commit import Committer
from engine.memory.gate_log import Gate
from engine.memory.model import Changes, Entry, Scope
from engine.memory.takeover import base_of, give_way
from engine.memory.transfer.importing import Importer
from engine.memory.transfer.sources import Item, read_sources
from engine.memory.transfer.verdicts import Judge, Outcome, Verdict, Wish
from engine.memory.transfer.verdicts import Place as Target
from engine.runtime import Engine
from engine.storage.transaction import FileMoved
from tests.support import Place, complaints, draft, everything, run_sql, state_of, undeletable

BEYOND_NS = 10**19  # the year 2286: more nanoseconds than SQLite's integers hold
SECRET = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3eF5gH7"


def by_hand(path: Path, old: str, new: str) -> None:
    """What a person's editor does."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def bodies(engine: Engine, entry_id: str) -> set[str]:
    """Every text an entry has or had."""
    return {engine.listing.body(entry_id), *(each.body for each in engine.history.revisions(entry_id))}


def test_a_memory_moved_to_an_agent_that_holds_its_name_is_kept_out_and_stops_nothing(place: Place) -> None:
    with place.open() as engine:
        first = engine.store.add(draft("x", "one", scope=Scope.AGENT, agent="aaa"))
        second = engine.store.add(draft("x", "two", scope=Scope.AGENT, agent="bbb"))
        engine.store.edit(second.id, Changes(description="two and a half"))
    place.path(second).rename(place.path(first).with_name(second.file))
    with place.open() as engine:
        assert (state_of(engine, first.id), state_of(engine, second.id)) == ("active", "quarantined")
        assert first.id in str(engine.listing.entry(second.id).file_reason)
        engine.store.edit(first.id, Changes(name="y"))
        engine.refresh()
        moved = engine.listing.entry(second.id)
        assert (state_of(engine, second.id), moved.scope_ref) == ("active", "aaa")
        assert [each.entry.description for each in engine.history.revisions(second.id)] == ["two"]


def test_a_file_that_breaks_its_adoption_leaves_the_others_and_every_command_alone(place: Place) -> None:
    with place.open() as engine:
        known = [engine.store.add(draft(name)) for name in ("known", "other")]
        strange = place.path(known[0]).with_name("usr_000000ff.md")
        strange.write_bytes(place.path(known[0]).read_bytes().replace(known[0].id.encode(), b"usr_000000ff"))
        for path in (strange, place.path(known[0])):
            os.utime(path, ns=(BEYOND_NS, BEYOND_NS))
        if strange.stat().st_mtime_ns <= 2**63:
            pytest.skip("no file can be that young here")
        by_hand(place.path(known[1]), "prefers short answers", "prefers long answers")
    with place.open() as engine:
        assert engine.listing.entry(known[1].id).description == "prefers long answers"
        assert state_of(engine, known[0].id) == "active"
        engine.store.edit(known[0].id, Changes(body="still works"))
    assert "OverflowError" in place.home.log.read_text("utf-8")


def test_a_version_without_a_successor_is_never_written(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("x"))
        by_hand(place.path(entry), "version: 1", f"version: {2**31 - 1}")
        engine.refresh()
        assert state_of(engine, entry.id) == "active"
        with pytest.raises(ValidationFailed):
            engine.store.edit(entry.id, Changes(body="one more"))
        engine.refresh()
        assert state_of(engine, entry.id) == "active"
        by_hand(place.path(entry), f"version: {2**31 - 1}", f"version: {'9' * 5000}")
        engine.refresh()
        assert state_of(engine, entry.id) == "quarantined"


def test_a_name_is_not_taken_from_a_holder_that_a_hand_prolonged(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("editor", body="old body", valid_until=date(2026, 1, 5)))
        other = engine.store.add(draft("other"))
        place.clock.advance(days=30)
        by_hand(place.path(old), "old body", "written by hand")
        by_hand(place.path(old), "2026-01-05", "2027-01-05")
        with pytest.raises(AlreadyExists):
            engine.store.edit(other.id, Changes(name="editor"))
        assert engine.listing.body(old.id) == "written by hand"
        assert state_of(engine, old.id) == "active"
        assert complaints(place, engine) == []


def test_an_expired_holder_that_a_hand_rewrote_gives_way_with_what_was_written(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("editor", body="old body", valid_until=date(2026, 1, 5)))
        other = engine.store.add(draft("other"))
        place.clock.advance(days=30)
        by_hand(place.path(old), "old body", "written by hand")
        engine.store.edit(other.id, Changes(name="editor"))
        assert state_of(engine, old.id) == "invalid"
        assert bodies(engine, old.id) == {"old body", "written by hand"}
        assert "written by hand" in place.path(old).read_text("utf-8")
        assert complaints(place, engine) == []


def test_two_hand_edits_of_one_name_are_both_kept_in_one_look(place: Place) -> None:
    with place.open() as engine:
        taker = engine.store.add(draft("other"))
        old = engine.store.add(draft("editor", body="old body", valid_until=date(2026, 1, 5)))
        place.clock.advance(days=30)
        by_hand(place.path(taker), "name: other", "name: editor")
        by_hand(place.path(old), "old body", "written by hand")
        engine.refresh()
        assert (state_of(engine, taker.id), state_of(engine, old.id)) == ("active", "invalid")
        assert bodies(engine, old.id) == {"old body", "written by hand"}
        assert complaints(place, engine) == []


def test_a_version_is_never_made_from_bytes_its_row_does_not_know(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("editor", body="old body", valid_until=date(2026, 1, 5)))
        place.clock.advance(days=30)
        layer, new = engine.listing.layer(old.id), engine.store.add(draft("new"))
        with engine.database.read() as connection:
            row = rows.find(connection, (layer.key,), old.id)
            assert row is not None
            assert base_of(connection, layer, row) == place.path(old).read_bytes()
            by_hand(place.path(old), "old body", "saved in between")
            with pytest.raises(FileMoved):
                base_of(connection, layer, row)
            with pytest.raises(FileMoved):
                give_way(connection, layer, row, new, place.clock.now_ms())
            place.path(old).unlink()
            with pytest.raises(FileMoved):
                base_of(connection, layer, row)
            with pytest.raises(AlreadyExists):
                give_way(connection, layer, row, new, old.created_at)


def test_what_a_moved_file_stopped_is_tried_again_and_meets_the_hand_edit(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("x", body="old"))
        tries: list[int] = []

        def attempt() -> Entry:
            held = engine.store.hold(entry.id)
            tries.append(held.entry.version)
            if len(tries) == 1:
                by_hand(place.path(entry), "old", "saved in between")
            return engine.store.edit(entry.id, Changes(description="from the screen"), held.entry.version)

        with pytest.raises(VersionConflict):
            engine.store.retried(attempt)
        assert engine.listing.body(entry.id) == "saved in between"

        def moved_once() -> int:
            tries.append(0)
            if len(tries) < 3:
                raise FileMoved("moved")
            return len(tries)

        assert engine.store.retried(moved_once) == 3


def test_an_undo_refuses_a_quarantined_file_and_leaves_it_as_it_is(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("x", body="first"))
        engine.store.edit(entry.id, Changes(body="second"))
        by_hand(place.path(entry), "second", f"second, and hours of work\n{SECRET}")
        engine.refresh()
        written = place.path(entry).read_bytes()
        with pytest.raises(ValidationFailed):
            engine.history.undo(engine.history.changes()[0].group)
        assert place.path(entry).read_bytes() == written
        assert state_of(engine, entry.id) == "quarantined"
        assert not engine.history.changes()[0].undone


def test_an_own_file_that_has_expired_does_not_take_an_active_name(place: Place, tmp_path: Path) -> None:
    folder = expired_export(tmp_path)
    place.clock.advance(days=30)
    with place.open() as engine:
        active = engine.store.add(draft("editor", "uses emacs"))
        for wish in (Wish(dry_run=True), Wish()):
            (told,) = importer(engine).run(read_sources(folder), wish)
            assert (told.outcome, told.gate) == (Outcome.DROPPED, Gate.DUPLICATE)
        assert [entry.id for entry in everything(engine)] == [active.id]
        assert state_of(engine, active.id) == "active"


def test_an_own_file_that_is_active_still_follows_an_expired_holder(place: Place, tmp_path: Path) -> None:
    folder = expired_export(tmp_path)
    by_hand(folder / "usr_deadbeef.md", "2026-01-05", "2036-01-05")
    with place.open() as engine:
        old = engine.store.add(draft("editor", "uses emacs", valid_until=date(2026, 1, 5)))
        place.clock.advance(days=30)
        (told,) = importer(engine).run(read_sources(folder), Wish())
        assert told.outcome is Outcome.ADDED
        assert (state_of(engine, old.id), state_of(engine, "usr_deadbeef")) == ("invalid", "active")


class InterruptedJudge(Judge):
    """A judge right after whose first word another process takes the name, or the last free place."""

    def __init__(self, engine: Engine, place: Place, name: str) -> None:
        super().__init__(engine.database, engine.layers, engine.clock, engine.memory_settings, engine.candidates)
        self._place, self._names = place, [name]

    def verdict(self, item: Item, place: Target) -> Verdict:
        """What the judge says; then the other process writes."""
        said = super().verdict(item, place)
        if self._names:
            with self._place.open() as other:
                other.store.add(draft(self._names.pop(), "by hand, meanwhile"))
        return said


@pytest.mark.parametrize(("name", "gate"), [("editor", Gate.DUPLICATE), ("another", Gate.QUOTA)])
def test_an_import_judges_again_under_the_lock(place: Place, tmp_path: Path, name: str, gate: Gate) -> None:
    folder = expired_export(tmp_path)
    by_hand(folder / "usr_deadbeef.md", "2026-01-05", "2036-01-05")
    place.configure(memory__quota__user=1)
    with place.open() as engine:
        committer = Committer(engine.transactions, engine.directory, engine.clock, engine.bus)
        late = Importer(
            engine.database, committer, engine.reconciler, engine.store, engine.layers,
            engine.clock, InterruptedJudge(engine, place, name), engine.candidates,
        )  # fmt: skip
        (told,) = late.run(read_sources(folder), Wish())
        assert (told.outcome, told.gate) == (Outcome.DROPPED, gate)
        assert [(entry.name, state_of(engine, entry.id)) for entry in everything(engine)] == [(name, "active")]


def expired_export(tmp_path: Path) -> Path:
    """A folder with one of our own files from another home, valid until 2026-01-05."""
    elsewhere, folder = Place(tmp_path / "elsewhere"), tmp_path / "export"
    folder.mkdir()
    with elsewhere.open() as engine:
        entry = engine.store.add(draft("editor", "uses vim", valid_until=date(2026, 1, 5)))
    data = elsewhere.path(entry).read_bytes().replace(entry.id.encode(), b"usr_deadbeef")
    (folder / "usr_deadbeef.md").write_bytes(data)
    return folder


def test_a_deletion_blocked_in_one_clone_does_not_stop_it_in_another(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("x", scope=Scope.PROJECT))
    clone = place.project.with_name("beta")
    shutil.copytree(place.project, clone)
    with place.open() as here, place.open(clone) as there:
        with undeletable(place.path(entry)):
            assert [each.outcome for each in here.store.delete([entry.id])] == ["blocked_locally"]
            assert [each.outcome for each in there.store.delete([entry.id])] == ["done"]
        assert not (clone / ".spark-agent" / "memory" / entry.file).exists()
        assert everything(there) == []
        assert [each.outcome for each in here.store.delete([entry.id])] == ["done"]
        assert not place.path(entry).exists()


def test_an_add_that_a_newer_store_refuses_leaves_nothing_in_the_project(place: Place) -> None:
    with place.open():
        pass
    run_sql(place.home.database, "PRAGMA user_version = 99")
    with place.open() as engine, pytest.raises(StoreNewer):
        engine.store.add(draft("x", scope=Scope.PROJECT))
    assert list(place.project.iterdir()) == []
