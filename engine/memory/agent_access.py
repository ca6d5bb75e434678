"""What an agent may do with memories: search them and read one in full. It cannot write; its session names its scopes."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.clock import Clock, iso
from engine.config import MemorySettings
from engine.errors import NotFound, SparkError, ValidationFailed
from engine.memory import rows
from engine.memory.block import line_of, plain
from engine.memory.layers import Layers
from engine.memory.model import Entry, MemoryType, State, is_id
from engine.memory.retrieval import Retrieval, SearchResult, SearchStatus
from engine.memory.rows import Row
from engine.storage.database import Database

QUERY_MAX: Final = 500
LIMIT: Final = 8
LIMIT_MAX: Final = 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentSession:
    """Who is asking: the session's id (for the log and for counting hits once) and its agent's id."""

    id: str
    agent: str | None


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory in full; ``warning`` says when and by what it was replaced, where it no longer applies."""

    entry: Entry
    body: str
    warning: str | None

    @property
    def markdown(self) -> str:
        """The text an agent reads: the warning first, then name, description and body."""
        parts = [self.warning, f"# {self.entry.name}", self.entry.description, self.body.strip("\n")]
        return "\n\n".join(part for part in parts if part) + "\n"


class AgentMemory:
    """The two read-only tools as services (02 §7). Default deny: an id outside the session's scopes is "not found"."""

    def __init__(
        self,
        database: Database,
        retrieval: Retrieval,
        layers: Layers,
        clock: Clock,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._retrieval = retrieval
        self._layers = layers
        self._clock = clock
        self._settings = settings

    def is_offered(self) -> bool:
        """Whether the tools are there at all; with memory switched off an agent sees none."""
        return self._settings().enabled

    def search(
        self, session: AgentSession, query: str, type: MemoryType | None = None, limit: int = LIMIT
    ) -> SearchResult:
        """The best memories for a query of 1 to 500 characters, ``limit`` 1 to 20. Raises ``ValidationFailed``."""
        if not 1 <= len(query.strip()) <= QUERY_MAX:
            raise ValidationFailed(f"the query must have 1 to {QUERY_MAX} characters")
        if not 1 <= limit <= LIMIT_MAX:
            raise ValidationFailed(f"the limit must be 1 to {LIMIT_MAX}")
        layers = self._layers.session(session.agent)
        return self._retrieval.search(query, layers, self._settings(), type, limit)

    def recall(self, session: AgentSession, entry_id: str) -> Recalled:
        """One memory in full; counts a hit, moves neither version nor ``updated_at``, and leaves one line in the log.

        Raises ``NotFound`` (also while memory is switched off), or ``ValidationFailed`` for one out of service.
        """
        try:
            recalled, row = self._recalled(session, entry_id)
        except SparkError as error:
            told = entry_id if is_id(entry_id) else "(no id)"  # any other text may be anything
            _log.info("recall: session=%s agent=%s id=%s outcome=%s", session.id, session.agent, told, error.code)
            raise
        self._count(row)
        outcome = recalled.entry.state(self._clock.now_ms())
        _log.info("recall: session=%s agent=%s id=%s outcome=%s", session.id, session.agent, entry_id, outcome)
        return recalled

    def _recalled(self, session: AgentSession, entry_id: str) -> tuple[Recalled, Row]:
        keys = [layer.key for layer in self._layers.session(session.agent)] if self.is_offered() else []
        with self._database.read() as connection:
            row = rows.find(connection, keys, entry_id)
            if row is None:
                raise NotFound(f"no memory {entry_id[:40]}")
            body = rows.body_of(connection, row.rid)
        state = row.entry.state(self._clock.now_ms())
        if state in (State.ARCHIVED, State.QUARANTINED, State.MISSING):
            raise ValidationFailed(f"{row.entry.id} is {state} and cannot be recalled")
        return Recalled(row.entry, body, warning_of(row.entry, state)), row

    def _count(self, row: Row) -> None:
        if self._database.opening.read_only is not None:
            return
        try:
            with self._database.write(durable=False) as connection:
                rows.count_hits(connection, None, [row.rid], self._clock.now_ms())
        except SparkError as error:
            _log.warning("recall not counted: %s", error.code)


def warning_of(entry: Entry, state: State) -> str | None:
    """The line that stands above a memory which no longer applies; None for an active one."""
    if state is State.INVALID and entry.invalid_at is not None:
        by = f", superseded by {entry.superseded_by}" if entry.superseded_by else ""
        return f"> Warning: no longer valid since {iso(entry.invalid_at)}{by}. Kept for the record; do not act on it."
    if state is State.EXPIRED and entry.valid_until is not None:
        return f"> Warning: expired; its last applicable day was {entry.valid_until.day.isoformat()}. Do not act on it."
    return None


def answer_text(result: SearchResult) -> str:
    """A search result as an agent reads it: ids with summaries, related ones apart, and honest words about failures."""
    parts = [_DEGRADED.format(reason=plain(result.reason or "a channel failed"))] if _is_degraded(result) else []
    parts += ["\n".join(line_of(hit.entry) for hit in result.hits)] if result.hits else [_NOTHING[_is_degraded(result)]]
    parts += ["Related:\n" + _lines(result.related)] if result.related else []
    return "\n\n".join(parts) + "\n"


_DEGRADED: Final = "Search is degraded ({reason}); memories may be missing from this list."
_NOTHING: Final = {
    False: "No memory matches.",
    True: "Nothing was found, but that does not mean there is no such memory.",
}


def _is_degraded(result: SearchResult) -> bool:
    return result.status is SearchStatus.DEGRADED


def _lines(entries: Sequence[Entry]) -> str:
    return "\n".join(map(line_of, entries))
