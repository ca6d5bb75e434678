"""What happened to memories and how to take it back: revisions, the feed of changes, undo of a group, restore."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from engine.clock import Clock
from engine.errors import AlreadyExists, NameConflict, NotFound, ValidationFailed, VersionConflict
from engine.memory import history_rows, rows, settling
from engine.memory.candidates import rows as candidate_rows
from engine.memory.checks import check_content
from engine.memory.commit import Committer, Pending
from engine.memory.file_reader import copy_beside
from engine.memory.layers import Layers
from engine.memory.model import AuthorRole, Change, Derivation, Entry, Revision
from engine.memory.settling import Settles
from engine.memory.store import Held, MemoryStore, out_of_service
from engine.storage import files
from engine.storage.database import Database

_log = logging.getLogger(__name__)


class History:
    """Reads the past of entries and writes it forward again: an undo or restore is always a new version."""

    def __init__(
        self,
        database: Database,
        committer: Committer,
        store: MemoryStore,
        layers: Layers,
        clock: Clock,
    ) -> None:
        self._database = database
        self._committer = committer
        self._store = store
        self._layers = layers
        self._clock = clock

    def revisions(self, entry_id: str) -> list[Revision]:
        """Superseded versions of an entry, newest first."""
        with self._database.read() as connection:
            row = rows.find(connection, self._keys(), entry_id)
            return history_rows.revisions(connection, row.rid) if row else []

    def derivations(self, entry_id: str) -> list[Derivation]:
        """Merge, elevate and supersede edges that touch an entry."""
        with self._database.read() as connection:
            row = rows.find(connection, self._keys(), entry_id)
            return history_rows.derivations(connection, row.layer, entry_id) if row else []

    def changes(self, limit: int = 50, group: str | None = None) -> list[Change]:
        """The feed of what a person sees here, newest first."""
        with self._database.read() as connection:
            return list(history_rows.changes(connection, self._keys(), group, limit))

    def undo(self, group: str) -> list[Entry]:
        """Take a whole operation group back as new versions; a creation is archived.

        Refused whole: ``NotFound``, ``VersionConflict`` when an entry has moved since, ``ValidationFailed`` when the
        group was undone already or one of its files is quarantined or missing.
        """

        def attempt() -> list[Entry]:
            lines = self.changes(limit=10_000, group=group)
            if not lines:
                raise NotFound(f"no change {group[:40]} here", "spark-tui memory changes lists them")
            if all(line.undone for line in lines):
                raise ValidationFailed(f"{group} was undone already")
            moving = frozenset(line.id for line in lines)
            pending = [each for line in lines for each in self._reversed(line, moving)]
            operation = self._store.operation()
            with settling.noted(self._database, operation, self._undoing(group, lines)):
                return self._committer.commit(operation, pending)

        return self._store.retried(attempt)

    def restore(self, entry_id: str, version: int | None = None) -> Entry:
        """Write an older version (or, for a broken or vanished file, the last good text) as the newest one.

        The bytes of a broken file are kept beside it under another name.
        """

        def attempt() -> Entry:
            held = self._store.hold(entry_id)
            if not held.entry.version:
                raise ValidationFailed(f"{held.entry.file} never was a memory, so there is nothing to restore")
            after, body = self._wanted(held, version)
            check_content(after, body)
            if held.entry.file_state is None or held.base is None:
                return self._store.replace(held, after, body, "restore", AuthorRole.MANUAL_USER)
            return self._restore_over(held, after, body)

        return self._store.retried(attempt)

    def _wanted(self, held: Held, version: int | None) -> tuple[Entry, str]:
        if version is None and held.entry.file_state is not None:
            return replace(held.entry, file_state=None, file_reason=None), held.body
        chosen = self._chosen(held, version)
        return restored(held.entry, chosen.entry), chosen.body

    def _restore_over(self, held: Held, after: Entry, body: str) -> Entry:
        pending = self._store.prepared(replace(held, anew=True), after, body, "restore", AuthorRole.MANUAL_USER)
        copy = copy_beside(held.layer.folder / held.entry.file, self._clock.now_ms())
        files.write_through(copy, held.base or b"")
        try:
            stored = self._committer.commit(self._store.operation(), pending)[0]
        except BaseException:
            files.discard(copy)
            raise
        _log.info("broken file of %s kept beside it", held.entry.id)
        return stored

    def _chosen(self, held: Held, version: int | None) -> Revision:
        with self._database.read() as connection:
            past = history_rows.revisions(connection, held.row.rid)
        chosen = next((each for each in past if version in (None, each.entry.version)), None)
        if chosen is None:
            known = ", ".join(str(each.entry.version) for each in past) or "none"
            raise NotFound(f"{held.entry.id} has no version {version or ''}", f"versions: {known}")
        return chosen

    def _undoing(self, group: str, lines: Sequence[Change]) -> Settles:
        """What the undo settles, and with which entry: the last that is needed to put a confirmed candidate back."""
        with self._database.read() as connection:
            confirmed = candidate_rows.confirmed_by(connection, group)
            found = candidate_rows.find(connection, self._keys(), confirmed[0], 0) if confirmed else None
        aim = found.target.id if found and found.target else confirmed[1] if confirmed else ""
        return Settles(next((line.id for line in lines if line.id == aim), lines[0].id), undoes=group)

    def _reversed(self, line: Change, moving: frozenset[str]) -> Sequence[Pending]:
        if line.action == "delete":
            raise ValidationFailed("a deletion cannot be undone")
        held = self._store.hold(line.id)
        if held.entry.file_state is not None:  # its file holds what a person wrote, and no version of it is kept
            raise out_of_service(held.entry)
        if held.entry.version != line.after:
            raise VersionConflict(
                f"{line.id} has changed since; nothing was undone",
                "undo the newer change first",
                current_version=held.entry.version,
                base_version=line.after,
            )
        if line.before is None:
            after, body = replace(held.entry, archived=True), held.body
        else:
            chosen = self._chosen(held, line.before)
            after, body = restored(held.entry, chosen.entry), chosen.body
        check_content(after, body)
        try:
            return self._store.prepared(held, after, body, "undo", AuthorRole.MANUAL_USER, moving)
        except AlreadyExists as error:
            holder = error.details["id"]
            raise NameConflict(
                f"the name {after.name} is now held by {holder}; nothing was undone",
                f"rename or archive {holder} first",
                id=holder,
            ) from error

    def _keys(self) -> list[str]:
        return [layer.key for layer in self._layers.person()]


def restored(now: Entry, then: Entry) -> Entry:
    """An entry with the content of an older version; id, creation and counts stay."""
    return replace(
        now,
        type=then.type, name=then.name, description=then.description, confidence=then.confidence,
        entities=then.entities, links=then.links, valid_from=then.valid_from, valid_until=then.valid_until,
        invalid_at=then.invalid_at, superseded_by=then.superseded_by, archived=then.archived,
        file_state=None, file_reason=None,
    )  # fmt: skip
