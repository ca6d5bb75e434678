"""Assembles the memory block an agent gets before a turn: chosen by relevance, printed in a fixed order, within budget.

The same memories give the same bytes: no times, scores or hit counts take part in what is printed (02 §6).
"""

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

import apsw

from engine.clock import DAY_MS, Clock
from engine.config import MemorySettings
from engine.errors import SparkError
from engine.memory import rows
from engine.memory.block import PRIORITY, block_text, line_of, sections
from engine.memory.layers import Layers
from engine.memory.model import Layer, MemoryType
from engine.memory.retrieval import DEPTH, Retrieval
from engine.memory.rows import ACTIVE, Row
from engine.providers.tokens import TokenCounter
from engine.storage.database import Database

SELECTED_MIN: Final = 20
# A session that asked for no block for a month is over; its choice and its hits are forgotten.
SESSION_KEPT_MS: Final = 30 * DAY_MS
BOOKKEEPING_WAIT_MS: Final = 100
_TYPES: Final = {each.value: each for each in MemoryType}
_log = logging.getLogger(__name__)


class InjectionStatus(StrEnum):
    """Why there is a block or none."""

    MATCHED = "matched"
    EMPTY = "empty"
    DISABLED = "disabled"
    EXPIRED = "expired"


class DropReason(StrEnum):
    """Why an entry that exists is not in the block."""

    BUDGET = "budget"
    RELEVANCE = "relevance"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """Who the block is for; name and description seed the relevance query."""

    id: str | None = None
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """An entry left out, and why."""

    id: str
    reason: DropReason


