"""However large a layer is, no prompt is larger than the model's window and the calls grow with the layer (02 §8)."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelFailed
from engine.memory.consolidation.clustering import ENTRIES_MAX, clusters
from engine.memory.listing import Filter
from engine.memory.model import MemoryType
from engine.runtime import Engine
from spark_tui.demo.model_server import ModelServer
from tests.memory.consolidation.asking import consolidated, extracted, shown_ids
from tests.support import Place

WORDS = (
    *("pnpm", "vite", "react", "数据库", "缓存", "部署", "测试", "branch", "commit"),
    *("review", "命名", "logging", "retry", "超时", "queue", "index", "schema", "日志"),
)
WINDOW = 8_000


def fill(engine: Engine, count: int, first: int = 0) -> None:
    """Entries about a few subjects, in both languages, many with long bodies; the same at every run."""
    chance = random.Random(first)
    for n in range(first, count):
        said = " ".join(chance.choices(WORDS, k=12))
        body = " ".join(chance.choices(WORDS, k=chance.choice((0, 40, 400))))
        entities = tuple(chance.sample(("React", "Vite", "Redis", "Go"), k=n % 3))
        extracted(engine, f"fact-{n:03}", said, body, type=chance.choice(list(MemoryType)), entities=entities)


def prompts(engine: Engine, server: ModelServer, window: int = WINDOW) -> tuple[list[str], int]:
    """Every prompt of one run, and how many tokens the largest question and answer may have."""
    report = consolidated(engine, server, window=window)
    asked = server.requests[-report.calls :]
    texts = ["\n".join(str(each["content"]) for each in request.body["messages"]) for request in asked]
    sizes = [engine.tokens.count(text) + each.body["max_tokens"] for text, each in zip(texts, asked, strict=True)]
    shown = [each for request in asked for each in shown_ids(request.prompt)]
    ids = engine.listing.ids(Filter())
    assert len(shown) == len(set(shown))
    assert set(shown) <= set(ids)
    assert len(shown) >= len(ids) - 1  # one that would stand alone in a question is not asked about
    return [request.prompt for request in asked], max(sizes)


@pytest.fixture
def large(place: Place) -> Place:
    """A home with room for many."""
    place.configure(memory__quota__user=1_000)
    return place


def test_no_prompt_is_larger_than_the_window_and_calls_grow_with_the_layer(
    large: Place, model_server: ModelServer
) -> None:
    calls = {}
    with large.open() as engine:
        for before, count in ((0, 100), (100, 200), (200, 400)):
            fill(engine, count, before)
            asked, largest = prompts(engine, model_server)
            assert largest <= WINDOW
            calls[count] = len(asked)
    assert calls[200] <= 2 * calls[100] + 1
    assert calls[400] <= 2 * calls[200] + 1
    assert calls[400] > calls[200] > calls[100] > 1


@pytest.mark.parametrize("window", [2_500, 4_000, 128_000])
def test_a_small_window_gets_small_prompts_and_a_large_one_not_endless_ones(
    large: Place, model_server: ModelServer, window: int
) -> None:
    with large.open() as engine:
        fill(engine, 130)
        asked, largest = prompts(engine, model_server, window)
    assert largest <= window
    assert max(len(shown_ids(prompt)) for prompt in asked) <= ENTRIES_MAX


def test_a_window_too_small_to_ask_anything_is_said_to_be(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        fill(engine, 3)
        with pytest.raises(ModelFailed, match="too small"):
            consolidated(engine, model_server, window=1_000)
        assert model_server.requests == []


def test_the_same_layer_is_asked_about_in_the_same_way(large: Place, model_server: ModelServer) -> None:
    with large.open() as engine:
        fill(engine, 100)
        first, _ = prompts(engine, model_server)
    with large.open() as engine:
        assert prompts(engine, model_server)[0] == first


@pytest.mark.parametrize("embedding", ["none", "local"])
def test_entries_about_the_same_are_asked_about_together(
    tmp_path_factory: pytest.TempPathFactory, model_server: ModelServer, embedding: str
) -> None:
    place = Place(tmp_path_factory.mktemp(embedding), embedding=embedding)
    place.configure(memory__quota__user=1_000)
    with place.open() as engine:
        fill(engine, 50)
        alike = [
            extracted(engine, "the-bundler", "the project is bundled with parcel"),
            extracted(engine, "bundling", "parcel bundles the project"),
        ]
        fill(engine, 60, first=50)
        shared = [
            extracted(engine, "left", "quite different words", entities=("Kafka",)),
            extracted(engine, "right", "nothing in common", entities=("kafka",)),
        ]
        engine.fill_vectors(1_000)
        report = consolidated(engine, model_server, window=4_000)
        groups = [set(shown_ids(request.prompt)) for request in model_server.requests[-report.calls :]]
        assert len(groups) > 2
        for pair in (alike, shared):
            assert any({each.id for each in pair} <= group for group in groups)


@given(
    sizes=st.dictionaries(st.integers(1, 300), st.integers(1, 900), max_size=120),
    seed=st.integers(),
    budget=st.integers(900, 5_000),
)
def test_any_layer_is_cut_into_few_groups_that_fit(sizes: dict[int, int], seed: int, budget: int) -> None:
    chance = random.Random(seed)
    likest = [
        (1 - n / 100, pair) for n, pair in enumerate(combinations(sorted(sizes)[:14], 2)) if chance.random() < 0.5
    ]
    found = clusters(sizes, likest, budget)
    assert sorted(rid for group in found for rid in group) == sorted(sizes)
    assert all(sum(sizes[rid] for rid in group) <= budget and len(group) <= ENTRIES_MAX for group in found)
    total = sum(sizes.values())
    assert len(found) <= 2 * (total / budget + len(sizes) / ENTRIES_MAX) + 1
    assert clusters(dict(reversed(sizes.items())), likest, budget) == found
