"""Cuts a layer into groups that fit a prompt, like with like; the same entries always give the same groups. Pure.

Every group is at least half full together with the next, so the number of groups grows with the layer's size.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.consolidation.likeness import Pair

# More entries than these in one question, and models begin to overlook some.
ENTRIES_MAX: Final = 60


@dataclass(slots=True)
class _Group:
    members: list[int]
    tokens: int

    def takes(self, other: "_Group", budget: int) -> bool:
        few = len(self.members) + len(other.members) <= ENTRIES_MAX
        return few and self.tokens + other.tokens <= budget


def clusters(sizes: Mapping[int, int], likest_first: Iterable[tuple[float, Pair]], budget: int) -> list[list[int]]:
    """Groups of numbers whose sizes (tokens) add up to ``budget`` at most; one larger than that stands alone."""
    groups = {rid: _Group([rid], sizes[rid]) for rid in sorted(sizes)}
    if sum(sizes.values()) > budget or len(sizes) > ENTRIES_MAX:
        for _, (one, other) in likest_first:
            _join(groups, one, other, budget)
    distinct = {id(group): group for group in groups.values()}
    return [sorted(group.members) for group in _packed(list(distinct.values()), budget)]


def _join(groups: dict[int, _Group], one: int, other: int, budget: int) -> None:
    left, right = groups[one], groups[other]
    if left is right or not left.takes(right, budget):
        return
    left.members += right.members
    left.tokens += right.tokens
    for member in right.members:
        groups[member] = left


def _packed(groups: Sequence[_Group], budget: int) -> list[_Group]:
    """First fit, the largest first: no two of the answer would fit together."""
    packed: list[_Group] = []
    for group in sorted(groups, key=lambda each: (-each.tokens, min(each.members))):
        room = next((each for each in packed if each.takes(group, budget)), None)
        if room is None:
            packed.append(_Group(list(group.members), group.tokens))
        else:
            room.members += group.members
            room.tokens += group.tokens
    return packed
