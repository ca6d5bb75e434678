"""Hybrid search over memories: full text and vectors fused by rank, decayed by age, each hit with its reasons."""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import apsw

from engine.bus import Bus
from engine.clock import DAY_MS, Clock
from engine.config import MemorySettings
from engine.errors import SparkError
from engine.events import SearchDegraded
from engine.memory import rows
from engine.memory.embedding import Embeddings
from engine.memory.entities import RELATED_MAX, sharing
from engine.memory.model import Entry, Layer, MemoryType
from engine.memory.rows import ACTIVE, VECTORS, Row
from engine.storage import fulltext
from engine.storage.database import Database
from engine.vector import Vector

DEPTH: Final = 20
RRF_K: Final = 60
QUERY_MAX: Final = 10_000
# bm25 weights of name, description, body (02 §5: name above description above body).
WEIGHTS: Final = (4.0, 2.0, 1.0)
# A full-text hit that holds less than this share of the query's terms does not vote beside a vector list.
COVERAGE_FLOOR: Final = 0.15
# How much of a body is read for that, in characters: the check must not cost more than the search.
COVERAGE_BODY: Final = 4_000
# Entries read at a time to find the related ones: an entity of many memories must not make a search slow.
NEIGHBOURS: Final = 16
_log = logging.getLogger(__name__)


class SearchStatus(StrEnum):
    """What a search result is worth; a fault never looks like "no such memory"."""

    MATCHED = "matched"
    EMPTY = "empty"
    DEGRADED = "degraded"
    DISABLED = "disabled"


