"""Measures search on labelled memories and questions: recall, nDCG, and what was missed, with and without decay (09).

New wording is judged by adding it to the labelled set, not by bending the search until one example passes.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.clock import DAY_MS, ManualClock
from engine.errors import SparkError, ValidationFailed
from engine.memory.model import Draft, MemoryType, Scope
from engine.memory.store import MemoryStore

PACKAGED: Final = Path(__file__).with_name("search_probes.jsonl")
SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Planted:
    """One memory of a labelled set; ``age_days`` before now it was last written."""

    key: str
    type: MemoryType
    name: str
    description: str
    body: str
    entities: tuple[str, ...]
    age_days: float


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question: the keys it must find, and the near misses that must not stand above them."""

    text: str
    kind: str
    expects: frozenset[str]
    near_misses: frozenset[str]


@dataclass(frozen=True, slots=True)
class Probes:
    """A labelled set."""

    memories: tuple[Planted, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A question that was not answered in full: what it wanted, what came instead (best first), and why it counts."""

    question: str
    kind: str
    expected: tuple[str, ...]
    found: tuple[str, ...]
    beaten_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Means over questions, 0 to 1; ``near_misses`` is the share of such questions in which the wrong one won."""

    questions: int
    recall: float
    ndcg: float
    near_misses: float


@dataclass(frozen=True, slots=True)
class Report:
    """One run: everything together, each kind of question by itself, and the misses."""

    total: Score
    kinds: dict[str, Score]
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    question: Question
    found: tuple[str, ...]

    @property
    def recall(self) -> float:
        return len(self.question.expects & set(self.found)) / len(self.question.expects)

    @property
    def ndcg(self) -> float:
        gain = sum(1 / math.log2(rank + 1) for rank, key in enumerate(self.found, 1) if key in self.question.expects)
        ideal = sum(1 / math.log2(rank + 1) for rank in range(1, len(self.question.expects) + 1))
        return gain / ideal

    @property
    def beaten_by(self) -> tuple[str, ...]:
        first = next((at for at, key in enumerate(self.found) if key in self.question.expects), len(self.found))
        return tuple(key for key in self.found[:first] if key in self.question.near_misses)


def load(path: Path) -> Probes:
    """A labelled set of JSON lines (memories and queries). Raises ``ValidationFailed`` that names the line."""
    memories: list[Planted] = []
    questions: list[Question] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValidationFailed(f"{path} cannot be read as text: {type(error).__name__}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            _take(json.loads(line), memories, questions)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValidationFailed(
                f"line {number} of {path.name} is no labelled example ({type(error).__name__})"
            ) from None
    unknown = {key for each in questions for key in each.expects | each.near_misses} - {each.key for each in memories}
    if unknown or not questions:
        raise ValidationFailed(
            f"{path.name}: " + (f"unknown keys {sorted(unknown)[:5]}" if unknown else "no questions")
        )
    return Probes(tuple(memories), tuple(questions))


def plant(probes: Probes, store: MemoryStore, clock: ManualClock) -> dict[str, str]:
    """Write the memories of a set at their ages, oldest first; answers the keys by entry id."""
    now, keys = clock.now_ms(), {}
    for each in sorted(probes.memories, key=lambda memory: -memory.age_days):
        clock.ms = now - round(each.age_days * DAY_MS)
        draft = Draft(
            Scope.USER, each.type, each.name, each.description, body=each.body, entities=each.entities
        )  # fmt: skip
        try:
            keys[store.add(draft).id] = each.key
        except SparkError as error:
            raise ValidationFailed(f"memory {each.key} of the labelled set was refused: {error.message}") from error
    clock.ms = now
    return keys


def judge(questions: Sequence[Question], ask: Callable[[str], Iterable[str]]) -> Report:
    """Ask every question; ``ask`` answers the keys it finds, best first."""
    answers = [_Answer(question, tuple(ask(question.text))) for question in questions]
    by_kind: dict[str, list[_Answer]] = defaultdict(list)
    for answer in answers:
        by_kind[answer.question.kind].append(answer)
    misses = (_miss(answer) for answer in answers if answer.recall < 1 or answer.beaten_by)
    return Report(_score(answers), {kind: _score(some) for kind, some in by_kind.items()}, tuple(misses))


def _take(line: dict[str, Any], memories: list[Planted], questions: list[Question]) -> None:
    if "memory" in line:
        entities = tuple(map(str, line.get("entities", ())))
        memories.append(
            Planted(
                str(line["memory"]), MemoryType(line["type"]), str(line["name"]), str(line["description"]),
                str(line.get("body", "")), entities, float(line.get("age_days", 0)),
            )
        )  # fmt: skip
        return
    expects = frozenset(map(str, line["expects"]))
    if not expects:
        raise ValueError("a question expects something")
    near_misses = frozenset(map(str, line.get("not", ())))
    questions.append(Question(str(line["query"]), str(line.get("kind", "all")), expects, near_misses))


def _score(answers: Sequence[_Answer]) -> Score:
    contested = [answer for answer in answers if answer.question.near_misses]
    return Score(
        len(answers),
        _mean([answer.recall for answer in answers]),
        _mean([answer.ndcg for answer in answers]),
        _mean([float(bool(answer.beaten_by)) for answer in contested]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _miss(answer: _Answer) -> Miss:
    question = answer.question
    return Miss(question.text, question.kind, tuple(sorted(question.expects)), answer.found[:SHOWN], answer.beaten_by)
