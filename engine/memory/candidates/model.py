"""What a candidate is: a change to memory that waits for a person, bound to its text by a digest (02 §8). No SQL."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from engine.memory.model import Draft, Entry, EvidenceStatus, Layer, MemoryType, Scope

PENDING_MAX: Final = 20
LIFETIME_DAYS: Final = 30


class Action(StrEnum):
    """What a confirmation does: add an entry, add a general rule, replace a target's text, or invalidate a target."""

    ADD = "add"
    ELEVATE = "elevate"
    UPDATE = "update"
    DELETE = "delete"


class Origin(StrEnum):
    """What proposed it."""

    CONSOLIDATION = "consolidation"
    EVOLUTION = "evolution"
    IMPORT = "import"


class CandidateState(StrEnum):
    """Where a candidate stands; only ``PENDING`` ones can be decided."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Quoted:
    """An entry a proposal rests on, in the version that was read."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class Wording:
    """The text a person decides on."""

    name: str
    description: str
    body: str = ""

    @property
    def digest(self) -> str:
        """What the decision is bound to."""
        return digest_of(self.name, self.description, self.body)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What evolution, consolidation and import hand in; the layer of ``target`` and ``sources`` is ``layer``.

    The texts are whole: what is here, once it is tidied, is what a confirmation stores. ``valid_from`` is in ms.
    ``replaces`` is for ``DELETE``: the text is what takes the target's place. Without it the text is the target's own,
    so that the person sees what would go.
    """

    layer: Layer
    action: Action
    origin: Origin
    name: str
    description: str
    body: str = ""
    type: MemoryType = MemoryType.FEEDBACK
    confidence: float = 1.0
    entities: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    valid_until: date | None = None
    valid_from: int | None = None
    target: Quoted | None = None
    replaces: bool = False
    sources: tuple[Quoted, ...] = ()
    reason: str = ""
    session: str | None = None
    turn: str | None = None
    model: str | None = None
    evidence: str | None = None
    evidence_status: EvidenceStatus | None = None

    @classmethod
    def of_draft(
        cls, layer: Layer, draft: Draft, action: Action, target: Entry | None = None, reason: str = ""
    ) -> "Proposal":
        """What evolution asks about a draft item: to add it, or to let it change, or take the place of, ``target``."""
        return cls(
            layer=layer, action=action, origin=Origin.EVOLUTION, name=draft.name, description=draft.description,
            body=draft.body, type=draft.type, confidence=draft.confidence, entities=draft.entities, links=draft.links,
            valid_until=draft.valid_until, valid_from=draft.valid_from, target=quoted(target) if target else None,
            replaces=action is Action.DELETE, reason=reason, session=draft.source_session_id,
            turn=draft.source_turn_id, model=draft.extraction_model, evidence=draft.evidence,
            evidence_status=draft.evidence_status,
        )  # fmt: skip

    @classmethod
    def to_forget(
        cls,
        layer: Layer,
        target: Entry,
        body: str,
        reason: str = "",
        session: str | None = None,
        turn: str | None = None,
    ) -> "Proposal":
        """What evolution asks when a turn says that an entry (with this body) no longer holds and nothing replaces it."""
        return cls(
            layer=layer, action=Action.DELETE, origin=Origin.EVOLUTION, name=target.name,
            description=target.description, body=body, type=target.type, confidence=target.confidence,
            target=quoted(target), reason=reason, session=session, turn=turn,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate as stored; times in ms. A decided one keeps its name, no other text.

    ``layer`` is the key of its layer, ``result_id`` the entry a confirmation led to, ``operation`` its group in the
    feed of changes (None where nothing had to be written). ``digest`` is what the decision is bound to: the text, and
    the version of its target where that is another one than it was first proposed about.
    """

    id: str
    layer: str
    scope: Scope
    scope_ref: str | None
    action: Action
    origin: Origin
    state: CandidateState
    type: MemoryType
    name: str
    description: str
    body: str
    confidence: float
    digest: str
    created_at: int
    expires_at: int
    entities: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    valid_until: date | None = None
    valid_from: int | None = None
    target: Quoted | None = None
    replaces: bool = False
    sources: tuple[Quoted, ...] = ()
    reason: str = ""
    session: str | None = None
    turn: str | None = None
    model: str | None = None
    evidence: str | None = None
    evidence_status: EvidenceStatus | None = None
    decided_at: int | None = None
    result_id: str | None = None
    operation: str | None = None

    @property
    def wording(self) -> Wording:
        """The text to decide on."""
        return Wording(self.name, self.description, self.body)

    @property
    def question(self) -> str:
        """Which question it is, beside its text."""
        return question_of(self.action, self.replaces)

    @property
    def changes_target(self) -> bool:
        """Whether a yes changes its target, or takes it out of use."""
        return self.target is not None and self.action in (Action.UPDATE, Action.DELETE)

    def digest_for(self, version: int) -> str:
        """The digest a person is shown while its target is at this version."""
        if self.target is None or not self.changes_target or version == self.target.version:
            return self.digest
        return digest_of(self.name, self.description, self.body, version)


class Outcome(StrEnum):
    """What became of a proposal; ``KNOWN`` is what the layer remembers already, word for word."""

    QUEUED = "queued"
    ASKED_BEFORE = "asked_before"
    KNOWN = "known"
    FULL = "full"
    SENSITIVE = "sensitive"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Proposed:
    """The answer to a proposal; ``candidate`` is there when it was queued, ``reason`` a short code or sentence else."""

    outcome: Outcome
    candidate: Candidate | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SourceState:
    """An entry a candidate rests on as it is now; ``changed`` when it is no longer what was read for the proposal."""

    id: str
    name: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate with what a person must see beside its text.

    ``target_changed``: its target is not what it was proposed about, so the difference is another one; the digest here
    covers the target's present version, ``target_version``, and confirms exactly that difference. ``target_gone``: the
    target is out of use or deleted, so that it can only be rejected.
    """

    candidate: Candidate
    sources: tuple[SourceState, ...] = ()
    target_changed: bool = False
    target_gone: bool = False
    target_version: int | None = None


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person changes in a candidate's text before confirming it; None leaves it."""

    description: str | None = None
    body: str | None = None


def digest_of(name: str, description: str, body: str, target_version: int | None = None) -> str:
    """SHA-256 (hex) of the three texts as one JSON array, so that no two different texts share an encoding.

    ``target_version`` stands behind them once a target has moved on: the same text makes another difference of it.
    """
    said = [name, description, body, *([] if target_version is None else [target_version])]
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()


def question_of(action: Action, replaces: bool) -> str:
    """Whether a text is asked for or asked away: to forget what was once proposed is another question."""
    return "forget" if action is Action.DELETE and not replaces else "keep"


def quoted(entry: Entry) -> Quoted:
    """An entry in the version it has now."""
    return Quoted(entry.id, entry.version)
