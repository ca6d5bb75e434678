"""Revisions, the feed of changes, undo of a group and restore: the past is read, and written forward again (02 §9)."""

from datetime import date

import pytest

from engine.errors import NameConflict, NotFound, QuotaExceeded, SensitiveContent, ValidationFailed, VersionConflict
from engine.memory.model import AuthorRole, Changes, MemoryType, Scope
from tests.support import Place, complaints, draft, durable, everything, matches, run_sql, state_of


def test_each_superseded_version_is_kept_with_text_and_the_hand_that_wrote_it(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body one"))
        place.clock.advance(ms=10)
        engine.store.edit(entry.id, Changes(body="body two"), author=AuthorRole.EXTRACTION)
        place.clock.advance(ms=10)
        engine.store.edit(entry.id, Changes(description="third"))
        newest, oldest = engine.history.revisions(entry.id)
        assert (newest.entry.version, newest.body, newest.entry.author_role) == (2, "body two", AuthorRole.EXTRACTION)
        assert (oldest.entry, oldest.body) == (entry, "body one")
        assert newest.replaced_at == place.clock.now_ms()


def test_the_feed_tells_who_changed_which_fields_newest_first(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        engine.store.edit(entry.id, Changes(description="second", body="more", type=MemoryType.REFERENCE))
        engine.store.archive([entry.id])
        archived, edited, added = engine.history.changes()
        assert (added.action, added.before, added.after, added.id) == ("add", None, 1, entry.id)
        assert (edited.action, edited.before, edited.after) == ("edit", 1, 2)
        assert set(edited.fields) == {"description", "type", "body"}
        assert (archived.action, archived.fields) == ("archive", ("archived",))
        assert [each.id for each in engine.history.changes(limit=1)] == [entry.id]
        assert engine.history.changes(group=edited.group) == [edited]


def test_an_edit_undone_is_a_new_version_with_the_old_content(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body one", entities=("React",)))
        engine.store.edit(entry.id, Changes(name="b-fact", description="second", body="body two", entities=()))
        [edited] = [each for each in engine.history.changes() if each.action == "edit"]
        [undone] = engine.history.undo(edited.group)
        assert (undone.version, undone.name, undone.description, undone.entities) == (3, "a-fact", "first", ("React",))
        assert engine.listing.body(entry.id) == "body one"
        assert matches(engine, "second") == []
        assert [each.undone for each in engine.history.changes(group=edited.group)] == [True]
        with pytest.raises(ValidationFailed):
            engine.history.undo(edited.group)
        [redone] = engine.history.undo(engine.history.changes(limit=1)[0].group)
        assert (redone.version, redone.name, redone.description) == (4, "b-fact", "second")
        assert complaints(place, engine) == []


def test_a_creation_undone_is_archived_and_can_come_back(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        [undone] = engine.history.undo(engine.history.changes()[0].group)
        assert (undone.archived, undone.version) == (True, 2)
        engine.store.add(draft("a-fact"))  # the name is free again
        assert not engine.store.unarchive([entry.id])[0].ok
        assert complaints(place, engine) == []


def test_a_takeover_undone_gives_the_name_back_in_one_operation(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("address", "old", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        new = engine.store.add(draft("address", "new"))
        engine.history.undo(engine.history.changes(limit=1)[0].group)
        assert state_of(engine, new.id) == "archived"
        assert state_of(engine, old.id) == "expired"
        assert engine.listing.entry(old.id).superseded_by is None
        assert complaints(place, engine) == []


def test_an_undo_is_refused_whole_when_one_of_the_group_has_moved(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("address", "old", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        new = engine.store.add(draft("address", "new"))
        group = engine.history.changes(limit=1)[0].group
        engine.store.edit(new.id, Changes(description="newer"))
        before = durable(engine)
        with pytest.raises(VersionConflict) as caught:
            engine.history.undo(group)
        assert caught.value.details == {"current_version": 2, "base_version": 1}
        assert durable(engine) == before
        assert state_of(engine, old.id) == "invalid"
        assert not any(each.undone for each in engine.history.changes(group=group))
        assert complaints(place, engine) == []


def test_an_undo_is_refused_when_a_hand_edit_came_between(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        engine.store.edit(entry.id, Changes(description="second"))
        group = engine.history.changes(limit=1)[0].group
        path = place.path(entry)
        path.write_text(path.read_text("utf-8").replace("second", "by hand"), "utf-8")
        with pytest.raises(VersionConflict):
            engine.history.undo(group)
        assert engine.listing.entry(entry.id).description == "by hand"


def test_an_undo_that_needs_a_taken_name_is_refused_and_says_by_whom(place: Place) -> None:
    with place.open() as engine:
        first = engine.store.add(draft("address"))
        engine.store.archive([first.id])
        group = engine.history.changes(limit=1)[0].group
        second = engine.store.add(draft("address", valid_until=date(2026, 1, 1)))
        with pytest.raises(NameConflict) as caught:
            engine.history.undo(group)
        assert caught.value.details["id"] == second.id
        assert state_of(engine, first.id) == "archived"
        place.clock.advance(days=5)  # an expired holder gives way, as it does to every revival
        engine.history.undo(group)
        assert state_of(engine, first.id) == "active"
        assert engine.listing.entry(second.id).superseded_by == first.id
        assert complaints(place, engine) == []


def test_an_undo_that_would_overfill_the_layer_is_refused(place: Place) -> None:
    place.configure(memory__quota__user=1)
    with place.open() as engine:
        first = engine.store.add(draft("one"))
        engine.store.archive([first.id])
        group = engine.history.changes(limit=1)[0].group
        engine.store.add(draft("two"))
        with pytest.raises(QuotaExceeded):
            engine.history.undo(group)
        assert state_of(engine, first.id) == "archived"


def test_an_unknown_group_or_one_of_another_workspace_is_not_found(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    with place.open() as engine:
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        group = engine.history.changes()[0].group
        with pytest.raises(NotFound):
            engine.history.undo("op_ffffffff")
    with place.open(other) as engine:
        assert engine.history.changes() == []
        with pytest.raises(NotFound):
            engine.history.undo(group)


def test_a_deleted_memory_cannot_be_undone_and_leaves_no_line_with_its_name(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        groups = [each.group for each in engine.history.changes()]
        engine.store.delete([entry.id])
        assert engine.history.changes() == []
        for group in groups:
            with pytest.raises(NotFound):
                engine.history.undo(group)


def test_restore_writes_an_older_version_as_the_newest(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body one"))
        engine.store.edit(entry.id, Changes(description="second", body="body two"))
        engine.store.edit(entry.id, Changes(description="third"))
        assert engine.history.restore(entry.id).description == "second"  # the version before this one
        restored = engine.history.restore(entry.id, version=1)
        assert (restored.version, restored.description, engine.listing.body(entry.id)) == (5, "first", "body one")
        with pytest.raises(NotFound):
            engine.history.restore(entry.id, version=17)
        assert complaints(place, engine) == []


def test_restoring_what_is_there_already_changes_nothing(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        engine.store.edit(entry.id, Changes(description="second"))
        engine.store.edit(entry.id, Changes(description="first"))
        assert engine.history.restore(entry.id, version=1).version == 3
        with pytest.raises(NotFound):
            engine.history.restore(engine.store.add(draft("b-fact")).id)


def test_a_vanished_file_is_restored_with_its_last_text(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body one", entities=("React",)))
        entry = engine.store.edit(entry.id, Changes(body="body two"))
        place.path(entry).unlink()
        restored = engine.history.restore(entry.id)
        assert (restored.version, restored.file_state, restored.entities) == (3, None, ("React",))
        assert place.path(entry).read_text("utf-8").endswith("body two")
        assert matches(engine, "two") == [entry.id]
        assert complaints(place, engine) == []


def test_a_vanished_file_can_come_back_as_an_older_version(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body one"))
        engine.store.edit(entry.id, Changes(description="second", body="body two"))
        place.path(entry).unlink()
        engine.refresh()
        assert engine.history.restore(entry.id, version=1).description == "first"
        assert engine.listing.body(entry.id) == "body one"
        assert complaints(place, engine) == []


def test_a_broken_file_is_restored_and_its_bytes_are_kept_beside_it(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body one"))
        path = place.path(entry)
        broken = path.read_bytes().replace(b"name:", b"<<<<<<< HEAD\nname:")
        path.write_bytes(broken)
        engine.refresh()
        assert state_of(engine, entry.id) == "quarantined"
        restored = engine.history.restore(entry.id)
        assert (restored.version, engine.listing.body(entry.id)) == (2, "body one")
        [copy] = path.parent.glob("*.broken-*")
        assert copy.read_bytes() == broken
        assert matches(engine, "first") == [entry.id]
        engine.refresh()
        assert [each.id for each in everything(engine)] == [entry.id]
        copy.unlink()
        assert complaints(place, engine) == []


def test_a_restore_that_is_refused_leaves_the_broken_file_where_it_is(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("address"))
        path = place.path(entry)
        path.write_bytes(b"<<<<<<< no memory any more")
        engine.refresh()
        engine.store.add(draft("address"))  # a quarantined entry holds no name
        with pytest.raises(Exception, match="address"):
            engine.history.restore(entry.id)
        assert path.read_bytes() == b"<<<<<<< no memory any more"
        assert list(path.parent.glob("*.broken-*")) == []
        assert state_of(engine, entry.id) == "quarantined"


def test_a_file_that_never_was_a_memory_has_nothing_to_restore(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("a-fact"))
        stray = place.home.memory_user / "notes.md"
        stray.write_text("# Notes\n", "utf-8")
        engine.refresh()
        assert state_of(engine, "notes") == "quarantined"
        with pytest.raises(ValidationFailed):
            engine.history.restore("notes")
        assert stray.read_text("utf-8") == "# Notes\n"


def test_an_old_version_that_holds_a_secret_is_not_brought_back(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "harmless"))
        engine.store.edit(entry.id, Changes(body="changed"))
    # As if an older program, whose gate knew less, had stored it.
    secret = "ghp_" + "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8"
    run_sql(place.home.database, f"UPDATE memory_revision SET body = '{secret}'")
    with place.open() as engine:
        with pytest.raises(SensitiveContent):
            engine.history.restore(entry.id, version=1)
        with pytest.raises(SensitiveContent):
            engine.history.undo(engine.history.changes(limit=1)[0].group)
        assert engine.listing.body(entry.id) == "changed"


def test_history_survives_a_reopen_and_a_rebuild_loses_it_but_nothing_else(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        engine.store.edit(entry.id, Changes(description="second"))
    with place.open() as engine:
        assert [each.entry.version for each in engine.history.revisions(entry.id)] == [1]
        kept = durable(engine)
    place.home.database.unlink()
    with place.open() as engine:
        assert engine.history.revisions(entry.id) == []
        assert engine.history.changes() == []
        assert durable(engine) == kept
