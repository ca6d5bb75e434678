"""One search of the memory screen: hybrid over what applies, plain text over the rest; runs on a thread, draws nothing."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.memory.entities import normalised_entity
from engine.memory.model import Entry, State
from engine.memory.retrieval import SearchResult, SearchStatus
from spark_tui.screens.memory_filter import Shown

if TYPE_CHECKING:
    from engine.runtime import Engine

HITS = 50
OTHERS = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """What was typed, within which facets."""

    query: str
    shown: Shown


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found, and entries whose name or description holds the text but which it did not find."""

    result: SearchResult
    others: tuple[Entry, ...]


def find(engine: "Engine", asked: Asked) -> Found:
    """The answer to a query; a word that is not finished yet is found by its text. Raises ``SparkError``."""
    shown = asked.shown
    hybrid = shown.day is None and shown.state in (None, State.ACTIVE)
    result = _hybrid(engine, asked) if hybrid else SearchResult(SearchStatus.EMPTY)
    known = {hit.entry.id for hit in result.hits} | {entry.id for entry in result.related}
    wanted = replace(shown.filter(engine.clock.zone()), text=asked.query.strip())
    others = engine.listing.window(wanted, 0, OTHERS)
    return Found(result, tuple(entry for entry in others if entry.id not in known))


def _hybrid(engine: "Engine", asked: Asked) -> SearchResult:
    shown = asked.shown
    result = engine.search(asked.query, shown.scope, shown.type, shown.agent, HITS)
    if shown.entity is None:
        return result
    hits = tuple(hit for hit in result.hits if _has(hit.entry, shown.entity))
    return replace(result, hits=hits, related=tuple(entry for entry in result.related if _has(entry, shown.entity)))


def _has(entry: Entry, entity: str) -> bool:
    return normalised_entity(entity) in {normalised_entity(each) for each in entry.entities}
