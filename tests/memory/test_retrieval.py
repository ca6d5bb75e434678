"""Search finds by words and by meaning, filters before it ranks, explains itself and never hides a fault."""

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.memory.model import Changes, MemoryType, Scope
from engine.memory.retrieval import Channel, SearchStatus, decay_of
from engine.runtime import Engine
from tests.providers.embedding_server import Answer, EmbeddingServer, with_endpoint
from tests.support import Place, draft, matches


def test_a_moved_on_statement_meets_the_one_it_replaces(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("bundler", "项目用 webpack 构建"))
        assert matches(engine, "已从 webpack 迁到 vite") == [entry.id]


def test_every_hit_explains_its_place(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("tabs", "Tabs in Makefiles"))
        place.clock.advance(days=100)
        hit = engine.search("tabs").hits[0]
    assert (hit.fts_rank, hit.vector_rank, hit.similarity) == (1, None, None)
    assert hit.bm25 is not None
    assert hit.rrf == pytest.approx(1 / 61)
    assert hit.decay == pytest.approx(math.exp(-1))
    assert hit.score == pytest.approx(hit.rrf * hit.decay * hit.entry.confidence)


@pytest.mark.parametrize(("floor", "left"), [("0", math.exp(-1)), ("0.5", 0.5 + 0.5 * math.exp(-1)), ("1", 1.0)])
def test_the_floor_says_how_far_an_old_memory_may_sink(place: Place, floor: str, left: float) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs"))
        engine.settings.set("memory.timeDecayFloor", floor)
        now = place.clock.now_ms() + 100 * 86_400_000
        assert decay_of(entry.updated_at, now, engine.memory_settings()) == pytest.approx(left)
        assert decay_of(now + 1, now, engine.memory_settings()) == 1.0


def test_confidence_and_age_decide_between_equal_matches(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("tabs-a", "tabs in makefiles of project a"))
        place.clock.advance(days=30)
        unsure = engine.store.add(draft("tabs-b", "tabs in makefiles of project b", confidence=0.6))
        new = engine.store.add(draft("tabs-c", "tabs in makefiles of project c"))
        assert matches(engine, "tabs makefiles") == [new.id, old.id, unsure.id]


def test_only_active_entries_of_the_asked_scope_and_type_are_found(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("mine", "shared word"))
        archived = engine.store.add(draft("shelved", "shared word too"))
        project = engine.store.add(draft("ours", "shared word here", scope=Scope.PROJECT, type=MemoryType.PROJECT))
        agent = engine.store.add(draft("theirs", "shared word there", scope=Scope.AGENT, agent="codex"))
        engine.store.archive([archived.id])

        def found(**narrow: object) -> set[str]:
            return {hit.entry.name for hit in engine.search("shared", **narrow).hits}  # type: ignore[arg-type]

        assert found() == {"mine", "ours", "theirs"}
        assert found(scope=Scope.PROJECT) == {project.name}
        assert found(scope=Scope.AGENT, agent="codex") == {agent.name}
        assert found(scope=Scope.AGENT, agent="claude-code") == set()
        assert found(type=MemoryType.PROJECT) == {project.name}


def test_dozens_of_better_matches_in_another_layer_take_no_place_from_the_one_asked_for(place: Place) -> None:
    with place.open() as engine:
        for number in range(45):
            engine.store.add(draft(f"old-{number}", f"needle needle {number}", scope=Scope.AGENT, agent="other"))
        wanted = engine.store.add(draft("wanted", "a haystack with one needle in it"))
        assert [hit.entry.id for hit in engine.search("needle", scope=Scope.USER).hits] == [wanted.id]


def test_the_same_words_twice_show_the_newest_but_feedback_is_never_folded(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("first", "Deploys on Fridays are fine."))
        place.clock.advance(days=1)
        second = engine.store.add(draft("second", "deploys on fridays are fine"))
        a = engine.store.add(draft("rule-a", "Deploys on Fridays are fine", type=MemoryType.FEEDBACK))
        b = engine.store.add(draft("rule-b", "Deploys on Fridays are fine", type=MemoryType.FEEDBACK))
        assert set(matches(engine, "fridays")) == {second.id, a.id, b.id}


def test_entries_that_share_an_entity_with_a_hit_are_shown_as_related(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("components", "prefers hooks", entities=("React.js",)))
        related = engine.store.add(draft("state", "keeps state in Zustand", entities=("react",)))
        engine.store.add(draft("other", "keeps state in Pinia", entities=("Vue",)))
        engine.store.add(draft("foreign", "renders lists", scope=Scope.AGENT, agent="codex", entities=("react",)))
        result = engine.search("hooks", scope=Scope.USER)
    assert [hit.entry.name for hit in result.hits] == ["components"]
    assert [entry.id for entry in result.related] == [related.id]


@pytest.mark.parametrize("query", ["", "   ", "!!! ??? …", "((((", '"', "*", "NEAR(", "name:", "\0", "AND OR NOT", "-"])
def test_a_query_without_words_finds_nothing_and_is_no_fault(place: Place, query: str) -> None:
    with place.open() as engine:
        engine.store.add(draft("tabs"))
        result = engine.search(query)
    assert result.status is SearchStatus.EMPTY
    assert result.hits == ()


