"""Settles one item against the memories of its layer: add, update, invalidate, leave alone, or ask a person (02 §4.4).

Every change is a compare-and-swap against what the model was shown; who lost the race looks again.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.clock import Clock
from engine.errors import AlreadyExists, ModelFailed, NameConflict, NotFound, QuotaExceeded, StoreBusy, VersionConflict
from engine.memory.candidates.model import Action, Proposal
from engine.memory.candidates.model import Outcome as Asked
from engine.memory.candidates.service import Candidates
from engine.memory.commit import Committer
from engine.memory.evolution.outcome import Outcome, Settled, dropped, may_change_by_itself
from engine.memory.evolution.room import Room
from engine.memory.evolution.similar import Seen, Similar
from engine.memory.extraction.answer import DraftItem
from engine.memory.extraction.prompt import Decision, Known, Verb, decision_request, parse_decision
from engine.memory.gate_log import Gate
from engine.memory.layers import Layers
from engine.memory.model import AuthorRole, Draft, Entry, EvidenceStatus, Layer, Source
from engine.memory.store import Held, MemoryStore
from engine.providers.asking import Ask

TRIES: Final = 3
MOVED: Final = (VersionConflict, AlreadyExists, NameConflict, NotFound)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item comes from; ``said_at`` (ms) is when the turn ended, which may be long before now."""

    said_at: int
    session: str | None
    turn: str | None
    agent: str
    model: str
    evidence: str | None = None
    evidence_status: EvidenceStatus | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A change that is about to be committed: what it does to which entry in which version."""

    verb: Verb
    target: str
    version: int


class Evolution:
    """The fourth and the fifth gate for one item at a time."""

    def __init__(
        self,
        store: MemoryStore,
        committer: Committer,
        similar: Similar,
        room: Room,
        candidates: Candidates,
        layers: Layers,
        clock: Clock,
    ) -> None:
        self._store = store
        self._committer = committer
        self._similar = similar
        self._room = room
        self._candidates = candidates
        self._layers = layers
        self._clock = clock

    def settle(
        self,
        item: DraftItem,
        layer: Layer | None,
        origin: Origin,
        ask: Ask | None,
        begun: Begun | None = None,
        begin: Callable[[Begun], None] = lambda begun: None,
    ) -> Settled:
        """What becomes of an item; ``layer`` is None for a project nothing was ever written to.

        ``begin`` is told what is about to be written, and may raise to stop it; ``begun`` is what an earlier try, which
        may have been killed at any moment, was about to write. Raises ``StoreBusy`` when entries kept moving under it
        three times: it can be tried later.
        """
        done = self._done_before(begun, layer, origin)
        if done is not None:
            return done
        for _ in range(TRIES):
            try:
                return self._settled(item, layer, origin, ask, begin)
            except MOVED as moved:
                _log.info("%s moved on while it was being judged: %s", item.name, moved.code)
        raise StoreBusy(f"what {item.name} is about kept changing", "try again later")

    def _done_before(self, begun: Begun | None, layer: Layer | None, origin: Origin) -> Settled | None:
        """The outcome of an earlier try that got as far as its commit; None when there is none, or it did not."""
        if begun is None or layer is None:
            return None
        entry = self._similar.entry(begun.target, layer)
        if entry is None or entry.version != begun.version + 1:
            return None
        if begun.verb is Verb.DELETE and entry.invalid_at is not None:
            return Settled(Outcome.INVALIDATED, entry.id)
        mine = (entry.source_session_id, entry.source_turn_id) == (origin.session, origin.turn)
        return Settled(Outcome.UPDATED, entry.id) if begun.verb is Verb.UPDATE and mine else None

    def _settled(
        self,
        item: DraftItem,
        layer: Layer | None,
        origin: Origin,
        ask: Ask | None,
        begin: Callable[[Begun], None],
    ) -> Settled:
        # What holds for the person everywhere need not be said again for one project or agent.
        equal = self._similar.equal(item, [self._layers.user(), *([layer] if layer else [])])
        if equal is not None:
            return Settled(Outcome.NOOP, equal.entry.id)
        if layer is None:
            return self._add(item, origin)
        similar = self._similar.to(item, layer)
        if not similar:
            return self._add(item, origin)
        decision = self._decided(item, similar, ask)
        return self._apply(item, layer, similar, decision, origin, begin)

    def _decided(self, item: DraftItem, similar: Sequence[Seen], ask: Ask | None) -> Decision:
        if ask is not None:
            known = [Known(each.entry.id, each.entry.scope, each.entry.name, each.entry.description, each.body)
                     for each in similar]  # fmt: skip
            try:
                reply = ask(decision_request(item, known))
            except ModelFailed as error:
                _log.warning("no decision about %s: %s; judged without a model", item.name, error.message)
            else:
                return parse_decision(reply.text, [each.entry.id for each in similar])
        return Decision(Verb.ADD, None, False, "")  # a name that is taken turns this into an update, below

    def _apply(
        self,
        item: DraftItem,
        layer: Layer,
        similar: Sequence[Seen],
        decision: Decision,
        origin: Origin,
        begin: Callable[[Begun], None],
    ) -> Settled:
        by_id = {each.entry.id: each for each in similar}
        target = by_id.get(decision.target or "")
        holder = next((each for each in similar if each.entry.name == item.name), None)
        match decision.verb:
            case Verb.NOOP:
                return Settled(Outcome.NOOP, target.entry.id if target else None)
            case Verb.UPDATE if target is not None:
                return self._update(item, layer, target, origin, begin)
            case Verb.DELETE if target is not None:
                return self._invalidate(item, layer, target, origin, begin, decision.replace)
        if holder is not None:  # exactly this name is active: never a second entry of it
            return self._update(item, layer, holder, origin, begin)
        return self._add(item, origin)

    def _add(self, item: DraftItem, origin: Origin) -> Settled:
        draft = drafted(item, origin)

        def attempt() -> Entry:
            pending = self._room.for_one(draft)
            return self._committer.commit(self._store.operation(), pending)[0]

        try:
            return Settled(Outcome.ADDED, self._store.retried(attempt).id)
        except QuotaExceeded as full:
            return _no_room(full)

    def _update(
        self, item: DraftItem, layer: Layer, target: Seen, origin: Origin, begin: Callable[[Begun], None]
    ) -> Settled:
        if target.says(item) and target.entry.type is item.type:
            return Settled(Outcome.NOOP, target.entry.id)
        if self._needs_a_person(target.entry, origin):
            return self._asked(Action.UPDATE, item, layer, target, origin)
        begin(Begun(Verb.UPDATE, target.entry.id, target.entry.version))

        def attempt() -> Entry:
            held = self._held(target)
            after = _rewritten(held.entry, item, origin)
            body = item.body or held.body
            return self._store.replace(held, after, body, "update", AuthorRole.EXTRACTION)

        return Settled(Outcome.UPDATED, self._store.retried(attempt).id)

    def _invalidate(
        self,
        item: DraftItem,
        layer: Layer,
        target: Seen,
        origin: Origin,
        begin: Callable[[Begun], None],
        replaced: bool,
    ) -> Settled:
        if self._needs_a_person(target.entry, origin):
            return self._asked(Action.DELETE, item, layer, target, origin, replaced)
        holder = self._similar.holder(item, layer) if replaced else None
        if holder is not None and holder.entry.id != target.entry.id:  # a third entry has the name of what takes over
            updated = self._update(item, layer, holder, origin, begin)
            if updated.outcome not in (Outcome.UPDATED, Outcome.NOOP):
                return updated
        begin(Begun(Verb.DELETE, target.entry.id, target.entry.version))

        def attempt() -> Entry:
            held = self._held(target)
            by = holder.entry.id if holder is not None and holder.entry.id != held.entry.id else None
            adds = replaced and by is None
            new = self._store.begun(drafted(item, origin), frozenset({held.entry.id})) if adds else []
            by = new[0].after.id if new else by
            gone = replace(held.entry, invalid_at=self._clock.now_ms(), superseded_by=by)
            pending = [*new, *self._store.prepared(held, gone, held.body, "invalidate", AuthorRole.EXTRACTION)]
            self._committer.commit(self._store.operation(), pending)
            return gone

        try:
            return Settled(Outcome.INVALIDATED, self._store.retried(attempt).id)
        except QuotaExceeded as full:  # it was over-full: one that goes makes no room
            return _no_room(full)

    def _asked(
        self, action: Action, item: DraftItem, layer: Layer, target: Seen, origin: Origin, replaced: bool = True
    ) -> Settled:
        """Put the change before the person; what they were asked once, they are not asked again."""
        entry = target.entry
        reason = "said_before_it" if may_change_by_itself(entry) else "a_person_wrote_it"
        if replaced:
            proposal = Proposal.of_draft(layer, drafted(item, origin), action, entry, reason)
        else:
            proposal = Proposal.to_forget(layer, entry, target.body, reason, origin.session, origin.turn)
        proposed = self._candidates.propose(proposal)
        match proposed.outcome:
            case Asked.QUEUED:
                found = proposed.candidate
                return Settled(Outcome.QUEUED_FOR_REVIEW, found.id if found else None, reason=reason)
            case Asked.KNOWN:
                return Settled(Outcome.NOOP, entry.id)
            case Asked.ASKED_BEFORE:
                return dropped(Gate.DUPLICATE, "asked_before")
            case Asked.FULL:
                return dropped(Gate.QUOTA, "too_many_candidates")
            case Asked.SENSITIVE:
                return dropped(Gate.SENSITIVE, proposed.reason or "sensitive")
            case Asked.INVALID:
                return dropped(Gate.INVALID, proposed.reason or "invalid")

    def _held(self, target: Seen) -> Held:
        """The entry under the lock, if it is still what the model was shown."""
        held = self._store.hold(target.entry.id)
        if held.entry.version != target.entry.version:
            raise VersionConflict(f"{target.entry.id} has changed meanwhile")
        return held

    def _needs_a_person(self, entry: Entry, origin: Origin) -> bool:
        """A person's own words are never changed by a turn; nor is what was said later by something said before it."""
        return not may_change_by_itself(entry) or origin.said_at < entry.valid_from


