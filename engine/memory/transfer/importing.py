"""Takes items into the store, each with an outcome of its own; never overwrites a memory that is here (02 §13)."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.clock import Clock
from engine.errors import AlreadyExists, QuotaExceeded, SensitiveContent, SparkError, ValidationFailed
from engine.memory import gate_log, rows
from engine.memory.candidates.model import Action, Origin, Proposal, Proposed
from engine.memory.candidates.model import Outcome as ProposalOutcome
from engine.memory.candidates.service import Candidates
from engine.memory.commit import Committer, Pending, rendered
from engine.memory.gate_log import Drop, Gate
from engine.memory.layers import Layers
from engine.memory.model import AuthorRole, Draft, Entry, Layer, Scope, Source, State
from engine.memory.reconcile import Reconciler
from engine.memory.store import MemoryStore
from engine.memory.takeover import give_way
from engine.memory.transfer.foreign import with_foreign_fields
from engine.memory.transfer.sources import Item, Kind
from engine.memory.transfer.verdicts import ASKED_BEFORE, Judge, Outcome, Place, Verdict, Wish
from engine.storage import files
from engine.storage.database import Database

# What the store may still refuse after the judgement, because somebody else wrote meanwhile.
_GATES = {
    SensitiveContent.code: Gate.SENSITIVE,
    QuotaExceeded.code: Gate.QUOTA,
    AlreadyExists.code: Gate.DUPLICATE,
    ValidationFailed.code: Gate.INVALID,
}
_NOT_QUEUED = {
    ProposalOutcome.ASKED_BEFORE: Verdict(Outcome.SKIPPED, reason=ASKED_BEFORE),
    ProposalOutcome.KNOWN: Verdict(Outcome.NOOP, reason="it is here already"),
    ProposalOutcome.SENSITIVE: Verdict(Outcome.DROPPED, Gate.SENSITIVE, "it holds something secret or private"),
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Imported:
    """One item and what became (in a dry run: would become) of it; ``gate`` says which gate dropped it."""

    file: str
    kind: Kind
    name: str
    scope: Scope | None
    outcome: Outcome
    gate: Gate | None = None
    reason: str = ""
    id: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong; a drop is a judgement, not a failure."""
        return self.outcome is not Outcome.FAILED


