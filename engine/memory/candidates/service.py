"""The candidate area: what was proposed waits here for a person, who sees what it rests on and says yes or no (02 §8)."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

import apsw

from engine.bus import Bus
from engine.clock import DAY_MS, Clock
from engine.config import Settings
from engine.errors import SensitiveContent, ValidationFailed
from engine.events import CandidatesChanged
from engine.identity import Ids
from engine.memory import rows
from engine.memory.candidates import rows as candidate_rows
from engine.memory.candidates.deciding import Decisions, no_candidate, out_of_use
from engine.memory.candidates.drafts import draft_for_checks
from engine.memory.candidates.model import (
    LIFETIME_DAYS,
    PENDING_MAX,
    Action,
    Candidate,
    CandidateState,
    Edits,
    Origin,
    Outcome,
    Proposal,
    Proposed,
    Shown,
    SourceState,
    Wording,
    question_of,
)
from engine.memory.candidates.wording import tidied, without_sources
from engine.memory.checks import secret_in
from engine.memory.commit import Committer
from engine.memory.entities import cleaned
from engine.memory.layers import Layers
from engine.memory.model import Entry, Layer, State
from engine.memory.sensitive.scan import find_sensitive
from engine.memory.store import MemoryStore, check_draft
from engine.storage.database import Database

_log = logging.getLogger(__name__)
PENDING = (CandidateState.PENDING,)


class Candidates:
    """Takes proposals, shows what waits, and carries out what a person decides; ``layers`` None is all they see here."""

    def __init__(
        self,
        database: Database,
        committer: Committer,
        store: MemoryStore,
        layers: Layers,
        clock: Clock,
        ids: Ids,
        bus: Bus,
        settings: Settings,
    ) -> None:
        self._database = database
        self._decisions = Decisions(database, committer, store, layers, clock, bus, settings)
        self._layers = layers
        self._clock = clock
        self._ids = ids
        self._bus = bus

    def propose(self, proposal: Proposal) -> Proposed:
        """Put something before the person, once and never again with the same text in that layer; never raises for it.

        A name and a description that no memory may have are tidied first; secrets are refused here already.
        """
        wanted = tidied(proposal)
        if wanted.description != proposal.description:
            _log.info("description of candidate %s tidied", wanted.name)
        with self._database.write() as connection:
            answer = _secret_name(proposal) or self._refused(connection, wanted) or self._queued(connection, wanted)
        if answer.outcome is Outcome.QUEUED:
            self._bus.announce(CandidatesChanged())
        _log.info("candidate %s (%s): %s", wanted.name, wanted.action, answer.outcome)
        return answer

    def was_asked(self, layer: Layer, text: Wording) -> bool:
        """Whether this text was ever put before the person in that layer, to be kept."""
        with self._database.read() as connection:
            return candidate_rows.was_asked(connection, layer.key, "keep", text.digest)

    def pending(self, layers: Sequence[Layer] | None = None) -> list[Candidate]:
        """What waits, the newest first."""
        return [each.candidate for each in self.window(layers)]

    def window(
        self,
        layers: Sequence[Layer] | None = None,
        states: Sequence[CandidateState] | None = PENDING,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Shown]:
        """Candidates of some states (None: any) with what they rest on, the newest first."""
        now = self._clock.now_ms()
        with self._database.read() as connection:
            found = candidate_rows.window(connection, self._keys(layers), states, now, offset, limit)
            return [_shown(connection, each, now) for each in found]

    def count(
        self, layers: Sequence[Layer] | None = None, states: Sequence[CandidateState] | None = PENDING
    ) -> int:  # fmt: skip
        """How many ``window`` would answer in all."""
        with self._database.read() as connection:
            return candidate_rows.count(connection, self._keys(layers), states, self._clock.now_ms())

    def get(self, candidate_id: str) -> Shown:
        """One candidate, and which of the entries it rests on have moved on. Raises ``NotFound``."""
        now = self._clock.now_ms()
        with self._database.read() as connection:
            found = candidate_rows.find(connection, self._keys(None), candidate_id, now)
            if found is None:
                raise no_candidate(candidate_id)
            return _shown(connection, found, now)

    def confirm(self, candidate_id: str, digest: str, name: str | None = None, edits: Edits | None = None) -> Entry:
        """Say yes to the text of this digest, under another name or with edits where they are given.

        Answers the entry it led to. Whatever is raised leaves it pending: ``NotFound``, ``DigestMismatch``,
        ``NameConflict`` (the name has other content), ``SensitiveContent``, ``QuotaExceeded``, ``VersionConflict`` (the
        target has moved on since it was shown: ``get`` has the digest for the difference it makes now; with a ``state``
        in its details the target is out of use for good), ``ValidationFailed`` (also for one that is decided already),
        or an I/O error.
        """
        return self._decisions.confirm(candidate_id, digest, name, edits or Edits())

    def reject(self, candidate_id: str) -> Candidate:
        """Say no: its text goes and is never asked again. Raises ``NotFound`` or, when it is decided, ``ValidationFailed``."""
        self._decisions.reject(candidate_id)
        return self.get(candidate_id).candidate

    def _refused(self, connection: apsw.Connection, wanted: Proposal) -> Proposed | None:
        """Why it is not put before the person."""
        candidate_rows.tidy(connection, self._clock.now_ms())
        target = rows.find(connection, (wanted.layer.key,), wanted.target.id) if wanted.target else None
        if wanted.action in (Action.UPDATE, Action.DELETE) and target is None:
            return Proposed(Outcome.INVALID, reason="its target is gone")
        try:
            check_draft(draft_for_checks(wanted))
        except SensitiveContent as error:
            return Proposed(Outcome.SENSITIVE, reason=str(error.details["kind"]))
        except ValidationFailed as error:
            return Proposed(Outcome.INVALID, reason=error.message)
        if secret := secret_in(draft_for_checks(wanted), wanted.body, wanted.reason):
            return Proposed(Outcome.SENSITIVE, reason=secret)
        return self._unwanted(connection, _completed(connection, wanted, target))

    def _unwanted(self, connection: apsw.Connection, wanted: Proposal) -> Proposed | None:
        text, layer = Wording(wanted.name, wanted.description, wanted.body), wanted.layer.key
        question = question_of(wanted.action, wanted.replaces)
        if candidate_rows.was_asked(connection, layer, question, text.digest):
            return self._aimed_anew(connection, wanted, question, text) or Proposed(Outcome.ASKED_BEFORE)
        # A rule that is stated already still ties its sources to it when it is confirmed (02 §8).
        plain = wanted.action in (Action.ADD, Action.UPDATE)
        if plain and _is_known(connection, layer, text, self._clock.now_ms()):
            return Proposed(Outcome.KNOWN)
        waiting = candidate_rows.waiting_models(connection, layer, self._clock.now_ms())
        if wanted.origin is not Origin.IMPORT and waiting >= PENDING_MAX:
            return Proposed(Outcome.FULL, reason=f"{waiting} candidates wait")
        return None

    def _aimed_anew(
        self, connection: apsw.Connection, wanted: Proposal, question: str, text: Wording
    ) -> Proposed | None:
        """The same text about a newer version of its target: the candidate that waits asks about that one from now on."""
        now, target, layer = self._clock.now_ms(), wanted.target, wanted.layer.key
        if target is None:
            return None
        found = candidate_rows.waiting_about(connection, layer, question, text, target.id, now)
        if found is None or found.target is None or found.target.version >= target.version:
            return None
        candidate_rows.retarget(connection, found.id, target.version)
        return Proposed(Outcome.QUEUED, candidate_rows.find(connection, (layer,), found.id, now))

    def _queued(self, connection: apsw.Connection, wanted: Proposal) -> Proposed:
        target = rows.find(connection, (wanted.layer.key,), wanted.target.id) if wanted.target else None
        candidate = self._candidate(connection, _completed(connection, wanted, target))
        candidate_rows.insert(connection, candidate)
        return Proposed(Outcome.QUEUED, candidate)

    def _candidate(self, connection: apsw.Connection, wanted: Proposal) -> Candidate:
        now = self._clock.now_ms()
        return Candidate(
            id=self._fresh_id(connection), layer=wanted.layer.key, scope=wanted.layer.scope,
            scope_ref=wanted.layer.ref, action=wanted.action, origin=wanted.origin, state=CandidateState.PENDING,
            type=wanted.type, name=wanted.name, description=wanted.description, body=wanted.body,
            confidence=wanted.confidence, digest=Wording(wanted.name, wanted.description, wanted.body).digest,
            created_at=now, expires_at=now + LIFETIME_DAYS * DAY_MS, entities=cleaned(wanted.entities),
            links=wanted.links, valid_until=wanted.valid_until, valid_from=wanted.valid_from, target=wanted.target,
            replaces=wanted.replaces, sources=wanted.sources, reason=wanted.reason, session=wanted.session,
            turn=wanted.turn, model=wanted.model, evidence=wanted.evidence, evidence_status=wanted.evidence_status,
        )  # fmt: skip

    def _fresh_id(self, connection: apsw.Connection) -> str:
        while candidate_rows.exists(connection, found := self._ids.make("cnd")):
            pass
        return found

    def _keys(self, layers: Iterable[Layer] | None) -> list[str]:
        return [layer.key for layer in (self._layers.person() if layers is None else layers)]


def _completed(connection: apsw.Connection, wanted: Proposal, target: rows.Row | None) -> Proposal:
    """An update keeps the name of its target, and its body where it brings none: the person is shown the whole."""
    if target is None or wanted.action is not Action.UPDATE:
        return wanted
    body = wanted.body or rows.body_of(connection, target.rid).strip()
    return replace(wanted, name=target.entry.name, body=body)


def _is_known(connection: apsw.Connection, layer: str, text: Wording, now: int) -> bool:
    holder = rows.holder(connection, layer, text.name)
    if holder is None or holder.entry.state(now) is not State.ACTIVE or holder.entry.description != text.description:
        return False
    return without_sources(rows.body_of(connection, holder.rid)) == without_sources(text.body)


def _secret_name(proposal: Proposal) -> Proposed | None:
    """Looked at before the name is made a slug, which no longer shows what it was made of."""
    found = find_sensitive(proposal.name)
    return Proposed(Outcome.SENSITIVE, reason=found.kind) if found else None


def _shown(connection: apsw.Connection, each: Candidate, now: int) -> Shown:
    sources = tuple(_source(connection, each, now))
    if each.target is None or each.state is not CandidateState.PENDING:
        return Shown(each, sources)
    target = rows.find(connection, (each.layer,), each.target.id)
    moved = target is None or target.entry.version != each.target.version
    if target is None or (each.changes_target and out_of_use(target.entry, now) is not None):
        return Shown(each, sources, moved, target_gone=True)
    version = target.entry.version
    digest, text = each.digest_for(version), each.wording
    if moved and each.question == "forget":  # its text is the target's own: what would go is what is there now
        text = Wording(target.entry.name, target.entry.description, rows.body_of(connection, target.rid).strip())
    shown = replace(each, digest=digest, name=text.name, description=text.description, body=text.body)
    return Shown(shown, sources, moved, target_version=version if digest != each.wording.digest else None)


def _source(connection: apsw.Connection, each: Candidate, now: int) -> Iterable[SourceState]:
    for source in each.sources:
        row = rows.find(connection, (each.layer,), source.id)
        same = row is not None and row.entry.version == source.version and row.entry.state(now) is State.ACTIVE
        yield SourceState(source.id, row.entry.name if row else "", not same)
