"""Search stays there whatever another process, a wrong setting or a slow model does, and hides no entry that answers."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from engine.memory.agent_access import AgentSession
from engine.memory.injection import AgentProfile, Request
from engine.memory.model import Changes, MemoryType
from engine.memory.retrieval import Channel, SearchResult, SearchStatus
from engine.memory.rows import VECTORS
from engine.runtime import Engine
from tests.providers.embedding_server import Answer, EmbeddingServer
from tests.support import Place, draft, matches

KEY = "zq81_my_own_gateway_key_77"
SESSION = AgentSession("s", None)


def with_model(place: Place, url: str, model: str = "test", **provider: str) -> Place:
    """The settings file names this model at this endpoint."""
    place.configure(memory__embeddingProviderId="mine", memory__embeddingModel=model)
    lines = [f'{name} = "{value}"\n' for name, value in {"base_url": url, **provider}.items()]
    with place.home.config.open("a", encoding="utf-8") as file:
        file.write("[providers.mine]\n" + "".join(lines))
    return place


def vectors(engine: Engine) -> tuple[str | None, int, int]:
    """Model, generation and number of the stored vectors."""
    with engine.database.read() as connection:
        return VECTORS.model(connection), VECTORS.generation(connection), VECTORS.count(connection)


def until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize("url", ["localhost:1234/v1", "ftp://host/v1", "", "https://me:secret@host/v1"])
def test_a_base_url_that_is_none_costs_the_vectors_only(place: Place, url: str) -> None:
    with with_model(place, url).open() as engine:
        entry = engine.store.add(draft("drinks", "likes tea"))
        for result in (engine.search("tea"), engine.agent_memory.search(SESSION, "tea")):
            assert [hit.entry.id for hit in result.hits] == [entry.id]
            assert result.channels["vector"] is Channel.ERROR
            assert "base URL" in str(result.reason)
            assert "secret" not in str(result.reason)
        assert engine.inject(Request(AgentProfile("main", "main"), prompt="tea")).injected


def test_another_writer_costs_the_first_search_of_a_model_its_vectors_only(place: Place) -> None:
    with EmbeddingServer() as server, with_model(place, server.url).open() as engine:
        entry = engine.store.add(draft("drinks", "likes tea"))
        other = apsw.Connection(str(place.home.database))
        other.execute("BEGIN IMMEDIATE")
        held = engine.agent_memory.search(SESSION, "tea")
        other.execute("ROLLBACK")
        other.close()
        assert [hit.entry.id for hit in held.hits] == [entry.id]
        assert (held.status, held.channels["vector"]) == (SearchStatus.DEGRADED, Channel.ERROR)
        assert engine.search("tea").status is SearchStatus.MATCHED


def test_a_search_follows_the_model_that_another_process_chose(place: Place) -> None:
    with EmbeddingServer() as server, with_model(place, server.url, "first").open() as engine:
        engine.store.add(draft("drinks", "likes tea"))
        engine.search("tea")
        with with_model(place, server.url, "second").open() as other:
            other.search("tea")
            assert vectors(other) == ("mine:second", 2, 1)
        for search in (engine.search, lambda text: engine.agent_memory.search(SESSION, text)):
            assert search("tea").channels["vector"] is Channel.OK
            assert vectors(engine) == ("mine:second", 2, 1)


def test_a_worker_follows_the_model_that_another_process_chose(place: Place) -> None:
    with EmbeddingServer() as server, with_model(place, server.url, "first").open() as screens:
        screens.store.add(draft("drinks", "likes tea"))
        screens.workers.start()
        assert until(lambda: vectors(screens) == ("mine:first", 1, 1))
        with with_model(place, server.url, "second").open() as other:
            other.search("tea")
            other.store.add(draft("food", "likes rice"))  # the worker hears of it and makes its vector
            assert until(lambda: vectors(other)[2] == 2)
            assert vectors(other) == ("mine:second", 2, 2)


class _Meanwhile:
    """An endpoint's texts watched from outside: does something once, while a batch is being embedded."""

    def __init__(self, server: EmbeddingServer, model: str, act: Callable[[], None]) -> None:
        self._server, self._model, self._act = server, model, act
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exception: object) -> None:
        self._thread.join()

    def _run(self) -> None:
        assert until(lambda: any(self._is_batch(request.body) for request in list(self._server.requests)))
        self._act()

    def _is_batch(self, body: dict[str, object]) -> bool:
        return body["model"] == self._model and len(body["input"]) == 3  # type: ignore[arg-type]