def _no_room(full: QuotaExceeded) -> Settled:
    return dropped(Gate.QUOTA, f"full: {full.details['count']} of {full.details['quota']}")


def drafted(item: DraftItem, origin: Origin) -> Draft:
    """An item as the store takes it, with where it comes from."""
    return Draft(
        scope=item.scope,
        type=item.type,
        name=item.name,
        description=item.description,
        body=item.body,
        confidence=item.confidence if item.confidence is not None else 0.0,
        entities=item.entities,
        links=item.links,
        valid_from=origin.said_at,
        agent=origin.agent,
        source=Source.EXTRACTION,
        author=AuthorRole.EXTRACTION,
        source_session_id=origin.session,
        source_turn_id=origin.turn,
        extraction_model=origin.model,
        evidence=origin.evidence,
        evidence_status=origin.evidence_status,
    )


def _rewritten(entry: Entry, item: DraftItem, origin: Origin) -> Entry:
    """The entry with what the item says now; id, name and creation stay, confidence may fall (02 §4.4)."""
    return replace(
        entry,
        type=item.type,
        description=item.description,
        confidence=item.confidence if item.confidence is not None else entry.confidence,
        entities=item.entities or entry.entities,
        links=item.links or entry.links,
        valid_from=max(origin.said_at, entry.valid_from),
        source_session_id=origin.session,
        source_turn_id=origin.turn,
        extraction_model=origin.model,
        evidence=origin.evidence,
        evidence_status=origin.evidence_status,
    )
