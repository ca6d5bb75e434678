"""Which entries of a layer may be about the same: near vectors, shared entities, shared words; each pair weighted.

Reads only. The number of pairs grows with the layer, not with its square.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import apsw

from engine.memory.consolidation.model import Snapshot
from engine.memory.entities import normalised_entity
from engine.memory.rows import VECTORS
from engine.storage import fulltext
from engine.vector import Vector

NEIGHBOURS: Final = 8
# A word or entity of more entries than these tells nothing about two of them.
COMMON: Final = 24
ENTITY_WEIGHT: Final = 0.1
Pair = tuple[int, int]


def pairs(connection: apsw.Connection, layer: str, found: Sequence[Snapshot], now: int) -> list[tuple[float, Pair]]:
    """Pairs of numbers, the likest first; equal ones by number, so that the same layer always answers the same."""
    weights: defaultdict[Pair, float] = defaultdict(float)
    vectors = vectors_of(connection, found)
    for pair, weight in _near(connection, layer, vectors, now):
        weights[pair] = max(weights[pair], weight)
    for pair, weight in _worded(found, vectors):
        weights[pair] = max(weights[pair], weight)
    for pair in _sharing(_entities_of(found)):
        weights[pair] += ENTITY_WEIGHT
    return sorted(((round(weight, 6), pair) for pair, weight in weights.items()), key=lambda each: (-each[0], each[1]))


def vectors_of(connection: apsw.Connection, found: Sequence[Snapshot]) -> dict[int, Vector]:
    """The vectors these entries have now, by number."""
    wanted = {each.rid for each in found}
    sql = "SELECT rid, vector FROM memory_embedding WHERE generation = ?"
    stored = connection.execute(sql, (VECTORS.generation(connection),))
    return {rid: vector for rid, vector in stored if rid in wanted}


def _near(
    connection: apsw.Connection, layer: str, vectors: Mapping[int, Vector], now: int
) -> Iterator[tuple[Pair, float]]:
    for rid in sorted(vectors):
        for other, similarity in VECTORS.search(connection, vectors[rid], [layer], now, None, NEIGHBOURS + 1):
            if other != rid and other in vectors:
                yield _pair(rid, other), similarity


def _worded(found: Sequence[Snapshot], vectors: Mapping[int, Vector]) -> Iterator[tuple[Pair, float]]:
    """Pairs by the rare words they share, of which at least one has no vector: 0 to 1, like a cosine."""
    words = {each.rid: set(_words(each)) for each in found}
    holders = _holders((rid, word) for rid, said in words.items() for word in said)
    rarity = {word: math.log(1 + len(found) / len(rids)) for word, rids in holders.items()}
    lengths = {rid: math.sqrt(sum(rarity[word] ** 2 for word in said)) for rid, said in words.items()}
    shared: Counter[Pair] = Counter()
    dots: defaultdict[Pair, float] = defaultdict(float)
    for word, rids in holders.items():
        for pair in _few(rids):
            if pair[0] not in vectors or pair[1] not in vectors:
                shared[pair] += 1
                dots[pair] += rarity[word] ** 2
    for pair, dot in dots.items():
        yield pair, dot / (lengths[pair[0]] * lengths[pair[1]])


def _words(each: Snapshot) -> list[str]:
    line = f"{each.entry.name} {each.entry.description}"
    return (fulltext.match_query(line) or "").split(" OR ")


def _entities_of(found: Sequence[Snapshot]) -> Iterator[tuple[int, str]]:
    return ((each.rid, normalised_entity(name)) for each in found for name in each.entry.entities)


def _sharing(named: Iterable[tuple[int, str]]) -> Iterator[Pair]:
    for rids in _holders(named).values():
        yield from _few(rids)


def _holders(named: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for rid, name in named:
        holders[name].add(rid)
    return {name: sorted(rids) for name, rids in sorted(holders.items())}


def _few(rids: Sequence[int]) -> Iterator[Pair]:
    return combinations(rids, 2) if len(rids) <= COMMON else iter(())


def _pair(one: int, other: int) -> Pair:
    return min(one, other), max(one, other)
