"""Decides what a file that reads differently becomes: a new version by a person's hand, a newcomer, or quarantined.

Files are the truth: nothing here overwrites what a person wrote; only version, time and author are written into it.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import apsw

from engine.clock import Clock
from engine.config import MemorySettings
from engine.errors import AlreadyExists, SparkError, StoreReadOnly, ValidationFailed
from engine.identity import Ids
from engine.memory import history_rows, rows
from engine.memory.commit import Committer, Pending, change_of, changed_fields
from engine.memory.document import next_version
from engine.memory.file_reader import FoundFile, read_file
from engine.memory.model import AuthorRole, Entry, Layer, MemoryType, Scope, Source, State
from engine.memory.rows import FileRow, Row
from engine.memory.takeover import give_way
from engine.storage import files
from engine.storage.database import Database
from engine.storage.transaction import FileMoved

BATCH = 500
# What one file can bring about by what it says; everything else (a busy store, a full disk) concerns them all.
_UNEXPECTED = (
    ValueError, TypeError, ArithmeticError, LookupError, RecursionError,
    apsw.ConstraintError, apsw.TooBigError, apsw.MismatchError,
)  # fmt: skip
ITS_OWN_FAULT = (ValidationFailed, AlreadyExists, FileMoved, *_UNEXPECTED)
_log = logging.getLogger(__name__)


class Adoption:
    """Takes the files of a layer into the index; the caller holds the writers' lock."""

    def __init__(
        self,
        database: Database,
        committer: Committer,
        clock: Clock,
        ids: Ids,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._committer = committer
        self._clock = clock
        self._ids = ids
        self._settings = settings

    def adopt(self, layer: Layer, names: Sequence[str], *, quiet: bool) -> list[str]:
        """Read files and adopt what they say; ``quiet`` leaves the feed alone (a rebuild is no change)."""
        touched: list[str] = []
        remaining = iter(sorted(names))
        while batch := list(islice(remaining, BATCH)):
            found = [self._read(layer, name) for name in batch]
            touched += self._batch(layer, [each for each in found if each], quiet=quiet)
        return touched

    def _read(self, layer: Layer, name: str) -> FoundFile | None:
        path = layer.folder / name
        try:
            return read_file(layer, path, self._clock.zone())
        except ITS_OWN_FAULT as error:
            data, found = files.content(path), files.signature(path)
            if data is None or found is None:
                return None
            return FoundFile(layer, path, data, found, None, "", _reason(error), False)

    def _batch(self, layer: Layer, found: Sequence[FoundFile], *, quiet: bool) -> list[str]:
        with self._database.read() as connection:
            unsettled = [file for file in found if not _is_settled(file, _known(connection, file))]
            operation = history_rows.fresh_group(connection, self._ids) if unsettled else ""
        if not unsettled:
            return []
        touched: list[str] = []
        by_hand: list[FoundFile] = []
        with self._database.write() as connection:
            for file in unsettled:
                try:
                    with connection:  # a savepoint: one bad file takes nothing with it
                        changed = self._one(connection, operation, file, quiet=quiet)
                except ITS_OWN_FAULT as error:
                    touched += self._set_aside(connection, file, error)
                    continue
                if changed is None:
                    by_hand.append(file)
                else:
                    touched += changed
        left = [file for file in by_hand if not self._adopt_by_hand(layer, file)]
        late = [file for file in left if self._adopt_by_hand(layer, file)]  # what they wait for may be adopted by now
        return touched + [file.id for file in by_hand if file not in left or file in late]

    def _one(
        self, connection: apsw.Connection, operation: str, file: FoundFile, *, quiet: bool
    ) -> Sequence[str] | None:
        """Take one file in as far as rows go; answers the ids touched, None where its file is to be written as well."""
        self._follow_move(connection, file)
        known = _known(connection, file)
        if known and known.signature != file.found and _reads_the_same(file, known):
            rows.set_signature(connection, known.rid, file.found)
            return []
        verdict = self._decide(connection, file)
        if isinstance(verdict, str):
            return self._quarantine(connection, file, verdict)
        if verdict.base is not None and self._database.opening.read_only is None:
            return None
        self._store(connection, operation, verdict, file, quiet=quiet)
        return [file.id]

    def _set_aside(self, connection: apsw.Connection, file: FoundFile, error: Exception) -> Sequence[str]:
        """One bad file is one bad file: it is quarantined, or left for the next look, and the others go on."""
        if isinstance(error, FileMoved):
            _log.info("%s not adopted yet: %s", file.id, error.code)
            return []
        try:
            with connection:
                touched = self._quarantine(connection, file, _reason(error))
        except ITS_OWN_FAULT as second:
            _log.error("%s of %s left out: %s", file.path.name, file.layer.key, type(second).__name__)
            return []
        return touched

    def _follow_move(self, connection: apsw.Connection, file: FoundFile) -> None:
        """A file that moved from one agent's folder to another's is the same memory, not a vanished and a new one."""
        layer = file.layer
        if layer.scope is not Scope.AGENT or file.reason or rows.find(connection, (layer.key,), file.id):
            return
        for row in rows.find_all(connection, rows.layers_like(connection, "agent:*"), file.id):
            if not (layer.folder.parent / str(row.entry.scope_ref) / file.path.name).exists():
                rows.move(connection, row, layer)
                return

    def _decide(self, connection: apsw.Connection, file: FoundFile) -> Pending | str:
        """What a file that reads differently becomes, or the reason to quarantine it.

        A pending change with ``base`` is to be written into the file as well, by a transaction of its own.
        """
        if file.entry is None or file.reason:
            return file.reason or "unreadable"
        row = rows.find(connection, (file.layer.key,), file.id)
        known = row if row and row.entry.version else None
        taken = self._holder(connection, file.layer, file.entry)
        if taken and taken.entry.state(self._clock.now_ms()) is not State.EXPIRED:
            return f"the name is taken by {taken.entry.id}"
        if known is None and file.by_store:
            pending = Pending(file.layer, row, file.entry, file.body, "adopt")
        elif known is None:
            pending = Pending(file.layer, row, file.entry, file.body, "adopt", file.data)
        elif file.entry.version > known.entry.version:
            pending = Pending(file.layer, known, file.entry, file.body, "adopt")
        else:
            pending = self._edited(connection, file, file.entry, known)
        if pending.base is not None and (full := self._is_full(connection, pending)):
            return full
        return replace(pending, base=file.data) if taken else pending

    def _holder(self, connection: apsw.Connection, layer: Layer, entry: Entry) -> Row | None:
        """Another entry that holds the name this one wants."""
        taken = rows.holder(connection, layer.key, entry.name) if rows.is_live(entry) else None
        return taken if taken and taken.entry.id != entry.id else None

    def _is_full(self, connection: apsw.Connection, pending: Pending) -> str | None:
        """The reason why a change by hand may not make one more active entry, where that is so."""
        now, layer = self._clock.now_ms(), pending.layer
        before = pending.before.entry if pending.before and pending.before.entry.version else None
        was_active = before is not None and replace(before, file_state=None).state(now) is State.ACTIVE
        quota = self._settings().quota_of(layer.scope.value)
        if was_active or pending.after.state(now) is not State.ACTIVE:
            return None
        full = rows.active_count(connection, layer.key, now) >= quota
        return f"the {layer.scope.value} layer is full ({quota})" if full else None

    def _edited(self, connection: apsw.Connection, file: FoundFile, entry: Entry, known: Row) -> Pending:
        back = replace(known.entry, file_state=None, file_reason=None)
        body_same = rows.body_of(connection, known.rid) == file.body
        fields = changed_fields(back, entry)
        if not fields and body_same and entry.version == known.entry.version:
            return Pending(file.layer, known, back, file.body, "adopt")
        edited = replace(
            entry,
            version=next_version(known.entry),
            updated_at=self._clock.now_ms(),
            author_role=AuthorRole.MANUAL_USER,
        )
        names = fields if body_same else (*fields, "body")
        return Pending(file.layer, known, edited, file.body, "hand-edit", base=file.data, fields=names)

    def _adopt_by_hand(self, layer: Layer, file: FoundFile) -> bool:
        """Write version and author into the file as well; decided anew, since files before it may have changed much."""
        try:
            return self._written_by_hand(file)
        except (ValidationFailed, *_UNEXPECTED) as error:
            with self._database.write() as connection:
                return bool(self._set_aside(connection, file, error))
        except SparkError as error:
            _log.warning("hand edit of %s not adopted yet: %s", file.id, error.code)
            return False

    def _written_by_hand(self, file: FoundFile) -> bool:
        with self._database.write() as connection:
            operation = history_rows.fresh_group(connection, self._ids)
            verdict = self._decide(connection, file)
            if isinstance(verdict, str):
                return bool(self._quarantine(connection, file, verdict))
            group = [verdict, *self._giving_way(connection, verdict)]
        try:
            self._committer.commit(operation, group)
        except StoreReadOnly:  # a checkout that may only be read: the index follows it, the file stays as it is
            with self._database.write() as connection:
                self._store(connection, operation, verdict, file, quiet=False)
        return True

    def _giving_way(self, connection: apsw.Connection, pending: Pending) -> list[Pending]:
        taken = self._holder(connection, pending.layer, pending.after)
        return [give_way(connection, pending.layer, taken, pending.after, self._clock.now_ms())] if taken else []

    def _store(
        self, connection: apsw.Connection, operation: str, pending: Pending, file: FoundFile, *, quiet: bool
    ) -> None:
        """Rows alone: the file already says all of it, or may not be written."""
        before, now = pending.before, self._clock.now_ms()
        for old in self._giving_way(connection, pending):
            known = rows.file_rows(connection, old.layer.key, old.after.id)[old.after.file]
            rows.put(connection, old.layer, old.after, old.body, known.file_hash, known.signature)
        moved_on = before is not None and before.entry.version not in (0, pending.after.version)
        if before and moved_on:
            history_rows.add_revision(connection, before, now, operation)
        rows.put(connection, pending.layer, pending.after, pending.body, file.hash, file.found)
        after = pending.after
        if after.superseded_by:
            at = after.invalid_at or after.updated_at
            history_rows.add_derivation(connection, pending.layer.key, after.id, after.superseded_by, "supersede", at)
        if not quiet and (moved_on or before is None):
            history_rows.add_change(connection, pending.layer.key, change_of(operation, pending, now))

    def _quarantine(self, connection: apsw.Connection, file: FoundFile, reason: str) -> list[str]:
        """Take a file out of service; answers its id, or nothing where that is already so."""
        row = rows.find(connection, (file.layer.key,), file.id)
        known = _known(connection, file)
        entry = row.entry if row else _placeholder(file.layer, file, self._clock.now_ms())
        after = replace(entry, file_state=State.QUARANTINED, file_reason=reason)
        if known and after == entry and _reads_the_same(file, known):
            return []
        body = rows.body_of(connection, row.rid) if row else ""
        rows.put(connection, file.layer, after, body, file.hash, file.found)
        _log.warning("%s quarantined in %s: %s", file.path.name, file.layer.key, reason)
        return [file.id]


def _known(connection: apsw.Connection, file: FoundFile) -> FileRow | None:
    return rows.file_rows(connection, file.layer.key, file.id).get(file.path.name)


def _reads_the_same(file: FoundFile, known: FileRow) -> bool:
    return known.file_hash == file.hash and known.file_state is not State.MISSING


def _is_settled(file: FoundFile, known: FileRow | None) -> bool:
    """Whether the index says what the file says; one kept out only by a taken name or a full layer is asked again."""
    if known is None or known.signature != file.found or not _reads_the_same(file, known):
        return False
    return known.file_state is not State.QUARANTINED or file.entry is None


def _reason(error: Exception) -> str:
    """Why a file is out of service; of an error nobody foresaw only the name, since its text may quote the file."""
    return error.message if isinstance(error, SparkError) else f"it cannot be taken in ({type(error).__name__})"


def _placeholder(layer: Layer, file: FoundFile, now: int) -> Entry:
    """Stands for a file that never was a memory; version 0 marks it."""
    return Entry(
        id=file.id, scope=layer.scope, scope_ref=layer.ref, type=MemoryType.REFERENCE, name=file.id, description="",
        source=Source.MANUAL, confidence=0.0, author_role=AuthorRole.MANUAL_USER, created_at=now, updated_at=now,
        valid_from=now, version=0,
    )  # fmt: skip
