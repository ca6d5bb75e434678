"""An index written by another tokeniser is written again at the next start, and only then."""

import logging

import pytest

from tests.support import Place, draft, matches


def pretend_older(place: Place) -> None:
    """As a program with another way of splitting words would have left it."""
    with place.open() as engine, engine.database.write() as connection:
        connection.execute("UPDATE memory_index_state SET value = 'older' WHERE key = 'tokeniser'")
        connection.execute("DELETE FROM memory_fts")


def test_memories_are_found_again_after_the_tokeniser_changed(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles", "组件写法"))
    pretend_older(place)
    with place.open() as engine:
        assert matches(engine, "makefiles") == matches(engine, "组件") == [entry.id]


def test_an_index_of_this_tokeniser_is_left_alone(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with place.open() as engine:
        engine.store.add(draft("tabs"))
    caplog.set_level(logging.INFO, "engine")
    with place.open() as engine:
        assert matches(engine, "tabs")
    assert "indexed by tokeniser" not in caplog.text
