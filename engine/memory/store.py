"""Writes memories for people and background jobs alike: add, edit, archive, delete; the only door to files and rows."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from engine.clock import Clock
from engine.config import MemorySettings
from engine.errors import (
    IoFailed,
    NotFound,
    QuotaExceeded,
    SparkError,
    ValidationFailed,
)
from engine.identity import Ids
from engine.memory import history_rows, rows
from engine.memory.checks import check_content
from engine.memory.commit import Committer, Pending, altered, version_conflict
from engine.memory.creation import kept, new_entry, validity_of
from engine.memory.differences import is_away
from engine.memory.document import next_version
from engine.memory.entities import cleaned
from engine.memory.file_reader import copies_beside
from engine.memory.layers import Layers
from engine.memory.model import (
    AuthorRole,
    Changes,
    Draft,
    Entry,
    ItemResult,
    Layer,
    Scope,
    State,
    Unset,
    checked_description,
    checked_name,
)
from engine.memory.reconcile import Reconciler
from engine.memory.rows import Row
from engine.memory.takeover import base_of, give_way
from engine.storage.database import Database
from engine.storage.transaction import FileDelete, FileMoved, FileTransactions

TRIES = 3
T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Held:
    """An entry under the writers' lock: its row, its body and the bytes of its file, all up to date.

    ``anew``: those bytes are no memory, so the next version is written from nothing.
    """

    layer: Layer
    row: Row
    body: str
    base: bytes | None
    anew: bool = False

    @property
    def entry(self) -> Entry:
        """The entry as it is now."""
        return self.row.entry


class MemoryStore:
    """Every verb takes the lock, adopts what a hand changed meanwhile, checks, then commits file and row together."""

    def __init__(
        self,
        database: Database,
        transactions: FileTransactions,
        committer: Committer,
        reconciler: Reconciler,
        layers: Layers,
        clock: Clock,
        ids: Ids,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._transactions = transactions
        self._committer = committer
        self._reconciler = reconciler
        self._layers = layers
        self._clock = clock
        self._ids = ids
        self._settings = settings

    def add(self, draft: Draft) -> Entry:
        """Remember something new.

        Raises ``AlreadyExists`` for a name an active entry holds (an expired holder gives way), ``ValidationFailed``,
        ``SensitiveContent``, ``QuotaExceeded``, or an I/O error.
        """
        check_draft(draft)

        def attempt() -> Entry:
            pending = self.begun(draft)
            return self._committer.commit(self.operation(), pending)[0]

        return self.retried(attempt)

    def begun(self, draft: Draft, moving: frozenset[str] = frozenset()) -> list[Pending]:
        """The pending creation of a checked draft, and of the expired holder of its name; the caller holds the lock.

        ``moving`` names active entries of that layer that leave service with it. Raises as ``add`` does.
        """
        # Under the lock: a store that refuses leaves no folder in the project either.
        layer = _present(self._layers.for_writing(draft.scope, draft.agent))
        entry = new_entry(self._database, self._clock, self._ids, draft, layer)
        pending = [Pending(layer, None, entry, draft.body, "add")]
        pending += self._room_for(layer, entry, moving)
        self._check_quota(layer, leaving=len(moving))
        return pending

    def edit(
        self,
        entry_id: str,
        changes: Changes,
        expected_version: int | None = None,
        author: AuthorRole = AuthorRole.MANUAL_USER,
    ) -> Entry:
        """Replace some fields; a change that changes nothing keeps the version.

        Raises ``VersionConflict`` (with both versions) when ``expected_version`` is no longer the current one.
        """
        self._check_changes(changes)

        def attempt() -> Entry:
            held = self.hold(entry_id)
            if expected_version is not None and expected_version != held.entry.version:
                raise version_conflict(entry_id, held.entry.version, expected_version)
            after, body = self._changed(held, changes)
            return self.replace(held, after, body, "edit", author)

        return self.retried(attempt)

    def archive(self, ids: Iterable[str]) -> list[ItemResult]:
        """Take entries out of search and injection, keeping their files."""
        return self._each(ids, lambda held: replace(held.entry, archived=True), "archive")

    def unarchive(self, ids: Iterable[str]) -> list[ItemResult]:
        """Bring archived entries back; an active entry of the same name is a conflict, an expired one gives way."""
        return self._each(ids, lambda held: replace(held.entry, archived=False), "unarchive")

    def delete(self, ids: Iterable[str]) -> list[ItemResult]:
        """Delete rows, history, vectors and file for good; a file that would not go is ``blocked_locally``."""
        results = [self._reported(entry_id, partial(self._delete, entry_id)) for entry_id in ids]
        self._reconciler.purge()
        return results

    def replace(self, held: Held, after: Entry, body: str, action: str, author: AuthorRole) -> Entry:
        """Commit one entry as a new version; the caller holds the lock. Nothing to change: the entry as it is."""
        if replace(after, version=held.entry.version) == held.entry and body == held.body:
            return held.entry
        return self._committer.commit(self.operation(), self.prepared(held, after, body, action, author))[0]

    def prepared(
        self,
        held: Held,
        after: Entry,
        body: str,
        action: str,
        author: AuthorRole,
        moving: frozenset[str] = frozenset(),
    ) -> list[Pending]:
        """The pending change of one entry, and of the expired holder of its name where there is one.

        ``moving`` names entries that change with it: a name one of them holds is about to be free.
        """
        now = self._clock.now_ms()
        entry = replace(after, version=next_version(held.entry), updated_at=now, author_role=author)
        pending = [_pending(held, entry, body, action)]
        if rows.is_live(entry):
            if held.entry.state(now) is not State.ACTIVE and entry.state(now) is State.ACTIVE:
                self._check_quota(held.layer)
            pending += self._room_for(held.layer, entry, moving)
        return pending

    def hold(self, entry_id: str) -> Held:
        """An entry as it is now, hand edits adopted; the caller holds the lock.

        Raises ``NotFound``, or ``FileMoved`` when its file changed while it was being read (see ``retried``).
        """
        layer = self._layer_of(entry_id)
        self._reconciler.adopt_entry(layer, entry_id)
        with self._database.read() as connection:
            row = rows.find(connection, (layer.key,), entry_id)
            if row is None:
                raise not_found(entry_id)
            return Held(layer, row, rows.body_of(connection, row.rid), base_of(connection, layer, row))

    def operation(self) -> str:
        """A fresh id for one operation group."""
        with self._database.read() as connection:
            return history_rows.fresh_group(connection, self._ids)

    def retried(self, attempt: Callable[[], T]) -> T:
        """Do something under the writers' lock, and again when another program wrote a file it starts from."""
        for _ in range(TRIES - 1):
            try:
                with self._transactions.exclusive():
                    return attempt()
            except FileMoved:
                _log.info("a file moved on while it was being written; trying again")
        with self._transactions.exclusive():
            return attempt()

    def _each(self, ids: Iterable[str], change: Callable[[Held], Entry], action: str) -> list[ItemResult]:
        def one(entry_id: str) -> ItemResult:
            unchanged = False

            def attempt() -> Entry:
                nonlocal unchanged
                held = self._serviceable(entry_id)
                unchanged = change(held) == held.entry
                return self.replace(held, change(held), held.body, action, AuthorRole.MANUAL_USER)

            entry = self.retried(attempt)
            return ItemResult(entry_id, "unchanged" if unchanged else "done", version=entry.version)

        return [self._reported(entry_id, partial(one, entry_id)) for entry_id in ids]

    def _reported(self, entry_id: str, action: Callable[[], ItemResult]) -> ItemResult:
        try:
            return action()
        except SparkError as error:
            return ItemResult(entry_id, error.code, error.message)

    def _delete(self, entry_id: str) -> ItemResult:
        file, blocked = f"{entry_id}.md", self._transactions.blocked
        waiting = [layer.key for layer in self._layers.person() if blocked(layer.key, file)]
        with self._transactions.exclusive():  # which tries again what was blocked
            if waiting:
                return _deleted(entry_id, [path for key in waiting for path in blocked(key, file)])
            layer = self._layer_of(entry_id)
            with self._database.read() as connection:
                row = rows.find(connection, (layer.key,), entry_id)
            if row is None:
                raise not_found(entry_id)
            paths = [layer.folder / row.entry.file, *copies_beside(layer.folder / row.entry.file)]
            targets = [FileDelete(layer.key, p.name, layer.folder, AuthorRole.MANUAL_USER.value) for p in paths]
            left = self._transactions.delete(self.operation(), targets, lambda c: rows.remove(c, row))
            self._committer.announce([layer], [entry_id])
        _log.info("delete: %s", entry_id)
        return _deleted(entry_id, [each.path for each in left])

    def _serviceable(self, entry_id: str) -> Held:
        held = self.hold(entry_id)
        if held.entry.file_state is not None:
            raise out_of_service(held.entry)
        return held

    def _layer_of(self, entry_id: str) -> Layer:
        layers = self._layers.person()
        with self._database.read() as connection:
            keys = {row.layer for row in rows.find_all(connection, [layer.key for layer in layers], entry_id)}
        found = [layer for layer in layers if layer.key in keys]
        if not found:
            raise not_found(entry_id)
        if len(found) > 1:
            places = ", ".join(str(layer.folder) for layer in found)
            raise ValidationFailed(f"{entry_id} lies in several folders: {places}", "remove one of the files")
        return _present(found[0])

    def _room_for(self, layer: Layer, entry: Entry, moving: frozenset[str] = frozenset()) -> Sequence[Pending]:
        """The name must be free; an expired holder is invalidated in the same transaction (02 §4)."""
        mine = (entry.id, *moving)
        with self._database.read() as connection:
            taken = rows.holder(connection, layer.key, entry.name)
        if taken is None or taken.entry.id in mine:
            return []
        self._reconciler.adopt_entry(layer, taken.entry.id)  # a hand may have freed the name, or prolonged its holder
        with self._database.read() as connection:
            taken = rows.holder(connection, layer.key, entry.name)
            if taken is None or taken.entry.id in mine:
                return []
            return [give_way(connection, layer, taken, entry, self._clock.now_ms())]

    def _check_quota(self, layer: Layer, leaving: int = 0) -> None:
        quota = self._settings().quota_of(layer.scope.value)
        with self._database.read() as connection:
            count = rows.active_count(connection, layer.key, self._clock.now_ms()) - leaving
        if count >= quota:
            raise QuotaExceeded(
                f"the {layer.scope.value} layer is full: {count} of {quota}",
                f"archive some, or raise memory.quota.{layer.scope.value}",
                count=count,
                quota=quota,
            )

    def _check_changes(self, changes: Changes) -> None:
        if changes.name is not None:
            checked_name(changes.name)
        if changes.description is not None:
            checked_description(changes.description)

    def _changed(self, held: Held, changes: Changes) -> tuple[Entry, str]:
        if held.entry.file_state is not None:
            raise out_of_service(held.entry)
        given = {
            "name": changes.name,
            "description": changes.description,
            "type": changes.type,
            "confidence": changes.confidence,
            "entities": None if changes.entities is None else cleaned(changes.entities),
            "links": None if changes.links is None else kept(changes.links),
        }
        after = replace(held.entry, **{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]
        if not isinstance(changes.valid_until, Unset):
            after = replace(after, valid_until=validity_of(changes.valid_until, self._clock))
        body = held.body if changes.body is None else changes.body
        check_content(after, body)
        return after, body


def check_draft(draft: Draft) -> None:
    """Raises ``ValidationFailed`` or ``SensitiveContent`` for what may not be remembered as it is."""
    checked_name(draft.name)
    checked_description(draft.description)
    check_content(draft, draft.body)


def not_found(entry_id: str) -> NotFound:
    """The error for an id that does not exist for the caller."""
    return NotFound(f"no memory {entry_id[:40]} here", "spark-tui memory list --state all shows what there is")


def out_of_service(entry: Entry) -> ValidationFailed:
    """The error for a change to an entry whose file is broken or gone."""
    return ValidationFailed(
        f"{entry.id} is {entry.file_state}: {entry.file_reason}",
        f"spark-tui memory restore {entry.id}, or mend the file",
        path=str(Path(entry.file)),
    )


def _present(layer: Layer) -> Layer:
    if layer.scope is Scope.PROJECT and is_away(layer):
        raise IoFailed(f"{layer.folder} is not there", "is its disk mounted?", path=str(layer.folder))
    return layer


def _deleted(entry_id: str, left: Sequence[Path]) -> ItemResult:
    if not left:
        return ItemResult(entry_id, "done")
    path = str(left[0])
    return ItemResult(entry_id, "blocked_locally", f"{path} could not be removed; it will be tried again", path)


def _pending(held: Held, entry: Entry, body: str, action: str) -> Pending:
    fields = altered(held.entry, held.body, entry, body)
    return Pending(held.layer, held.row, entry, body, action, held.base, fields, held.anew)