class Channel(StrEnum):
    """The state of one of the two search channels."""

    OK = "ok"
    OFF = "off"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Hit:
    """One found memory and why it stands where it stands; ranks count from 1 in their channel's list."""

    entry: Entry
    layer: str
    score: float
    fts_rank: int | None
    vector_rank: int | None
    bm25: float | None
    similarity: float | None
    rrf: float
    decay: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first, entries related to the first three by a shared entity, and how well the channels did."""

    status: SearchStatus
    hits: tuple[Hit, ...] = ()
    related: tuple[Entry, ...] = ()
    channels: Mapping[str, Channel] = field(default_factory=dict)
    reason: str | None = None

    @property
    def unavailable(self) -> bool:
        """Whether no channel answered, so that an empty list says nothing."""
        return self.status is SearchStatus.DEGRADED and not any(c is Channel.OK for c in self.channels.values())


@dataclass(frozen=True, slots=True)
class _Lists:
    fts: dict[int, float]
    vector: dict[int, float]
    channels: dict[str, Channel]
    reason: str | None


class Retrieval:
    """The one query layer: scope, activity and expiry are filtered here, inside both channels, for every door."""

    def __init__(self, database: Database, embeddings: Embeddings, clock: Clock, bus: Bus) -> None:
        self._database = database
        self._embeddings = embeddings
        self._clock = clock
        self._bus = bus
        self._degraded: dict[str, str | None] = {}

    def search(
        self,
        query: str,
        layers: Sequence[Layer],
        settings: MemorySettings,
        type: MemoryType | None = None,
        limit: int = 8,
        *,
        selecting: bool = False,
    ) -> SearchResult:
        """The best ``limit`` active entries of these layers for a query in any words; never raises for any text.

        ``selecting`` keeps near vectors however far they are: the caller ranks what there is, it asks no question.
        """
        if not settings.enabled:
            return SearchResult(SearchStatus.DISABLED, channels={"fts": Channel.OFF, "vector": Channel.OFF})
        text = query[:QUERY_MAX]
        vector, vector_state, vector_reason = self._query_vector(text)
        with self._database.read() as connection:
            found = self._lists(connection, text, [layer.key for layer in layers], type, vector, vector_state)
            entries = rows.by_rids(connection, list({**found.fts, **found.vector}))
            hits = _collapsed(connection, self._ranked(text, found, entries, settings, selecting), entries)[:limit]
            related = self._related(connection, hits, {layer.key for layer in layers}, entries)
        self._tell(found, vector_reason)
        return SearchResult(
            _status(hits, found.channels), tuple(hits), related, found.channels, found.reason or vector_reason
        )

    def _query_vector(self, text: str) -> tuple[Vector | None, Channel, str | None]:
        if not text.strip():
            return None, Channel.OFF, None
        try:
            vector = self._embeddings.query(text)
        except SparkError as error:  # whatever it is, words still find what they find
            return None, Channel.ERROR, error.message
        return vector, Channel.OFF if vector is None else Channel.OK, None

    def _lists(
        self,
        connection: apsw.Connection,
        text: str,
        keys: Sequence[str],
        type: MemoryType | None,
        vector: Vector | None,
        vector_state: Channel,
    ) -> _Lists:
        channels, reason = {"fts": Channel.OK, "vector": vector_state}, None
        fts: dict[int, float] = {}
        near: dict[int, float] = {}
        now = self._clock.now_ms()
        try:
            fts = _full_text(connection, text, keys, type, now)
        except apsw.Error as error:
            channels["fts"], reason = Channel.ERROR, f"full text: {error.__class__.__name__}"
        if vector is not None:
            try:
                near = dict(VECTORS.search(connection, vector, keys, now, type.value if type else None, DEPTH))
            except (apsw.Error, SparkError) as error:
                channels["vector"], reason = Channel.ERROR, f"vectors: {error.__class__.__name__}"
        return _Lists(fts, near, channels, reason)

    def _ranked(
        self, text: str, found: _Lists, entries: Mapping[int, Row], settings: MemorySettings, selecting: bool
    ) -> list[Hit]:
        fts = [rid for rid in found.fts if rid in entries and self._votes(text, entries[rid], found)]
        floor = -1.0 if selecting else self._embeddings.floor
        near = [rid for rid, similarity in found.vector.items() if rid in entries and similarity >= floor]
        fts_rank = {rid: rank for rank, rid in enumerate(fts, 1)}
        vector_rank = {rid: rank for rank, rid in enumerate(near, 1)}
        now = self._clock.now_ms()
        hits = []
        for rid in {**fts_rank, **vector_rank}:
            row = entries[rid]
            rrf = sum(1 / (RRF_K + ranks[rid]) for ranks in (fts_rank, vector_rank) if rid in ranks)
            decay = decay_of(row.entry.updated_at, now, settings)
            hits.append(
                Hit(
                    entry=row.entry,
                    layer=row.layer,
                    score=rrf * decay * row.entry.confidence,
                    fts_rank=fts_rank.get(rid),
                    vector_rank=vector_rank.get(rid),
                    bm25=found.fts.get(rid),
                    similarity=found.vector.get(rid),
                    rrf=rrf,
                    decay=decay,
                )
            )
        hits.sort(key=lambda hit: (-hit.score, -hit.entry.updated_at, hit.entry.id))
        return hits

    def _votes(self, text: str, row: Row, found: _Lists) -> bool:
        """Whether a full-text hit is a real one; without vectors every hit counts."""
        if not found.vector:
            return True
        line = f"{row.entry.name} {row.entry.description}"
        if fulltext.coverage(text, line) >= COVERAGE_FLOOR:
            return True
        return fulltext.coverage(text, line, self._body(row)[:COVERAGE_BODY]) >= COVERAGE_FLOOR

    def _body(self, row: Row) -> str:
        with self._database.read() as connection:
            return rows.body_of(connection, row.rid)

    def _related(
        self, connection: apsw.Connection, hits: Sequence[Hit], keys: set[str], entries: Mapping[int, Row]
    ) -> tuple[Entry, ...]:
        """One hop over shared entities from the first three hits, within the same layers (02 §5)."""
        by_id = {(row.layer, row.entry.id): rid for rid, row in entries.items()}
        top = [by_id[hit.layer, hit.entry.id] for hit in hits[:3]]
        if not top:
            return ()
        shown = {(hit.layer, hit.entry.id) for hit in hits}
        now, candidates = self._clock.now_ms(), sharing(connection, top)
        related: list[Entry] = []
        for start in range(0, len(candidates), NEIGHBOURS):
            batch = candidates[start : start + NEIGHBOURS]
            neighbours = rows.by_rids(connection, batch)
            related += [
                neighbours[rid].entry
                for rid in batch
                if neighbours[rid].layer in keys
                and neighbours[rid].entry.state(now) == "active"
                and (neighbours[rid].layer, neighbours[rid].entry.id) not in shown
            ]
            if len(related) >= RELATED_MAX:
                break
        return tuple(related[:RELATED_MAX])

    def _tell(self, found: _Lists, vector_reason: str | None) -> None:
        """One log line and one fact whenever a channel goes away or comes back."""
        for channel, reason in (("fts", found.reason), ("vector", vector_reason)):
            failed = found.channels[channel] is Channel.ERROR
            now = (reason or "error") if failed else None
            if self._degraded.get(channel) != now:
                self._degraded[channel] = now
                _log.warning("search channel %s: %s", channel, now or "back")
                self._bus.announce(SearchDegraded("fts" if channel == "fts" else "vector", now))


def decay_of(updated_at: int, now: int, settings: MemorySettings) -> float:
    """``floor + (1 − floor) × exp(−λ × days)``: floor 0 is the seed's formula, 1 is no decay at all."""
    days = max(0.0, (now - updated_at) / DAY_MS)
    floor = settings.time_decay_floor
    return floor + (1 - floor) * math.exp(-settings.time_decay_lambda * days)