def test_a_late_batch_of_the_model_before_drops_nothing(place: Place) -> None:
    with EmbeddingServer(patience=3.0) as server, with_model(place, server.url, "first").open() as engine:
        for number in range(3):
            engine.store.add(draft(f"fact-{number}", f"fact {number}"))
        engine.embeddings.query("fact")  # begins the generation, so that the batch is the only slow answer
        server.script.append(Answer.SLOW)

        def change() -> None:
            with with_model(place, server.url, "second").open() as other:
                other.search("fact")

        with _Meanwhile(server, "first", change):
            engine.embeddings.fill()
        assert vectors(engine) == ("mine:second", 2, 3)


def test_a_pasted_key_is_never_repeated(place: Place) -> None:
    for pasted in (KEY, KEY.replace("_", "-")):
        with with_model(place, "http://127.0.0.1:9/v1", api_key_env=pasted).open() as engine:
            result: SearchResult = engine.search("tea")
            assert "api_key_env" in str(result.reason)
            assert pasted not in str(result.reason)
            assert pasted not in str(engine.embeddings.state())
    assert pasted not in place.home.log.read_text("utf-8")
    assert KEY not in place.home.log.read_text("utf-8")


def test_entries_of_one_line_and_different_bodies_are_both_found(place: Place) -> None:
    with place.open() as engine:
        wanted = engine.store.add(
            draft("deploy-a", "how to deploy", "production is blue and green, in zanzibar", type=MemoryType.REFERENCE)
        )
        place.clock.advance(ms=1_000)
        newer = engine.store.add(draft("deploy-b", "How to deploy.", "one box", type=MemoryType.REFERENCE))
        assert matches(engine, "deploy zanzibar") == [wanted.id, newer.id]


def test_of_entries_that_say_the_same_the_newest_stays(place: Place) -> None:
    with place.open() as engine:
        older = engine.store.add(draft("deploy-a", "how to deploy", "Push the  tag"))
        place.clock.advance(ms=1_000)
        newer = engine.store.add(draft("deploy-b", "How to deploy.", "push the tag."))
        assert matches(engine, "deploy") == [newer.id]
        engine.store.edit(older.id, Changes(body="x" * 4_001))
        engine.store.edit(newer.id, Changes(body="x" * 4_000))
        assert sorted(matches(engine, "deploy")) == sorted([older.id, newer.id]), "one goes on where the other ends"


def test_what_an_agent_asks_for_cannot_forge_a_log_line(place: Place) -> None:
    with place.open() as engine:
        for wanted in ("x\n2026 INFO forged", "my secret plan"):
            with pytest.raises(Exception, match="no memory"):
                engine.agent_memory.recall(AgentSession("s\nFORGED", "main"), wanted)
    lines = _recalls(place.home.log)
    assert len(lines) == 2
    assert all("id=(no id) outcome=NOT_FOUND" in line and "session=s\\nFORGED agent" in line for line in lines)


def _recalls(log: Path) -> list[str]:
    text = log.read_text("utf-8")
    assert "plan" not in text
    assert not any(line.startswith("FORGED") for line in text.splitlines())
    return [line for line in text.splitlines() if "recall:" in line]


def test_a_worker_that_ends_after_its_engine_ends_quietly(place: Place) -> None:
    with EmbeddingServer([Answer.SLOW], patience=5.5) as server:
        engine = with_model(place, server.url).open()
        engine.store.add(draft("drinks", "likes tea"))
        before = set(threading.enumerate())
        engine.workers.start()
        mine = [thread for thread in threading.enumerate() if thread not in before and thread.name.startswith("_")]
        assert until(lambda: bool(server.requests))
        engine.close()
        for thread in mine:
            thread.join(20)
        assert [thread.name for thread in mine if thread.is_alive()] == []
    assert "starts again" not in place.home.log.read_text("utf-8")


def test_workers_started_again_do_the_work(place: Place) -> None:
    with EmbeddingServer() as server, with_model(place, server.url).open() as engine:
        engine.workers.start()
        engine.workers.stop()
        assert not engine.workers.running
        engine.store.add(draft("drinks", "likes tea"))
        engine.workers.start()
        assert until(lambda: vectors(engine)[2] == 1)
