"""A run that was cut short goes on where it stopped; a model that reads less is asked with less (02 §8)."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from engine.errors import ModelFailed
from engine.memory.consolidation.model import Skipped
from engine.providers.chat import ChatReply, ChatRequest
from engine.runtime import Engine
from engine.settings_providers import WINDOW_MIN
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail
from tests.memory.consolidation.asking import actions, asking, extracted, merge, shown_ids
from tests.support import Place, state_of

Ask = Callable[[ChatRequest], ChatReply]
LARGE = 8_000


def fill(engine: Engine) -> set[str]:
    """Entries that take several questions of ``LARGE`` tokens."""
    return {extracted(engine, f"fact-{n:03}", f"fact number {n}", "word " * 150).id for n in range(40)}


def merging(engine: Engine, server: ModelServer, fails_at: float = math.inf) -> Ask:
    """Merges the first two entries of every question; the one of this number fails."""
    asked = asking(engine, server)
    calls = 0

    def ask(request: ChatRequest) -> ChatReply:
        nonlocal calls
        calls += 1
        shown = shown_ids(request.messages[0].text)
        server.then(Fail(400, message="no") if calls == fails_at else actions(merge(*shown[:2])))
        return asked(request)

    return ask


def test_a_run_goes_on_where_a_failed_call_stopped_it(place: Place, model_server: ModelServer) -> None:
    kept: list[Mapping[str, Any]] = []
    with place.open() as engine:
        ids = fill(engine)
        with pytest.raises(ModelFailed):
            engine.consolidation.run("user", merging(engine, model_server, fails_at=2), LARGE, keep=kept.append)
        asked_first = set(shown_ids(model_server.requests[0].prompt))
        assert (set(kept[-1]["asked"]), len(kept)) == (asked_first, 1)
        report = engine.consolidation.run("user", merging(engine, model_server), LARGE, kept[-1], kept.append)
        later = [each for request in model_server.requests[2:] for each in shown_ids(request.prompt)]
        assert not asked_first & set(later)
        assert len(ids - asked_first - set(later)) <= 1  # one that would stand alone is not asked about
        assert report.calls == len(model_server.requests) - 1
        assert len(report.merged) == report.calls
        assert state_of(engine, report.merged[0].ids[0]) == "invalid"
        done = engine.consolidation.run("user", merging(engine, model_server), LARGE, kept[-1])
        assert done.items == report.items


def test_progress_keeps_what_was_left_too_and_no_text(place: Place, model_server: ModelServer) -> None:
    kept: list[Mapping[str, Any]] = []
    with place.open() as engine:
        one, two = extracted(engine, "dog", "meadowlark"), extracted(engine, "ci", "nightingale")
        model_server.then(actions(merge(one, two)))
        engine.consolidation.run("user", asking(engine, model_server), LARGE, keep=kept.append)
        again = engine.consolidation.run("user", asking(engine, model_server), LARGE, kept[-1])
        assert again.skipped == (Skipped("merge", "unlike", (one.id, two.id)),)
        assert not {"meadowlark", "nightingale"} & set(str(kept).replace("'", " ").split())


def test_whoever_keeps_the_progress_may_stop_the_run(place: Place, model_server: ModelServer) -> None:
    def lost(far: Mapping[str, Any]) -> None:
        raise InterruptedError

    with place.open() as engine:
        fill(engine)
        with pytest.raises(InterruptedError):
            engine.consolidation.run("user", asking(engine, model_server), LARGE, keep=lost)
        assert len(model_server.requests) == 1


def test_a_model_that_reads_less_is_asked_with_less_and_stays_so(place: Place, model_server: ModelServer) -> None:
    kept: list[Mapping[str, Any]] = []
    with place.open() as engine:
        ids = fill(engine)
        asked, seen = asking(engine, model_server), []

        def ask(request: ChatRequest) -> ChatReply:
            size = engine.tokens.count(request.messages[0].text)
            if size > 3_000:
                raise ModelFailed("too long", fault="too_long")
            seen.extend(shown_ids(request.messages[0].text))
            return asked(request)

        report = engine.consolidation.run("user", ask, 32_000, keep=kept.append)
        assert (report.calls > 1, len(seen) == len(set(seen)), len(ids - set(seen)) <= 1) == (True, True, True)
        assert kept[-1]["window"] < 32_000


def test_a_model_that_reads_nothing_is_given_up(place: Place, model_server: ModelServer) -> None:
    windows: list[int] = []

    def ask(request: ChatRequest) -> ChatReply:
        windows.append(request.max_tokens)
        raise ModelFailed("too long", fault="too_long")

    with place.open() as engine:
        fill(engine)
        with pytest.raises(ModelFailed):
            engine.consolidation.run("user", ask, 16_000)
        assert windows[-1] == WINDOW_MIN // 4
        assert len(windows) == 4
        assert len(model_server.requests) == 0
