"""Takes the time of contenders in turn (A B A B …), so that a busy moment of the machine meets all; judges nothing."""

import gc
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Samples:
    """What one contender gave in each round, in ``unit``."""

    values: tuple[float, ...]
    unit: str = "ms"

    @property
    def median(self) -> float:
        """The middle value."""
        return median(self.values)

    @property
    def low(self) -> float:
        """The smallest value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest value."""
        return max(self.values)

    def at(self, share: float) -> float:
        """The value that ``share`` (0–1) of all do not exceed, by nearest rank; 0.5 is the median."""
        if share == 0.5:
            return self.median
        return sorted(self.values)[max(0, math.ceil(share * len(self.values)) - 1)]


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of every round: by the clock on the wall, and of all threads of the process on a CPU."""

    wall: Samples
    cpu: Samples


def interleaved(contenders: Mapping[str, Callable[[int], object]], rounds: int, warm_up: int = 1) -> dict[str, Timed]:
    """Call every contender once a round with the round's number; rounds below 0 warm up and are not counted."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    gc.collect()
    for number in range(-warm_up, rounds):
        for name, call in contenders.items():
            one = _timed(call, number)
            if number >= 0:
                taken[name].append(one)
    return {name: timed(pairs) for name, pairs in taken.items()}


def timed(pairs: list[tuple[float, float]]) -> Timed:
    """Pairs of (wall, CPU) in seconds as one result."""
    wall, cpu = zip(*pairs, strict=True)
    return Timed(Samples(tuple(w * 1000 for w in wall)), Samples(tuple(c * 1000 for c in cpu)))


def pace() -> Samples:
    """Milliseconds of a fixed bit of Python, to tell a slow or busy machine from slow code."""

    def loop(_: int) -> int:
        return sum(number * number % 7 for number in range(100_000))

    return interleaved({"loop": loop}, 7)["loop"].wall


def _timed(call: Callable[[int], object], number: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call(number)
    return time.perf_counter() - wall, time.process_time() - cpu