class Importer:
    """Judges every item first, the same way in a dry run and in earnest, then adds it through the store's own doors."""

    def __init__(
        self,
        database: Database,
        committer: Committer,
        reconciler: Reconciler,
        store: MemoryStore,
        layers: Layers,
        clock: Clock,
        judge: Judge,
        candidates: Candidates,
    ) -> None:
        self._database = database
        self._committer = committer
        self._reconciler = reconciler
        self._store = store
        self._layers = layers
        self._clock = clock
        self._judge = judge
        self._candidates = candidates

    def run(self, items: Iterable[Item], wish: Wish) -> Iterator[Imported]:
        """Import one item after another, telling each outcome; after a fault of disk or store the rest is not tried."""
        operation, fault = self._store.operation(), ""
        for item in items:
            if fault:
                yield _told(item, None, Verdict(Outcome.SKIPPED, reason=f"not tried after: {fault}"))
                continue
            told = self._one(item, wish, operation)
            if told.outcome is Outcome.FAILED:
                fault = told.reason
            if told.outcome is Outcome.DROPPED and not wish.dry_run:
                self._log_drop(told)
            yield told

    def _one(self, item: Item, wish: Wish, operation: str) -> Imported:
        place: Place | None = None
        try:
            place = self._judge.place(item, wish)
            verdict = self._verdict(item, place)
            if verdict.outcome in (Outcome.ADDED, Outcome.QUEUED):
                if wish.dry_run:
                    self._judge.plan(item, place)
                elif verdict.outcome is Outcome.QUEUED:
                    verdict = self._propose(item, place)
                else:
                    verdict = self._add(item, place, operation)
        except SparkError as error:
            gate = _GATES.get(error.code)
            verdict = Verdict(Outcome.DROPPED if gate else Outcome.FAILED, gate, error.message)
        return _told(item, place.scope if place else None, verdict)

    def _verdict(self, item: Item, place: Place) -> Verdict:
        """The judge's word; one of our own that would hold a name must find it free, though it has expired itself."""
        verdict = self._judge.verdict(item, place)
        if verdict.outcome is not Outcome.ADDED or item.kind is not Kind.OWN or place.layer is None:
            return verdict
        own = self._judge.as_own(item, place.layer).entry
        with self._database.read() as connection:
            taken = rows.holder(connection, place.layer.key, own.name) if own and rows.is_live(own) else None
        if taken is None or taken.entry.state(self._clock.now_ms()) is State.EXPIRED:
            return verdict
        return Verdict(Outcome.DROPPED, Gate.DUPLICATE, f"the name is taken by {taken.entry.id}", taken.entry.id)

    def _propose(self, item: Item, place: Place) -> Verdict:
        def attempt() -> Proposed:
            layer = self._layers.for_writing(place.scope, place.agent)
            return self._candidates.propose(
                Proposal(
                    layer=layer, action=Action.ADD, origin=Origin.IMPORT, name=item.name, description=item.description,
                    body=item.body, type=item.type, reason=f"import: {item.file}",
                )
            )  # fmt: skip

        answer = self._store.retried(attempt)
        if answer.candidate is not None:
            return Verdict(Outcome.QUEUED, reason="it waits for your decision", id=answer.candidate.id)
        return _NOT_QUEUED.get(answer.outcome, Verdict(Outcome.DROPPED, Gate.INVALID, answer.reason))

    def _add(self, item: Item, place: Place, operation: str) -> Verdict:
        def attempt() -> Verdict:
            if item.kind is Kind.OWN:
                return self._add_own(item, place, operation)
            entry = self._store.add(_draft(item, place))
            if item.has_fields:
                self._keep_foreign_fields(entry, item)
            return Verdict(Outcome.ADDED, id=entry.id)

        return self._store.retried(attempt)

    def _add_own(self, item: Item, place: Place, operation: str) -> Verdict:
        """One of our own files comes back as it was: id, times, version, state; an expired holder of its name gives way.

        Judged again, since the first judgement was made without the lock: others may have written meanwhile.
        """
        layer = self._layers.for_writing(place.scope, place.agent)
        self._reconciler.adopt_name(layer, item.name)
        verdict = self._verdict(item, Place(place.scope, place.agent, layer))
        own = self._judge.as_own(item, layer)
        if verdict.outcome is not Outcome.ADDED or own.entry is None:
            return verdict
        pending = [Pending(layer, None, own.entry, own.body, "import")]
        with self._database.read() as connection:
            holder = rows.holder(connection, layer.key, own.entry.name)
            if holder is not None and rows.is_live(own.entry):
                pending.append(give_way(connection, layer, holder, own.entry, self._clock.now_ms()))
        self._committer.commit(operation, pending)
        if rendered(pending[0]) != item.data:
            self._overlay(layer, own.entry, item.data)
        return Verdict(Outcome.ADDED, id=own.entry.id)

    def _keep_foreign_fields(self, entry: Entry, item: Item) -> None:
        """Give the new file the frontmatter it came with, ours written into it; to the index nothing changes."""
        layer = self._layers.for_writing(entry.scope, entry.scope_ref)
        self._overlay(layer, entry, with_foreign_fields(item, entry))

    def _overlay(self, layer: Layer, entry: Entry, data: bytes) -> None:
        files.write_through(layer.folder / entry.file, data)
        self._reconciler.adopt_entry(layer, entry.id)

    def _log_drop(self, told: Imported) -> None:
        drop = Drop(
            self._clock.now_ms(),
            told.scope or Scope.USER,
            told.name,
            told.gate or Gate.INVALID,
            f"import: {told.reason}",
        )
        with self._database.write() as connection:
            gate_log.note(connection, [drop])
        _log.info("import dropped one item: %s", drop.gate)


def _draft(item: Item, place: Place) -> Draft:
    return Draft(
        scope=place.scope, type=item.type, name=item.name, description=item.description, body=item.body,
        agent=place.agent, source=Source.IMPORT, author=AuthorRole.IMPORT,
    )  # fmt: skip


def _told(item: Item, scope: Scope | None, verdict: Verdict) -> Imported:
    return Imported(item.file, item.kind, item.name, scope, verdict.outcome, verdict.gate, verdict.reason, verdict.id)
