"""Says whether two entries can mean the same at all, so that no answer of a model joins what has nothing in common.

Reads once; a floor to a model's judgement, never a judgement of its own.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import apsw

from engine.memory.consolidation.likeness import vectors_of
from engine.memory.consolidation.model import Snapshot
from engine.memory.entities import normalised_entity
from engine.storage import fulltext
from engine.vector import numbers_of

# Measured on 29 entries in two languages (the test beside this): pairs that say the same share at least 0.17 of the
# shorter one's words, or point the same way from the middle of their layer by at least 0.28; of pairs about something
# else 99 in 100 stay below both.
WORDS_FLOOR: Final = 0.15
VECTOR_FLOOR: Final = 0.25
# Fewer vectors have no middle that says anything.
VECTORS_MIN: Final = 8
# In almost every memory: two that share these have nothing in common by it.
_EVERYWHERE: Final = frozenset({
    "user", "users", "use", "uses", "used", "using", "project", "projects", "prefer", "prefers", "want", "wants",
    "like", "likes", "always", "never", "not", "no", "every", "用户", "使用", "项目", "喜欢", "不要", "不用", "总是", "必须",
})  # fmt: skip


class Alike:
    """The likeness of any two of these entries: by the words and entities they share, by vectors where there are any."""

    def __init__(self, connection: apsw.Connection, found: Sequence[Snapshot]) -> None:
        self._vectors = vectors_of(connection, found)

    def floor_of(self, one: Snapshot, other: Snapshot) -> float:
        """How far the better of both measures is above its floor: 1 is just enough, less is too little."""
        return max(_shared(one, other) / WORDS_FLOOR, self._direction(one.rid, other.rid) / VECTOR_FLOOR)

    def _direction(self, one: int, other: int) -> float:
        """Cosine of two vectors seen from the middle of the layer, where a model's own leaning is gone; 0 without one."""
        if one not in self._vectors or other not in self._vectors or len(self._vectors) < VECTORS_MIN:
            return 0.0
        left, right = self._from_middle(one), self._from_middle(other)
        length = math.hypot(*left) * math.hypot(*right)
        return sum(map(float.__mul__, left, right)) / length if length else 0.0

    def _from_middle(self, rid: int) -> list[float]:
        return [value - mean for value, mean in zip(numbers_of(self._vectors[rid]), self._middle, strict=True)]

    @cached_property
    def _middle(self) -> list[float]:
        count = len(self._vectors)
        columns = zip(*map(numbers_of, self._vectors.values()), strict=True)
        return [sum(column) / count for column in columns]


def _shared(one: Snapshot, other: Snapshot) -> float:
    """Which part of the shorter one's words, entities among them, stands in the other too."""
    left, right = _words(one), _words(other)
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def _words(each: Snapshot) -> set[str]:
    line = f"{each.entry.name} {each.entry.description} {' '.join(map(normalised_entity, each.entry.entities))}"
    found = (fulltext.match_query(line) or "").split(" OR ")
    return {word for term in found if (word := term.strip('"')) and word not in _EVERYWHERE}
