"""Measures the gates on labelled examples: precision, recall, by language and kind, and everything they got wrong."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.gate_log import Gate
from engine.memory.gates.labelled import Example
from engine.memory.gates.transient import transient_reason
from engine.memory.sensitive.scan import find_sensitive, redact

SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Score:
    """How one gate did on some examples: rightly and wrongly dropped, missed, and rightly passed."""

    dropped: int
    wrongly: int
    missed: int
    passed: int

    @property
    def items(self) -> int:
        """How many examples there were."""
        return self.dropped + self.wrongly + self.missed + self.passed

    @property
    def precision(self) -> float | None:
        """Of what it dropped, the share it had to; None where it dropped nothing."""
        return _share(self.dropped, self.wrongly)

    @property
    def recall(self) -> float | None:
        """Of what it had to drop, the share it did; None where there was nothing to drop."""
        return _share(self.dropped, self.missed)


@dataclass(frozen=True, slots=True)
class Miss:
    """An example judged wrongly. ``found`` is the reason of a drop that should not be, None for what slipped through;
    ``shown`` never holds a secret, not even a synthetic one."""

    example: Example
    found: str | None
    shown: str


@dataclass(frozen=True, slots=True)
class Report:
    """How one gate did: everything together, by language, by kind, and the misses in the order of the files."""

    gate: Gate
    total: Score
    languages: dict[str, Score]
    kinds: dict[str, Score]
    misses: tuple[Miss, ...]


def evaluate(examples: Sequence[Example]) -> list[Report]:
    """One report for each gate that has examples, in the order in which the gates are asked."""
    judged = [(each, _verdict(each)) for each in examples]
    gates = [gate for gate in (Gate.TRANSIENT, Gate.SENSITIVE) if any(each.gate is gate for each in examples)]
    return [_report(gate, [pair for pair in judged if pair[0].gate is gate]) for gate in gates]


def _verdict(example: Example) -> str | None:
    if example.gate is Gate.TRANSIENT:
        return transient_reason(example.name, example.text)
    found = find_sensitive(example.text)
    return found.kind if found else None


def _report(gate: Gate, judged: Sequence[tuple[Example, str | None]]) -> Report:
    misses = (_miss(each, found) for each, found in judged if each.drop is (found is None))
    return Report(
        gate,
        _score(judged),
        _by(judged, lambda example: example.language.value),
        _by(judged, lambda example: example.kind),
        tuple(misses),
    )


def _by(judged: Sequence[tuple[Example, str | None]], key: Callable[[Example], str]) -> dict[str, Score]:
    groups: dict[str, list[tuple[Example, str | None]]] = defaultdict(list)
    for pair in judged:
        groups[key(pair[0])].append(pair)
    return {name: _score(groups[name]) for name in sorted(groups)}


def _score(judged: Iterable[tuple[Example, str | None]]) -> Score:
    counted = Counter((each.drop, found is not None) for each, found in judged)
    return Score(counted[True, True], counted[False, True], counted[True, False], counted[False, False])


def _share(right: int, wrong: int) -> float | None:
    return right / (right + wrong) if right + wrong else None


def _miss(example: Example, found: str | None) -> Miss:
    if example.gate is Gate.TRANSIENT:
        shown = redact(f"{example.name} | {example.text}")
    elif example.drop:  # a secret nobody found: no rule can say where in the text it is, so nothing of it is shown
        shown = re.sub(r"\S", "·", example.text)
    else:
        shown = redact(example.text)
    return Miss(example, found, shown[:SHOWN])
