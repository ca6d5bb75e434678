"""Vectors stay true to text and model: filled in, dropped when either changes, never mixed, never late."""

import threading
from pathlib import Path

import pytest

from engine.events import EmbeddingProgress, Fact
from engine.memory.model import Changes
from engine.memory.rows import VECTORS
from engine.runtime import Engine
from tests.providers.embedding_server import Answer, EmbeddingServer, with_endpoint
from tests.support import Place, draft


def stored(engine: Engine) -> int:
    with engine.database.read() as connection:
        return VECTORS.count(connection)


def texts(server: EmbeddingServer) -> list[str]:
    return [text for request in server.requests for text in request.body["input"]]


def test_name_and_description_are_embedded_once(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        engine.store.add(draft("make-tabs", "Tabs in Makefiles", "the body is not embedded"))
        assert engine.embeddings.fill() == (1, 1)
        assert engine.embeddings.fill() == (1, 1)
        assert [text for text in texts(server) if "Tabs" in text] == ["make tabs: Tabs in Makefiles"]


def test_only_a_changed_text_is_embedded_again(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        engine.embeddings.fill()
        asked = len(texts(server))
        engine.store.edit(entry.id, Changes(body="another body"))
        assert engine.embeddings.fill() == (1, 1)
        assert len(texts(server)) == asked
        engine.store.edit(entry.id, Changes(description="Spaces in YAML"))
        assert stored(engine) == 0, "a vector of an older text is never searched"
        assert engine.embeddings.fill() == (1, 1)
        assert texts(server)[-1] == "tabs: Spaces in YAML"


def test_an_archived_entry_needs_no_vector_and_keeps_the_one_it_has(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        engine.embeddings.fill()
        engine.store.archive([entry.id])
        assert engine.search("tabs in makefiles").hits == ()
        engine.store.unarchive([entry.id])
        asked = len(texts(server))
        assert engine.embeddings.fill() == (1, 1)
        assert len(texts(server)) == asked
        assert engine.search("tabs in makefiles").hits[0].vector_rank == 1


def test_another_model_begins_a_new_generation_and_drops_the_old_vectors(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        engine.store.add(draft("tabs"))
        engine.embeddings.fill()
        before = engine.embeddings.state()
        engine.settings.set("memory.embeddingModel", "other")
        engine.memory_settings()
        assert engine.embeddings.fill() == (1, 1)
        after = engine.embeddings.state()
    assert after.generation == before.generation + 1
    assert (before.model, after.model) == ("mine:test", "mine:other")


def test_a_late_result_of_an_old_generation_is_refused(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        engine.store.add(draft("tabs"))
        engine.embeddings.fill()
        with engine.database.write() as connection:
            old = VECTORS.generation(connection)
            VECTORS.begin_generation(connection, "another", 32)
            late = VECTORS.put(
                connection, 1, "user", bytes(31 * 4) + b"\0\0\x80?", generation=old, input_hash="", live=True,
                expires=None, type="user",
            )  # fmt: skip
        assert late is False
        assert stored(engine) == 0


def test_an_endpoint_that_changes_its_dimension_is_followed(place: Place) -> None:
    with EmbeddingServer() as server:
        with with_endpoint(place, server).open() as engine:
            engine.store.add(draft("one", "first"))
            engine.embeddings.fill()
        server.always = Answer.WRONG_DIMENSION
        with place.open() as engine:
            engine.store.add(draft("two", "second"))
            engine.embeddings.fill()
            assert engine.embeddings.state().done == engine.embeddings.state().total == 2
            assert engine.search("second").status != "degraded"


def test_a_model_that_fails_stops_the_filling_and_loses_nothing(place: Place) -> None:
    with EmbeddingServer(always=Answer.STATUS_500) as server, with_endpoint(place, server).open() as engine:
        engine.store.add(draft("tabs"))
        assert engine.fill_vectors(10) is False
        assert "500" in str(engine.embeddings.state().reason)
        server.always = Answer.NORMAL
        place.clock.advance(ms=300_001)
        assert engine.fill_vectors(10) is True
        assert stored(engine) == 1


def test_rebuilding_makes_every_vector_anew_and_tells_its_progress(place: Place) -> None:
    facts: list[Fact] = []
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        for number in range(40):
            engine.store.add(draft(f"fact-{number}", f"fact {number}"))
        engine.embeddings.fill()
        engine.embeddings.rebuild()
        assert stored(engine) == 0
        engine.bus.listen(facts.append)
        assert engine.embeddings.fill() == (40, 40)
    assert [fact for fact in facts if isinstance(fact, EmbeddingProgress)][-1] == EmbeddingProgress(40, 40)


def test_a_process_without_the_extension_finds_the_same(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        for name, text in (
            ("a", "makefiles number 3"),
            ("b", "makefiles and more"),
            ("c", "the quarterly budget plan"),
        ):
            engine.store.add(draft(name, text))
        with_index = [(hit.entry.id, hit.vector_rank) for hit in engine.search("makefiles number 3").hits]
        with engine.database.write() as connection:
            connection.execute("UPDATE memory_index_state SET value = '1' WHERE key = 'vec_dirty'")
        without = [(hit.entry.id, hit.vector_rank) for hit in engine.retrieval.search(
            "makefiles number 3", engine.layers.person(), engine.memory_settings()
        ).hits]  # fmt: skip
        engine.embeddings.fill()
        with engine.database.read() as connection:
            assert not VECTORS.needs_repair(connection)
    assert with_index == without


def test_workers_fill_in_vectors_and_notice_another_process(place: Place) -> None:
    heard = threading.Event()
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        engine.bus.listen(lambda fact: heard.set() if isinstance(fact, EmbeddingProgress) and fact.done == 2 else None)
        engine.workers.start()
        with place.open() as other:
            other.store.add(draft("one", "first"))
            other.store.add(draft("two", "second"))
        assert heard.wait(20)
        assert stored(engine) == 2


@pytest.mark.parametrize("provider", ["none", "local"])
def test_closing_with_workers_running_ends_their_threads(tmp_path: Path, provider: str) -> None:
    with Place(tmp_path, embedding=provider).open() as engine:
        engine.workers.start()
        names = {thread.name for thread in threading.enumerate()}
        assert {"_follow", "_watch", "_fill"} <= names
    assert not {"_follow", "_watch", "_fill"} & {thread.name for thread in threading.enumerate()}
