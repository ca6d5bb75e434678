"""Judges one item of an import against the gates and the store, before anything is written; reads only (02 §13)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.clock import Clock
from engine.config import MemorySettings
from engine.errors import SparkError
from engine.memory import rows
from engine.memory.candidates.model import Wording
from engine.memory.candidates.service import Candidates
from engine.memory.file_reader import FoundFile, parsed
from engine.memory.gate_log import Gate
from engine.memory.layers import Layers
from engine.memory.model import Layer, MemoryType, Scope, State, scope_of_id
from engine.memory.rows import Row
from engine.memory.sensitive.scan import find_sensitive
from engine.memory.transfer.foreign import new_imported, with_foreign_fields
from engine.memory.transfer.sources import Item, Kind
from engine.memory.workspaces import Unbound
from engine.storage.database import Database
from engine.storage.files import Signature

ASKED_BEFORE = "it was put before you already"


class Outcome(StrEnum):
    """What becomes of an item: ``QUEUED`` waits for a person, ``NOOP`` is here already, ``SKIPPED`` is no memory,
    was decided before or was not reached."""

    ADDED = "added"
    QUEUED = "queued"
    NOOP = "noop"
    DROPPED = "dropped"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Wish:
    """Where items without a scope of their own go; no scope: project memories to the project, the rest to the user."""

    scope: Scope | None = None
    agent: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """The layer an item goes to; ``layer`` is None for a project nothing was ever written to."""

    scope: Scope
    agent: str | None
    layer: Layer | None

    @property
    def key(self) -> str:
        """Names the place while a dry run counts."""
        return self.layer.key if self.layer else self.scope.value


@dataclass(frozen=True, slots=True)
class Verdict:
    """What shall become of an item, the gate and the reason where it is not added."""

    outcome: Outcome
    gate: Gate | None = None
    reason: str = ""
    id: str | None = None


class Judge:
    """The gates of an import. A dry run tells it what it would have added, so that both runs judge alike."""

    def __init__(
        self,
        database: Database,
        layers: Layers,
        clock: Clock,
        settings: Callable[[], MemorySettings],
        candidates: Candidates,
    ) -> None:
        self._database = database
        self._layers = layers
        self._clock = clock
        self._settings = settings
        self._candidates = candidates
        self._planned: dict[tuple[str, str], Item] = {}
        self._planned_rules: set[tuple[str, str]] = set()

    def place(self, item: Item, wish: Wish) -> Place:
        """Where an item goes. Raises ``ValidationFailed`` for an agent id that is no safe path component."""
        scope, agent = _owner(item, wish)
        if scope is Scope.USER:
            return Place(scope, None, self._layers.user())
        if scope is Scope.PROJECT:
            return Place(scope, None, self._layers.project())
        return Place(scope, agent, self._layers.agent(agent or ""))

    def verdict(self, item: Item, place: Place) -> Verdict:
        """What shall become of an item; gates in the order of 02 §4."""
        refused = self._refused(item, place)
        if refused is not None:
            return refused
        if item.kind is Kind.RULE:
            return self._rule(item, place)
        own = self.as_own(item, self._stand_in(place)) if item.kind is Kind.OWN else None
        faulty = own or self._with_fields(item, place)
        if faulty is not None and faulty.entry is None:
            return _unfit(faulty)
        applies = own is None or own.entry is None or own.entry.state(self._clock.now_ms()) is State.ACTIVE
        known = self._known(item, place, own, applies)
        if known is not None:
            return known
        if applies and self._is_full(place):
            return Verdict(Outcome.DROPPED, Gate.QUOTA, f"the {place.scope.value} layer is full")
        return Verdict(Outcome.ADDED)

    def plan(self, item: Item, place: Place) -> None:
        """Count an item that a dry run would have added, or put before the person."""
        if item.kind is Kind.RULE:
            self._planned_rules.add((place.key, wording(item).digest))
        else:
            self._planned[place.key, item.name] = item

    def _rule(self, item: Item, place: Place) -> Verdict:
        """A rule somebody wrote for another program waits for the person, who can give it another name (02 §13)."""
        known = self._known(item, place, None, applies=True)
        if known is not None and known.outcome is Outcome.NOOP:
            return known
        asked = place.layer is not None and self._candidates.was_asked(place.layer, wording(item))
        if asked or (place.key, wording(item).digest) in self._planned_rules:
            return Verdict(Outcome.SKIPPED, reason=ASKED_BEFORE)
        return Verdict(Outcome.QUEUED, reason="it waits for your decision")

    def _refused(self, item: Item, place: Place) -> Verdict | None:
        if item.kind is Kind.INDEX:
            return Verdict(Outcome.SKIPPED, reason="an index, not a memory")
        if item.problem is not None:
            return Verdict(Outcome.DROPPED, Gate.INVALID, item.problem)
        secret = find_sensitive(item.name, item.description, item.body)
        if secret is not None:
            return Verdict(Outcome.DROPPED, Gate.SENSITIVE, f"it holds something secret or private ({secret.kind})")
        workspace = self._layers.workspace
        if place.scope is Scope.PROJECT and isinstance(workspace, Unbound):
            return Verdict(Outcome.DROPPED, Gate.NO_WORKSPACE, workspace.reason)
        return None

    def as_own(self, item: Item, layer: Layer) -> FoundFile:
        """One of our own files as it would lie in a layer; without an entry when it cannot lie there."""
        path = layer.folder / item.file.rpartition("/")[2]
        return parsed(layer, path, item.data, Signature(0, len(item.data)), self._clock.zone())

    def _with_fields(self, item: Item, place: Place) -> FoundFile | None:
        """A note as it would lie in a layer with the frontmatter it came with; None when it has none to keep."""
        if not item.has_fields:
            return None
        layer = self._stand_in(place)
        entry = new_imported(item, layer, self._clock.now_ms())
        try:
            data = with_foreign_fields(item, entry)
        except SparkError as error:
            return FoundFile(
                layer, layer.folder / entry.file, item.data, Signature(0, 0), None, "", error.message, False
            )
        return parsed(layer, layer.folder / entry.file, data, Signature(0, len(data)), self._clock.zone())

    def _stand_in(self, place: Place) -> Layer:
        """The layer of a place; for a project nothing was ever written to, one of its kind to judge by."""
        return place.layer or replace(self._layers.user(), scope=place.scope)

    def _known(self, item: Item, place: Place, own: FoundFile | None, applies: bool) -> Verdict | None:
        """Whether the store has it: the same id, or an active entry of its name; an expired holder gives way."""
        planned = self._planned.get((place.key, item.name)) if applies else None
        if planned is not None:
            return _taken(_says(planned) == _says(item), f"{planned.file} has the same name", None)
        if place.layer is None:
            return None
        with self._database.read() as connection:
            same = rows.find(connection, (place.layer.key,), own.id) if own else None
            holder = rows.holder(connection, place.layer.key, item.name) if applies else None
            found = same or (holder if holder and not self._expired(holder) else None)
            if found is None:
                return None
            says = (own.entry.description, own.body) if own and own.entry else _says(item)
            equal = (found.entry.description, rows.body_of(connection, found.rid)) == says
        reason = "this memory is here with another text" if same else f"the name is taken by {found.entry.id}"
        return _taken(equal, reason, found.entry.id)

    def _is_full(self, place: Place) -> bool:
        count = sum(key == place.key for key, _name in self._planned)
        if place.layer is not None:
            with self._database.read() as connection:
                count += rows.active_count(connection, place.layer.key, self._clock.now_ms())
        return count >= self._settings().quota_of(place.scope.value)

    def _expired(self, row: Row) -> bool:
        return row.entry.state(self._clock.now_ms()) is State.EXPIRED


def _owner(item: Item, wish: Wish) -> tuple[Scope, str | None]:
    """Our own files say whose they are; everything else goes where the person wants it."""
    own = scope_of_id(item.file.rpartition("/")[2].removesuffix(".md")) if item.kind is Kind.OWN else None
    if own is not None:
        return own, item.agent
    if wish.scope is not None:
        return wish.scope, wish.agent
    return (Scope.PROJECT if item.type is MemoryType.PROJECT else Scope.USER), None


def _unfit(file: FoundFile) -> Verdict:
    gate = Gate.SENSITIVE if file.sensitive else Gate.INVALID
    return Verdict(Outcome.DROPPED, gate, file.reason or "unreadable")


def wording(item: Item) -> Wording:
    """The text of an item as a candidate."""
    return Wording(item.name, item.description, item.body.strip())


def _says(item: Item) -> tuple[str, str]:
    return item.description, item.body


def _taken(equal: bool, reason: str, entry_id: str | None) -> Verdict:
    if equal:
        return Verdict(Outcome.NOOP, reason="it is here already", id=entry_id)
    return Verdict(Outcome.DROPPED, Gate.DUPLICATE, reason, entry_id)