@dataclass(frozen=True, slots=True)
class Injection:
    """The block with its size in o200k tokens (fixed text included), what is in it and what is not.

    ``lines`` pairs each injected id with the tokens of its line.
    """

    status: InjectionStatus
    block: str = ""
    tokens: int = 0
    injected: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One wish for a block. ``session`` freezes the choice and counts a hit once; ``as_of_ms`` only previews."""

    agent: AgentProfile = AgentProfile()
    prompt: str = ""
    session: str | None = None
    as_of_ms: int | None = None
    count_hits: bool = True


class _Candidate(NamedTuple):
    """As much of an entry as choosing needs; whole entries are only read for what was chosen."""

    rid: int
    layer: str
    id: str
    type: MemoryType
    updated_at: int


class Injector:
    """Builds blocks for sessions of this workspace."""

    def __init__(
        self,
        database: Database,
        retrieval: Retrieval,
        layers: Layers,
        counter: TokenCounter,
        clock: Clock,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._retrieval = retrieval
        self._layers = layers
        self._counter = counter
        self._clock = clock
        self._settings = settings

    def assemble(self, request: Request) -> Injection:
        """The block for one turn; the store is only written to count hits and to freeze a session's choice."""
        settings = self._settings()
        if not settings.enabled:
            return Injection(InjectionStatus.DISABLED)
        layers = self._layers.session(request.agent.id)
        now = self._clock.now_ms() if request.as_of_ms is None else request.as_of_ms
        with self._database.read() as connection:
            active = _active(connection, layers, now, looking_back=request.as_of_ms is not None)
            expired = _expired(connection, layers, now)
            counts = rows.counters(connection, [layer.key for layer in layers])
        chosen = self._chosen(request, layers, active, counts, settings, now)
        block = self._fitted(layers, chosen, settings.max_inject_tokens)
        kept = {row.rid for row in block.rows}
        dropped = [Dropped(row.entry.id, DropReason.BUDGET) for row in chosen if row.rid not in kept]
        ids = {row.rid for row in chosen}
        dropped += [Dropped(each.id, DropReason.RELEVANCE) for each in active if each.rid not in ids]
        dropped += [Dropped(id_, DropReason.EXPIRED) for id_ in expired]
        if request.count_hits and request.as_of_ms is None:
            self._count_hits(request.session, sorted(kept), now)
        return _result(block, dropped, bool(expired))

    def _chosen(
        self,
        request: Request,
        layers: Sequence[Layer],
        active: Sequence[_Candidate],
        counts: tuple[int, ...],
        settings: MemorySettings,
        now: int,
    ) -> list[Row]:
        """Feedback and the relevant others, most important first; frozen for a session until something changes."""
        frame = _frame(request, layers, counts, settings)
        frozen = self._frozen(request.session, frame, now) if request.session else None
        if frozen is not None:
            there = {each.rid for each in active}
            return self._rows([rid for rid in frozen if rid in there])
        feedback = [each for each in active if each.type is MemoryType.FEEDBACK]
        others = [each for each in active if each.type is not MemoryType.FEEDBACK]
        relevant = self._relevant(request, layers, others, settings)
        ordered = sorted(feedback, key=_newest_first) + sorted(relevant, key=lambda each: PRIORITY[each.type])
        chosen = self._rows([each.rid for each in ordered])
        if request.session and request.as_of_ms is None:
            self._freeze(request.session, frame, chosen)
        return chosen

    def _relevant(
        self, request: Request, layers: Sequence[Layer], others: Sequence[_Candidate], settings: MemorySettings
    ) -> list[_Candidate]:
        """The entries a hybrid search for agent, workspace and prompt brings up, best first.

        Fewer than 20 are topped up by type and age, so that a small store is injected whole; no search: all of them.
        """
        by_place = {(each.layer, each.id): each for each in others}
        result = self._retrieval.search(self._query(request), layers, settings, limit=2 * DEPTH, selecting=True)
        found = [by_place[key] for hit in result.hits if (key := (hit.layer, hit.entry.id)) in by_place]
        if len(found) >= SELECTED_MIN:
            return found
        known = {each.rid for each in found}
        rest = [each for each in sorted(others, key=_first_by_type) if each.rid not in known]
        return found + (rest[: SELECTED_MIN - len(found)] if found else rest)

    def _rows(self, rids: Sequence[int]) -> list[Row]:
        """The entries behind these numbers, in their order; one deleted a moment ago is left out."""
        with self._database.read() as connection:
            found = rows.by_rids(connection, rids)
        return [found[rid] for rid in rids if rid in found]

    def _query(self, request: Request) -> str:
        project = self._layers.project()
        seed = (
            request.agent.name or request.agent.id or "",
            request.agent.description,
            project.label if project else "",
        )
        return " ".join(part for part in (*seed, request.prompt) if part)

    def _fitted(self, layers: Sequence[Layer], chosen: Sequence[Row], budget: int) -> "_Block":
        """As many whole lines as the budget holds, in order of importance; one that does not fit is skipped."""
        lines = {row.rid: line_of(row.entry) for row in chosen}
        sizes = {rid: self._counter.count(line + "\n") for rid, line in lines.items()}
        used = self._counter.count(block_text(layers, [], {}, all_sections=True))
        kept: list[Row] = []
        for row in chosen:
            if used + sizes[row.rid] <= budget:
                kept.append(row)
                used += sizes[row.rid]
        while kept:
            text = block_text(layers, kept, lines)
            tokens = self._counter.count(text)
            if tokens <= budget:  # parts can count less than their sum, never much more: seldom a second round
                ordered = [row for _, section in sections(layers, kept) for row in section]
                return _Block(text, tokens, tuple(ordered), tuple((row.entry.id, sizes[row.rid]) for row in ordered))
            kept.pop()
        return _Block("", 0, (), ())

    def _frozen(self, session: str, frame: str, now: int) -> list[int] | None:
        sql = "SELECT ids FROM memory_injection WHERE session = ? AND frame = ? AND coalesce(valid_until, ?) > ?"
        with self._database.read() as connection:
            row = next(iter(connection.execute(sql, (session, frame, rows.NEVER, now))), None)
        return json.loads(row[0]) if row else None

    def _freeze(self, session: str, frame: str, chosen: Sequence[Row]) -> None:
        ends = [end for row in chosen if (end := rows.expiry(row.entry)) is not None]
        now = self._clock.now_ms()
        values = (session, frame, json.dumps([row.rid for row in chosen]), min(ends, default=None), now)

        def keep(connection: apsw.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO memory_injection VALUES (?, ?, ?, ?, ?)", values)
            connection.execute("DELETE FROM memory_injection WHERE at < ?", (now - SESSION_KEPT_MS,))
            if connection.changes():
                rows.forget_hits(connection)

        self._write(keep)

    def _count_hits(self, session: str | None, rids: Sequence[int], now: int) -> None:
        if rids:
            self._write(lambda connection: rows.count_hits(connection, session, rids, now))

    def _write(self, action: Callable[[apsw.Connection], object]) -> None:
        """Bookkeeping that must never cost a turn its block."""
        if self._database.opening.read_only is not None:
            return
        try:
            with self._database.write(durable=False, wait_ms=BOOKKEEPING_WAIT_MS) as connection:
                action(connection)
        except SparkError as error:
            _log.warning("injection bookkeeping skipped: %s", error.code)


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    tokens: int
    rows: tuple[Row, ...]
    lines: tuple[tuple[str, int], ...]


def _active(connection: apsw.Connection, layers: Sequence[Layer], now: int, *, looking_back: bool) -> list[_Candidate]:
    """What is active, by the one predicate; when a fact began counts only for a look back.

    Asked of now it would hide what a machine with a faster clock has just written.
    """
    condition = f"{ACTIVE} AND valid_from <= :now" if looking_back else ACTIVE
    found = _columns(connection, layers, "rid, layer, id, type, updated_at", condition, now)
    return [_Candidate(rid, layer, id_, _TYPES[type_], updated) for rid, layer, id_, type_, updated in found]


def _expired(connection: apsw.Connection, layers: Sequence[Layer], now: int) -> list[str]:
    condition = "archived = 0 AND file_state IS NULL AND invalid_at IS NULL AND valid_until <= :now"
    return [id_ for (id_,) in _columns(connection, layers, "id", condition, now)]


def _columns(
    connection: apsw.Connection, layers: Sequence[Layer], columns: str, condition: str, now: int
) -> apsw.Cursor:
    sql = (
        f"SELECT {columns} FROM memory_entry WHERE layer IN (SELECT value FROM json_each(:layers))"
        f" AND {condition} ORDER BY updated_at DESC, id"
    )
    return connection.execute(sql, {"layers": json.dumps([layer.key for layer in layers]), "now": now})


def _frame(request: Request, layers: Sequence[Layer], counts: tuple[int, ...], settings: MemorySettings) -> str:
    """Everything a choice depends on but hits, scores and the state of the vector back-fill."""
    prompt = "" if request.session else request.prompt  # within a session a new prompt is no change
    choice = replace(request, session=None, count_hits=True, prompt=prompt)
    parts = (choice, tuple(layer.key for layer in layers), counts, settings)
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _newest_first(each: _Candidate) -> tuple[int, str]:
    return -each.updated_at, each.id


def _first_by_type(each: _Candidate) -> tuple[int, int, str]:
    """The order of the block itself."""
    return PRIORITY[each.type], *_newest_first(each)


def _result(block: _Block, dropped: Sequence[Dropped], some_expired: bool) -> Injection:
    if not block.rows:
        status = InjectionStatus.EXPIRED if some_expired else InjectionStatus.EMPTY
        return Injection(status, dropped=tuple(dropped))
    injected = tuple(row.entry.id for row in block.rows)
    return Injection(InjectionStatus.MATCHED, block.text, block.tokens, injected, tuple(dropped), block.lines)
