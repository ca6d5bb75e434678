"""The memory block an agent gets, beside counting the tokens of the finished block; the same bytes every time."""

import time
from collections.abc import Iterator

from benchmarks import homes
from benchmarks.figures import Figure, Goal, figure
from benchmarks.setting import Setting
from benchmarks.timing import Samples, interleaved, timed
from engine.memory.injection import AgentProfile, InjectionStatus, Request
from engine.providers.tokens import TokenCounter
from engine.runtime import Engine

SIZES = (350, 5_000)
GOAL_SIZE = 350
GOAL = Goal(plus=10)
RUNS = 100
PROFILE = AgentProfile(homes.AGENT, "Reviewer", "reads changes before they are merged, 代码评审")


def run(setting: Setting) -> Iterator[Figure | str]:
    """Blocks without a session (chosen anew each time) and within one (the choice is frozen)."""
    for size in setting.sizes(*SIZES):
        with homes.built(setting.folder, size).open() as engine:
            yield from _figures(engine, size, setting.either(RUNS, 10))


def _figures(engine: Engine, size: int, rounds: int) -> Iterator[Figure]:
    requests = {"new": Request(PROFILE), "session": Request(PROFILE, session="measured")}
    started = time.perf_counter(), time.process_time()
    block = _block(engine, requests["new"])
    first = timed([(time.perf_counter() - started[0], time.process_time() - started[1])])
    counter = TokenCounter()
    taken = interleaved(
        {
            "new": lambda _: _same(engine, requests["new"], block),
            "session": lambda _: _same(engine, requests["session"], block),
            # Lines that no round before has counted: a counter remembers those it knows.
            "count": lambda number: counter.count(block.replace("- [", f"- [{number} ")),
        },
        rounds,
    )
    reference, goal = ("counting its tokens", taken["count"]), GOAL if size == GOAL_SIZE else None
    yield figure(f"the first block of a process, {size:,} entries (loads model and vocabulary)", first)
    yield Figure(f"tokens of the block, {size:,} entries", Samples((counter.count(block),), ""))
    for name, what in (("new", "memory block"), ("session", "memory block within a session")):
        for share in (0.5, 0.95):
            beside = goal if share == 0.95 else None
            yield figure(f"{what}, {size:,} entries", taken[name], reference, beside, share)


def _block(engine: Engine, request: Request) -> str:
    injection = engine.inject(request)
    if injection.status is not InjectionStatus.MATCHED:
        raise RuntimeError(f"no block: {injection.status}")
    return injection.block


def _same(engine: Engine, request: Request, block: str) -> None:
    if _block(engine, request) != block:
        raise RuntimeError("the block changed although no memory did")