def test_a_query_of_ten_thousand_characters_finds_what_it_names(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        assert matches(engine, "tabs " + "函数式组件 filler words " * 500) == [entry.id]


@pytest.fixture(scope="module")
def searchable(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Place(tmp_path_factory.mktemp("searchable")).open()
    engine.store.add(draft("tabs", "Tabs in Makefiles; c++ and node.js"))
    return engine


@given(query=st.text(max_size=200))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_makes_search_fail(searchable: Engine, query: str) -> None:
    assert searchable.search(query).status in (SearchStatus.MATCHED, SearchStatus.EMPTY)


def test_switched_off_is_said_and_is_not_nothing_found(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("tabs"))
        engine.settings.set("memory.enabled", "false")
        result = engine.search("tabs")
    assert result.status is SearchStatus.DISABLED
    assert result.hits == ()


def test_words_and_vectors_vote_together(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        engine.store.add(draft("both", "makefile tabs"))
        engine.store.add(draft("near", "makefiles tab"))
        engine.store.add(draft("far", "quarterly budget"))
        result = engine.search("makefile tabs")
    first = result.hits[0]
    assert result.status is SearchStatus.MATCHED
    assert (first.entry.name, first.fts_rank, first.vector_rank) == ("both", 1, 1)
    assert first.rrf == pytest.approx(2 / 61)
    assert first.similarity is not None
    assert result.channels == {"fts": Channel.OK, "vector": Channel.OK}


def test_a_failing_model_leaves_the_words_and_says_so(place: Place) -> None:
    with EmbeddingServer(always=Answer.STATUS_401) as server, with_endpoint(place, server).open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        result = engine.search("tabs")
        missed = engine.search("nothing of the kind")
        asked = len(server.requests)
        engine.search("tabs again")
        assert len(server.requests) == asked, "a model that failed is left alone for five minutes"
        server.always = Answer.NORMAL
        place.clock.advance(ms=300_001)
        healed = engine.search("tabs")
    assert [hit.entry.id for hit in result.hits] == [entry.id]
    assert result.status is missed.status is SearchStatus.DEGRADED
    assert result.channels["vector"] is Channel.ERROR
    assert "401" in str(result.reason)
    assert healed.status is SearchStatus.MATCHED


def test_a_broken_full_text_index_leaves_the_vectors_and_says_so(place: Place) -> None:
    with EmbeddingServer() as server, with_endpoint(place, server).open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        engine.search("warm")
        with engine.database.write() as connection:
            connection.execute("DROP TABLE memory_fts")
        result = engine.search("tabs in makefiles")
    assert [hit.entry.id for hit in result.hits] == [entry.id]
    assert result.status is SearchStatus.DEGRADED
    assert result.channels == {"fts": Channel.ERROR, "vector": Channel.OK}
    assert not result.unavailable


def test_with_both_channels_gone_the_block_falls_back_to_everything(place: Place) -> None:
    from engine.memory.injection import Request

    with EmbeddingServer(always=Answer.STATUS_500) as server, with_endpoint(place, server).open() as engine:
        entries = [engine.store.add(draft(f"fact-{number}", f"fact number {number}")) for number in range(30)]
        with engine.database.write() as connection:
            connection.execute("DROP TABLE memory_fts")
        assert engine.search("fact").unavailable
        injection = engine.inject(Request())
    assert set(injection.injected) == {entry.id for entry in entries}


def test_an_unknown_provider_is_a_fault_that_names_itself(place: Place) -> None:
    place.configure(memory__embeddingProviderId="gone")
    with place.open() as engine:
        engine.store.add(draft("tabs"))
        result = engine.search("tabs")
    assert result.status is SearchStatus.DEGRADED
    assert "gone" in str(result.reason)
    assert len(result.hits) == 1


def test_an_edit_by_the_person_is_searched_by_its_new_words_only(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs", "Tabs in Makefiles"))
        engine.store.edit(entry.id, Changes(description="Spaces in YAML"))
        assert matches(engine, "makefiles") == []
        assert matches(engine, "yaml") == [entry.id]


def test_meaning_is_found_without_a_shared_word_and_across_languages(tmp_path: Path) -> None:
    """The embedded model itself: no key, no network, nothing downloaded."""
    from engine.providers.local_embedding import available

    if reason := available():
        pytest.skip(reason)
    with Place(tmp_path, embedding="local").open() as engine:
        wanted = engine.store.add(draft("偏好函数式组件", "写 React 时偏好函数式组件，不用类"))
        for name, text in (
            ("database", "主库是 PostgreSQL"),
            ("coffee", "Drinks coffee at nine"),
            ("vpn", "公司 VPN 的说明"),
        ):
            engine.store.add(draft(name, text))
        chinese = engine.search("组件写法").hits[0]
        english = engine.search("how to write user interface parts").hits[0]
    assert chinese.entry.id == english.entry.id == wanted.id
    assert chinese.vector_rank is not None
    assert (english.fts_rank, english.vector_rank) == (None, 1)
