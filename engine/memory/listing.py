"""Lists and counts memories for people: by scope, type, state, entity, as of a day; windowed, so a list may be long."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import apsw

from engine.clock import Clock
from engine.errors import NotFound
from engine.memory import rows
from engine.memory.entities import normalised_entity
from engine.memory.layers import Layers
from engine.memory.model import Entry, Layer, MemoryType, Scope, State
from engine.storage.database import Database

Word = TypeVar("Word", bound=StrEnum)


class Order(StrEnum):
    """How a list is sorted; each is newest, most or first at the top."""

    UPDATED = "updated"
    CREATED = "created"
    NAME = "name"
    HITS = "hits"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries a list shows; None leaves a field open. ``as_of_ms`` shows what was active at that instant."""

    scope: Scope | None = None
    agent: str | None = None
    type: MemoryType | None = None
    state: State | None = State.ACTIVE
    entity: str | None = None
    text: str = ""
    as_of_ms: int | None = None
    order: Order = Order.UPDATED


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts beside a list: per layer key (active), per type and per state, and the commonest entities."""

    layers: dict[str, int]
    types: dict[MemoryType, int]
    states: dict[State, int]
    entities: tuple[tuple[str, int], ...]


# The state of a row in SQL; ``Entry.state`` says the same in Python and a test holds the two together.
STATE = (
    "CASE WHEN file_state IS NOT NULL THEN file_state WHEN archived THEN 'archived'"
    " WHEN invalid_at <= :now THEN 'invalid' WHEN valid_until <= :now THEN 'expired' ELSE 'active' END"
)
_ORDERS = {
    Order.UPDATED: "updated_at DESC, id",
    Order.CREATED: "created_at DESC, id",
    Order.NAME: "name, id",
    Order.HITS: "hit_count DESC, updated_at DESC, id",
    Order.TYPE: "type, updated_at DESC, id",
}


class Listing:
    """Reads entries for lists and details; sees only the layers of the person here."""

    def __init__(self, database: Database, layers: Layers, clock: Clock) -> None:
        self._database = database
        self._layers = layers
        self._clock = clock

    def count(self, wanted: Filter) -> int:
        """How many entries a filter leaves."""
        where, values = self._where(wanted)
        with self._database.read() as connection:
            return int(next(connection.execute(f"SELECT count(*) FROM memory_entry WHERE {where}", values))[0])

    def window(self, wanted: Filter, offset: int = 0, limit: int | None = None) -> list[Entry]:
        """Entries ``offset`` to ``offset + limit`` of a filter's list, in its order."""
        where, values = self._where(wanted)
        order = f"ORDER BY {_ORDERS[wanted.order]}"
        # Numbers are sorted first and whole rows read for the window alone: of 10,000 only these few.
        shown = f"SELECT rid FROM memory_entry WHERE {where} {order} LIMIT :limit OFFSET :offset"
        sql = f"SELECT {rows.COLUMNS} FROM memory_entry WHERE rid IN ({shown}) {order}"
        values |= {"limit": -1 if limit is None else limit, "offset": offset}
        with self._database.read() as connection:
            return [rows.row_of(found).entry for found in connection.execute(sql, values)]

    def ids(self, wanted: Filter) -> list[str]:
        """Every id of a filter's list, in its order."""
        where, values = self._where(wanted)
        sql = f"SELECT id FROM memory_entry WHERE {where} ORDER BY {_ORDERS[wanted.order]}"
        with self._database.read() as connection:
            return [row[0] for row in connection.execute(sql, values)]

    def entry(self, entry_id: str) -> Entry:
        """One entry. Raises ``NotFound``."""
        return self._row(entry_id).entry

    def body(self, entry_id: str) -> str:
        """The markdown body of one entry. Raises ``NotFound``."""
        with self._database.read() as connection:
            return rows.body_of(connection, self._row(entry_id).rid)

    def layer(self, entry_id: str) -> Layer:
        """The layer an entry lives in. Raises ``NotFound``."""
        key = self._row(entry_id).layer
        found = self._layers.by_key(key)
        if found is None:
            raise NotFound(f"no memory {entry_id[:40]} here")
        return found

    def facets(self, as_of_ms: int | None = None) -> Facets:
        """Counts over everything the person sees here."""
        now = self._clock.now_ms() if as_of_ms is None else as_of_ms
        values: dict[str, Any] = {"now": now, "layers": json.dumps([layer.key for layer in self._layers.person()])}
        within = "layer IN (SELECT value FROM json_each(:layers))"
        with self._database.read() as connection:
            layers, types = _active(connection, within, values)
            states = {State.ACTIVE: sum(layers.values())} | _inactive(connection, within, values)
            entities = _entities(connection, within, values)
        return Facets(layers, _present(types), _present(states), entities)

    def _row(self, entry_id: str) -> rows.Row:
        with self._database.read() as connection:
            row = rows.find(connection, [layer.key for layer in self._layers.person()], entry_id)
        if row is None:
            raise NotFound(f"no memory {entry_id[:40]} here", "spark-tui memory list --state all shows what there is")
        return row

    def _where(self, wanted: Filter) -> tuple[str, dict[str, Any]]:
        layers = self._layers.narrowed(self._layers.person(), wanted.scope, wanted.agent)
        now = self._clock.now_ms() if wanted.as_of_ms is None else wanted.as_of_ms
        values: dict[str, Any] = {"layers": json.dumps(_keys(layers, wanted.agent)), "now": now}
        parts = ["layer IN (SELECT value FROM json_each(:layers))"]
        if wanted.as_of_ms is not None:
            parts.append("valid_from <= :now")
        if wanted.state is not None:
            parts.append(f"{STATE} = :state")
            values["state"] = wanted.state.value
        if wanted.type is not None:
            parts.append("type = :type")
            values["type"] = wanted.type.value
        if wanted.entity:
            parts.append(
                "rid IN (SELECT l.rid FROM memory_entity_link l JOIN memory_entity e USING (eid)"
                " WHERE e.normalised = :entity)"
            )
            values["entity"] = normalised_entity(wanted.entity)
        if wanted.text:
            parts.append("(instr(lower(name), lower(:text)) OR instr(lower(description), lower(:text)))")
            values["text"] = wanted.text
        return " AND ".join(parts), values


