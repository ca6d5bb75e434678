"""What the memory list shows: scope, type, state, entity, day and order as one value; a pure switchboard of facet keys."""

from dataclasses import dataclass, replace
from datetime import date
from zoneinfo import ZoneInfo

from engine.clock import day_end_ms
from engine.memory.listing import Filter, Order
from engine.memory.model import MemoryType, Scope, State

_ORDERS = tuple(Order)


@dataclass(frozen=True, slots=True)
class Shown:
    """A filter as a person thinks of it; ``day`` shows the memories as they applied on that day."""

    scope: Scope | None = None
    agent: str | None = None
    type: MemoryType | None = None
    state: State | None = None
    entity: str | None = None
    day: date | None = None
    order: Order = Order.UPDATED

    def filter(self, zone: ZoneInfo) -> Filter:
        """The same for the engine; a day means its last millisecond, at which it still applies."""
        return Filter(self.scope, self.agent, self.type, self.state, self.entity, "", self.as_of_ms(zone), self.order)

    def as_of_ms(self, zone: ZoneInfo) -> int | None:
        """The instant looked at, None for now."""
        return None if self.day is None else day_end_ms(self.day, zone) - 1

    @property
    def keys(self) -> frozenset[str]:
        """The facet keys that are switched on."""
        found = set()
        if self.agent is not None:
            found.add(f"agent:{self.agent}")
        elif self.scope is not None:
            found.add(f"scope:{self.scope}")
        if self.type is not None:
            found.add(f"type:{self.type}")
        if self.state is not None:
            found.add(f"state:{self.state}")
        if self.entity is not None:
            found.add(f"entity:{self.entity}")
        return frozenset(found)

    @property
    def is_narrowed(self) -> bool:
        """Whether any facet is on."""
        return bool(self.keys)

    def toggled(self, key: str) -> "Shown":
        """With the facet of a key switched on, or off when it was on; one at a time of each kind."""
        kind, _, value = key.partition(":")
        on = key not in self.keys
        match kind:
            case "scope":
                return replace(self, scope=Scope(value) if on else None, agent=None)
            case "agent":
                return replace(self, scope=Scope.AGENT if on else None, agent=value if on else None)
            case "type":
                return replace(self, type=MemoryType(value) if on else None)
            case "state":
                return replace(self, state=State(value) if on else None)
            case "entity":
                return replace(self, entity=value if on else None)
        return self

    def cleared(self) -> "Shown":
        """Without any facet; day and order stay."""
        return Shown(day=self.day, order=self.order)

    def sorted_next(self) -> "Shown":
        """In the next order."""
        return replace(self, order=_ORDERS[(_ORDERS.index(self.order) + 1) % len(_ORDERS)])

    def valid_toggled(self) -> "Shown":
        """Only what applies, or everything."""
        return replace(self, state=None if self.state is State.ACTIVE else State.ACTIVE)

    def on_day(self, day: date | None) -> "Shown":
        """As of another day; None is now."""
        return replace(self, day=day)
