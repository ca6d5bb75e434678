"""Turns a candidate a person says yes to into a memory; whatever stands in the way leaves it waiting as it was (02 §8)."""

import logging
from dataclasses import replace

from engine.bus import Bus
from engine.clock import Clock
from engine.config import Settings
from engine.errors import AlreadyExists, DigestMismatch, NameConflict, NotFound, ValidationFailed, VersionConflict
from engine.events import CandidatesChanged
from engine.memory import rows, settling
from engine.memory.candidates import rows as candidate_rows
from engine.memory.candidates.drafts import draft_of, rewritten
from engine.memory.candidates.model import Action, Candidate, CandidateState, Edits, Quoted, Wording
from engine.memory.candidates.wording import speaks_chinese, with_sources, without_sources
from engine.memory.checks import check_content
from engine.memory.commit import Committer, Pending, version_conflict
from engine.memory.layers import Layers
from engine.memory.model import AuthorRole, Entry, Layer, State
from engine.memory.rows import Row
from engine.memory.store import Held, MemoryStore, check_draft, out_of_service
from engine.storage.database import Database

CONFIRM = "confirm"
_log = logging.getLogger(__name__)


class Decisions:
    """Confirms under the writers' lock, so that what was checked is what is written."""

    def __init__(
        self,
        database: Database,
        committer: Committer,
        store: MemoryStore,
        layers: Layers,
        clock: Clock,
        bus: Bus,
        settings: Settings,
    ) -> None:
        self._database = database
        self._store = store
        self._committer = committer
        self._layers = layers
        self._clock = clock
        self._bus = bus
        self._settings = settings

    def confirm(self, candidate_id: str, digest: str, name: str | None, edits: Edits) -> Entry:
        """The entry a candidate led to: a new one, the changed or invalidated target, or one that says it already."""

        def attempt() -> Entry:
            candidate = self._pending(candidate_id)
            held = self._target(candidate, digest) if candidate.changes_target else None
            if held is None and digest != candidate.digest:
                raise _not_shown(candidate, candidate.digest)
            return self._confirmed(candidate, _worded(candidate, name, edits), held)

        entry = self._store.retried(attempt)
        self._bus.announce(CandidatesChanged())
        _log.info("candidate %s confirmed: %s", candidate_id, entry.id)
        return entry

    def reject(self, candidate_id: str) -> None:
        """Its text goes and is never asked again; under the lock, so that a confirmation is not cut in two."""

        def attempt() -> None:
            found = self._pending(candidate_id)
            with self._database.write() as connection:
                candidate_rows.decide(connection, found.id, CandidateState.REJECTED, self._clock.now_ms())
                candidate_rows.tidy(connection, self._clock.now_ms())

        self._store.retried(attempt)
        self._database.checkpoint()  # a program that stays open would keep its text in the write-ahead log for days
        self._bus.announce(CandidatesChanged())
        _log.info("candidate %s rejected", candidate_id)

    def _pending(self, candidate_id: str) -> Candidate:
        """The candidate of an id that can be decided. Raises ``NotFound``, ``ValidationFailed`` for one that is settled."""
        keys = [layer.key for layer in self._layers.person()]
        with self._database.read() as connection:
            found = candidate_rows.find(connection, keys, candidate_id, self._clock.now_ms())
        if found is None:
            raise no_candidate(candidate_id)
        if found.state is not CandidateState.PENDING:
            raise ValidationFailed(
                f"{found.id} is {found.state}; only pending candidates can be decided",
                "spark-tui candidates list shows what waits", state=found.state.value,
            )  # fmt: skip
        return found

    def _confirmed(self, candidate: Candidate, text: Wording, held: Held | None) -> Entry:
        if held is not None:
            update = candidate.action is Action.UPDATE
            return self._update(candidate, text, held) if update else self._invalidate(candidate, text, held)
        layer = self._layer(candidate)
        holder = self._holder(layer, text)
        if holder is not None:
            return self._link(candidate, text, holder)
        return self._commit(candidate, text, self._creation(candidate, text))

    def _update(self, candidate: Candidate, text: Wording, held: Held) -> Entry:
        if held.entry.state(self._clock.now_ms()) is State.EXPIRED:
            # Text put into an expired entry would be hidden with it: the new fact becomes its own entry (seed §7).
            return self._commit(candidate, text, self._creation(candidate, text))
        after = rewritten(held.entry, candidate, text, self._clock.zone())
        check_content(after, text.body)
        if after == held.entry and text.body == held.body:
            return self._settle(candidate, text, held.row)
        pending = self._store.prepared(held, after, text.body, CONFIRM, AuthorRole.MANUAL_USER)
        return self._commit(candidate, text, pending)

    def _invalidate(self, candidate: Candidate, text: Wording, held: Held) -> Entry:
        new = self._creation(candidate, text, frozenset({held.entry.id})) if candidate.replaces else []
        by = new[0].after.id if new else None
        gone = replace(held.entry, invalid_at=self._clock.now_ms(), superseded_by=by)
        pending = self._store.prepared(held, gone, held.body, CONFIRM, AuthorRole.MANUAL_USER)
        return self._commit(candidate, text, [*new, *pending])

    def _creation(self, candidate: Candidate, text: Wording, moving: frozenset[str] = frozenset()) -> list[Pending]:
        draft = draft_of(candidate, text)
        check_draft(draft)
        if candidate.action is Action.ELEVATE:
            draft = replace(draft, body=self._with_sources(candidate, text))
            check_draft(draft)
        try:
            pending = self._store.begun(draft, moving)
        except AlreadyExists as error:
            raise _name_conflict(text.name, str(error.details.get("id", ""))) from error
        return [replace(pending[0], action=CONFIRM), *pending[1:]]

    def _with_sources(self, candidate: Candidate, text: Wording) -> str:
        with self._database.read() as connection:
            found = [rows.find(connection, (candidate.layer,), each.id) for each in candidate.sources]
        chinese = speaks_chinese(str(self._settings.get("ui.language")), f"{text.description}\n{text.body}")
        return with_sources(text.body, [row.entry for row in found if row], chinese=chinese)

    def _holder(self, layer: Layer, text: Wording) -> Row | None:
        """The active entry of that name when it says the same. Raises ``NameConflict`` when it says something else."""
        with self._database.read() as connection:
            taken = rows.holder(connection, layer.key, text.name)
        if taken is None:
            return None
        self._store.hold(taken.entry.id)  # a hand may have freed the name, or changed what its holder says
        with self._database.read() as connection:
            taken = rows.holder(connection, layer.key, text.name)
            if taken is None or taken.entry.state(self._clock.now_ms()) is State.EXPIRED:
                return None
            body = without_sources(rows.body_of(connection, taken.rid))
        if Wording(taken.entry.name, taken.entry.description, body) != replace(text, body=without_sources(text.body)):
            raise _name_conflict(text.name, taken.entry.id)
        return taken

    def _link(self, candidate: Candidate, text: Wording, holder: Row) -> Entry:
        check_draft(draft_of(candidate, text))
        return self._settle(candidate, text, holder)

    def _settle(self, candidate: Candidate, text: Wording, row: Row) -> Entry:
        """Decided without a change to any memory."""
        with self._database.write() as connection:
            settling.confirm(connection, candidate.id, candidate.layer, row.entry.id, text.digest, self._clock.now_ms())
        return row.entry

    def _commit(self, candidate: Candidate, text: Wording, pending: list[Pending]) -> Entry:
        operation = self._store.operation()
        wanted = settling.Settles(pending[0].after.id, confirms=candidate.id, digest=text.digest)
        with settling.noted(self._database, operation, wanted):
            return self._committer.commit(operation, pending)[0]

    def _target(self, candidate: Candidate, digest: str) -> Held:
        """The target, if it is what the person was shown beside the text: the digest covers its version.

        Raises ``VersionConflict`` when it has moved on since, or is out of use, ``DigestMismatch`` for another text.
        """
        assert candidate.target is not None
        wanted = candidate.target
        try:
            held = self._store.hold(wanted.id)
        except NotFound as error:
            raise _gone(wanted, None, "deleted") from error
        if held.entry.file_state is not None:
            raise out_of_service(held.entry)
        version, reason = held.entry.version, out_of_use(held.entry, self._clock.now_ms())
        if reason is not None:
            raise _gone(wanted, version, reason.value)
        if digest != candidate.digest_for(version):
            if digest == candidate.digest:
                raise version_conflict(wanted.id, version, wanted.version)
            raise _not_shown(candidate, candidate.digest_for(version))
        return held

    def _layer(self, candidate: Candidate) -> Layer:
        found = self._layers.by_key(candidate.layer)
        if found is None:
            raise NotFound(f"the folder of {candidate.id} is not here")
        return found