def _keys(layers: Sequence[Layer], agent: str | None) -> list[str]:
    """With an agent named and no scope, that agent's memories are meant, not the shared ones."""
    return [layer.key for layer in layers if agent is None or layer.scope is Scope.AGENT]


def _active(
    connection: apsw.Connection, within: str, values: dict[str, Any]
) -> tuple[dict[str, int], dict[MemoryType, int]]:
    """Active entries of each layer, and of each type; one pass, since lists of 10,000 ask for it at every change."""
    of_type = ", ".join(f"sum(type = '{each.value}')" for each in MemoryType)
    sql = f"SELECT layer, count(*), {of_type} FROM memory_entry WHERE {within} AND {rows.ACTIVE} GROUP BY layer"
    found = list(connection.execute(sql, values))
    types = {each: sum(row[2 + at] for row in found) for at, each in enumerate(MemoryType)}
    return {row[0]: row[1] for row in found}, types


def _inactive(connection: apsw.Connection, within: str, values: dict[str, Any]) -> dict[State, int]:
    sql = f"SELECT {STATE}, count(*) FROM memory_entry WHERE {within} AND NOT ({rows.ACTIVE}) GROUP BY 1"
    return {State(state): count for state, count in connection.execute(sql, values)}


def _present(counts: dict[Word, int]) -> dict[Word, int]:
    return {word: count for word, count in counts.items() if count}


def _entities(connection: apsw.Connection, within: str, values: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    sql = (
        "SELECT min(name), sum(used) AS n FROM memory_entity JOIN"
        " (SELECT eid, count(*) AS used FROM memory_entity_link JOIN memory_entry USING (rid)"
        f" WHERE {within} AND {rows.ACTIVE} GROUP BY eid) USING (eid)"
        " GROUP BY normalised ORDER BY n DESC, 1 LIMIT 30"
    )
    return tuple((name, count) for name, count in connection.execute(sql, values))