def _full_text(
    connection: apsw.Connection, text: str, keys: Sequence[str], type: MemoryType | None, now: int
) -> dict[int, float]:
    match = fulltext.match_query(text)
    if match is None:
        return {}
    sql = (
        f"SELECT f.rowid, bm25(memory_fts, {', '.join(map(str, WEIGHTS))}) AS score"
        " FROM memory_fts f JOIN memory_entry e ON e.rid = f.rowid"
        " WHERE memory_fts MATCH :match AND layer IN (SELECT value FROM json_each(:layers))"
        f" AND (:type IS NULL OR type = :type) AND {ACTIVE} ORDER BY score, f.rowid LIMIT {DEPTH}"
    )
    values = {"match": match, "layers": json.dumps(list(keys)), "type": type.value if type else None, "now": now}
    return {rid: -score for rid, score in connection.execute(sql, values)}


def _collapsed(connection: apsw.Connection, hits: Sequence[Hit], entries: Mapping[int, Row]) -> list[Hit]:
    """Of entries that say the same in one layer, line and body, only the newest stays; feedback is never collapsed."""
    lines: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        if hit.entry.type is not MemoryType.FEEDBACK:
            lines.setdefault((hit.layer, fulltext.normalised(hit.entry.description)), []).append(hit)
    alike = [group for group in lines.values() if len(group) > 1]
    if not alike:
        return list(hits)
    rids = {(row.layer, row.entry.id): rid for rid, row in entries.items()}
    bodies = _bodies(connection, [rids[hit.layer, hit.entry.id] for group in alike for hit in group])
    older: list[Hit] = []
    for group in alike:
        newest: dict[tuple[str, int], Hit] = {}
        for hit in sorted(group, key=lambda each: -each.entry.updated_at):
            kept = newest.setdefault(bodies[rids[hit.layer, hit.entry.id]], hit)
            older += [hit] if kept is not hit else []
    return [hit for hit in hits if hit not in older]


def _bodies(connection: apsw.Connection, rids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """What is compared of bodies, by row: the words of the first 4,000 characters, and how many come after those."""
    sql = (
        f"SELECT rid, substr(body, 1, {COVERAGE_BODY}), max(0, length(body) - {COVERAGE_BODY})"
        " FROM memory_entry WHERE rid IN (SELECT value FROM json_each(?))"
    )
    found = connection.execute(sql, (json.dumps(list(rids)),))
    return {rid: (fulltext.normalised(body), rest) for rid, body, rest in found}


def _status(hits: Sequence[Hit], channels: Mapping[str, Channel]) -> SearchStatus:
    if Channel.ERROR in channels.values():
        return SearchStatus.DEGRADED
    return SearchStatus.MATCHED if hits else SearchStatus.EMPTY