def out_of_use(target: Entry, now: int) -> State | None:
    """The state of a target that nothing can be done to any more; one that has expired may still be followed."""
    state = target.state(now)
    return state if state in (State.ARCHIVED, State.INVALID) else None


def no_candidate(candidate_id: str) -> NotFound:
    """The error for an id that does not exist for the caller."""
    return NotFound(f"no candidate {candidate_id[:40]} here", "spark-tui candidates list shows what waits")


def _worded(candidate: Candidate, name: str | None, edits: Edits) -> Wording:
    """The text as the person wants it. An update keeps the name of its target, and what is to go has no text to edit."""
    if name not in (None, candidate.name) and candidate.action is Action.UPDATE:
        raise ValidationFailed("an update keeps the name of its target", "rename the memory itself afterwards")
    text = Wording(
        candidate.name if name is None else name,
        candidate.description if edits.description is None else edits.description,
        candidate.body if edits.body is None else edits.body.strip(),
    )
    if text != candidate.wording and candidate.action is Action.DELETE and not candidate.replaces:
        raise ValidationFailed("there is nothing to edit: this candidate only takes a memory out of use")
    return text


def _not_shown(candidate: Candidate, digest: str) -> DigestMismatch:
    return DigestMismatch(
        f"{candidate.id} is not the text you were shown; it stays as it is",
        "look at it again and decide then", digest=digest,
    )  # fmt: skip


def _gone(wanted: Quoted, version: int | None, state: str) -> VersionConflict:
    return VersionConflict(
        f"the memory it would change ({wanted.id}) is {state}; nothing was written",
        "reject the candidate", current_version=version, base_version=wanted.version, state=state,
    )  # fmt: skip


def _name_conflict(name: str, holder: str) -> NameConflict:
    return NameConflict(
        f"a memory of that name exists already with other content ({holder})",
        "confirm it under another name", id=holder, name=name,
    )  # fmt: skip
