"""MEMORY.md: what is active in a layer, newest first, true again whoever changed what (02 §1)."""

from datetime import date

from engine.memory.model import Changes, Scope
from tests.support import Place, draft, expected_memory_md, memory_md


def test_every_layer_has_its_own_list(place: Place) -> None:
    with place.open() as engine:
        entries = [
            engine.store.add(draft("user-fact")),
            engine.store.add(draft("project-fact", scope=Scope.PROJECT)),
            engine.store.add(draft("agent-fact", scope=Scope.AGENT, agent="main")),
        ]
        for entry in entries:
            assert memory_md(place.path(entry).parent) == [f"- [{entry.name}]({entry.file}) — {entry.description}"]


def test_it_follows_every_verb(place: Place) -> None:
    with place.open() as engine:
        folder = place.home.memory_user
        one = engine.store.add(draft("one"))
        place.clock.advance(ms=1)
        two = engine.store.add(draft("two", "zwei 二"))
        for change in (
            lambda: engine.store.edit(one.id, Changes(description="changed")),
            lambda: engine.store.archive([two.id]),
            lambda: engine.store.unarchive([two.id]),
            lambda: engine.history.undo(engine.history.changes(limit=1)[0].group),
            lambda: place.path(one).unlink() or engine.refresh(),
            lambda: engine.history.restore(one.id),
            lambda: engine.store.delete([one.id]),
            lambda: engine.store.add(draft("three", valid_until=date(2020, 1, 1))),
        ):
            place.clock.advance(ms=1)
            change()
            assert memory_md(folder) == expected_memory_md(engine, folder)


def test_a_list_that_was_changed_or_deleted_is_made_again_at_the_next_look(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("one"))
    path = place.path(entry).parent / "MEMORY.md"
    good = path.read_bytes()
    for text in (None, b"my own words\n", b"\xff\xfe", b""):
        path.unlink()
        if text is not None:
            path.write_bytes(text)
        with place.open():
            assert path.read_bytes() == good


def test_a_list_that_is_right_is_not_written_again(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("one"))
        path = place.path(entry).parent / "MEMORY.md"
        before = path.stat()
        engine.refresh()
        engine.store.edit(entry.id, Changes(body="the list does not show this"))
    with place.open():
        assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_place_for_the_list_that_is_taken_costs_no_memory(place: Place) -> None:
    (place.home.memory_user / "MEMORY.md").mkdir(parents=True)
    with place.open() as engine:
        engine.store.add(draft("one"))
        assert engine.refresh() == []
    (place.home.memory_user / "MEMORY.md").rmdir()
    with place.open() as engine:
        assert memory_md(place.home.memory_user) == expected_memory_md(engine, place.home.memory_user)


def test_it_follows_a_day_that_ends_with_nobody_writing(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("short", valid_until=date(2026, 1, 2)))
        engine.store.add(draft("lasting"))
        layer = engine.layers.user()
        assert not engine.directory.is_due(layer)
        place.clock.advance(days=3)
        assert engine.directory.is_due(layer)
        engine.refresh()
        assert not engine.directory.is_due(layer)
        assert [line.split("]")[0] for line in memory_md(layer.folder)] == ["- [lasting"]


def test_no_list_is_made_where_there_is_nothing_to_list(place: Place) -> None:
    with place.open() as engine:
        engine.refresh()
    assert not place.home.memory_user.exists()
