"""Files and rows changed together: intent, stage, transaction, rename, commit (02 §2); a crash leaves old or new.

The lock file is held from the intent to the commit, so an intent seen under the lock always belongs to a dead process.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import apsw

from engine.clock import Clock
from engine.errors import SparkError
from engine.storage import files, intents
from engine.storage.database import Database
from engine.storage.faults import DeleteStep, Step, reach
from engine.storage.files import Signature
from engine.storage.intents import Intent, IntentKind
from engine.storage.lock import exclusive

LOCK_WAIT_S = 15.0
T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file to be replaced: ``layer`` and ``file`` name it in the index, ``folder`` is where it lies.

    ``base`` holds the bytes the change was made from (None: no file); a file that has moved on is never overwritten.
    """

    layer: str
    file: str
    folder: Path
    data: bytes
    base: bytes | None
    action: str
    author: str

    @property
    def path(self) -> Path:
        """The file's absolute path."""
        return self.folder / self.file


@dataclass(frozen=True, slots=True)
class FileDelete:
    """One file to be removed."""

    layer: str
    file: str
    folder: Path
    author: str

    @property
    def path(self) -> Path:
        """The file's absolute path."""
        return self.folder / self.file


@dataclass(frozen=True, slots=True)
class Finished:
    """A write that a dead process had published but not committed; recovery hands it to the subject's store."""

    intent: Intent
    path: Path
    data: bytes
    signature: Signature


class FileMoved(SparkError):
    """The file on disk is no longer the one the change was made from; nothing was written."""

    code = "FILE_MOVED"


FolderOf = Callable[[str], Path | None]
Finish = Callable[[apsw.Connection, Sequence[Finished]], None]


class FileTransactions:
    """The one way a subject (memory, wiki) changes its files and rows together."""

    def __init__(
        self, database: Database, lock_file: Path, clock: Clock, subject: str, folder_of: FolderOf, finish: Finish
    ) -> None:
        self._database = database
        self._lock_file = lock_file
        self._clock = clock
        self._subject = subject
        self._folder_of = folder_of
        self._finish = finish
        self._thread_lock = threading.RLock()
        self._depth = 0

    @contextmanager
    def exclusive(self, timeout_s: float = LOCK_WAIT_S) -> Iterator[None]:
        """Hold the lock of all writers on this home; what a dead one left is settled first.

        Raises ``StoreBusy``, and ``StoreNewer`` or ``StoreReadOnly`` where nothing lasting may be written.
        """
        with self._thread_lock:
            if self._depth:
                yield
                return
            self._database.check_writable()
            with exclusive(self._lock_file, timeout_s):
                self._depth = 1
                try:
                    self.recover()
                    yield
                finally:
                    self._depth = 0

    def write(
        self, operation: str, writes: Sequence[FileWrite], apply: Callable[[apsw.Connection, Sequence[Signature]], T]
    ) -> T:
        """Replace the files and run ``apply`` in one transaction; on any failure neither has happened."""
        with self.exclusive():
            staged = [files.staged_name(write.path) for write in writes]
            seqs = self._intend([self._write_intent(operation, *pair) for pair in zip(writes, staged, strict=True)])
            reach(Step.INTENDED)
            paths = [write.folder / name for write, name in zip(writes, staged, strict=True)]
            signatures = self._stage(writes, paths, seqs)
            reach(Step.STAGED)
            result = self._commit(writes, paths, seqs, lambda connection: apply(connection, signatures))
            reach(Step.COMMITTED)
            return result

    def delete(
        self, operation: str, deletes: Sequence[FileDelete], apply: Callable[[apsw.Connection], None]
    ) -> list[FileDelete]:
        """Run ``apply`` (which removes the rows), then remove the files; answers those whose file would not go."""
        with self.exclusive():
            seqs = self._intend([self._delete_intent(operation, delete) for delete in deletes])
            reach(DeleteStep.INTENDED)
            try:
                with self._database.write() as connection:
                    apply(connection)
                    intents.mark_applied(connection, seqs)
                    reach(DeleteStep.APPLIED)
            except BaseException:
                self._clear_quietly(seqs)
                raise
            reach(DeleteStep.COMMITTED)
            blocked = [delete for delete in deletes if not _removed(delete.path)]
            reach(DeleteStep.REMOVED)
            self._clear([seq for seq, delete in zip(seqs, deletes, strict=True) if delete not in blocked])
            reach(DeleteStep.SETTLED)
            return blocked

    def pending(self) -> list[Intent]:
        """Open intents: a running writer's, a dead one's, or deletions whose file would not go."""
        with self._database.read() as connection:
            return intents.pending(connection, self._subject)

    def blocked(self, file: str) -> list[Path]:
        """Where deleted files of this name still lie, because they would not go."""
        found = [intent for intent in self.pending() if intent.applied and intent.file == file]
        return [folder / file for intent in found if (folder := self._folder_of(intent.layer))]

    def recover(self) -> None:
        """Finish or undo what a dead process left; the caller holds the lock."""
        for operation, group in groupby(self.pending(), key=lambda intent: intent.operation):
            each = list(group)
            try:
                self._recover_writes(operation, [intent for intent in each if intent.kind is IntentKind.WRITE])
                self._recover_deletes([intent for intent in each if intent.kind is IntentKind.DELETE])
            except SparkError as error:  # one that cannot be settled now must not stop every other write
                _log.warning("operation %s of a stopped process stays open: %s", operation, error.code)

    def _stage(self, writes: Sequence[FileWrite], staged: Sequence[Path], seqs: list[int]) -> list[Signature]:
        try:
            paths = [files.stage(write.path, write.data, to.name) for write, to in zip(writes, staged, strict=True)]
            return [found for path in paths if (found := files.signature(path))]
        except BaseException:
            self._abandon(staged, seqs)
            raise

    def _commit(
        self,
        writes: Sequence[FileWrite],
        staged: Sequence[Path],
        seqs: list[int],
        apply: Callable[[apsw.Connection], T],
    ) -> T:
        kept: dict[int, Path | None] = {}
        try:
            with self._database.write() as connection:
                reach(Step.BEGUN)
                result = apply(connection)
                intents.clear(connection, seqs)
                reach(Step.APPLIED)
                for index, (write, path) in enumerate(zip(writes, staged, strict=True)):
                    if files.content(write.path) != write.base:
                        raise FileMoved(f"{write.file} was changed by another program meanwhile", "try again")
                    kept[index] = files.keep(write.path, path)
                    files.publish(path, write.path)
                    reach(Step.RENAMED)
            return result
        except BaseException:
            # Backwards, so that whatever stops it leaves what a crash while renaming leaves: recovery finishes that.
            if all(_put_back(writes[index], staged[index], before) for index, before in reversed(kept.items())):
                self._abandon(staged, seqs)
            raise
        finally:
            _discard([before for before in kept.values() if before])

    def _write_intent(self, operation: str, write: FileWrite, staged: str) -> Intent:
        digest = files.content_hash(write.data)
        return Intent(
            0, operation, IntentKind.WRITE, write.action, write.layer, write.file, staged, digest, write.author,
            self._clock.now_ms(), False,
        )  # fmt: skip

    def _delete_intent(self, operation: str, delete: FileDelete) -> Intent:
        return Intent(
            0, operation, IntentKind.DELETE, "delete", delete.layer, delete.file, None, None, delete.author,
            self._clock.now_ms(), False,
        )  # fmt: skip

    def _intend(self, wanted: Sequence[Intent]) -> list[int]:
        # No sync: after a power cut the file itself tells its version and author, and the next look adopts it as such.
        with self._database.write(durable=False) as connection:
            return [intents.record(connection, self._subject, intent) for intent in wanted]

    def _clear(self, seqs: list[int]) -> None:
        with self._database.write(durable=False) as connection:
            intents.clear(connection, seqs)

    def _abandon(self, staged: Sequence[Path], seqs: list[int]) -> None:
        _discard(staged)
        self._clear_quietly(seqs)

    def _clear_quietly(self, seqs: list[int]) -> None:
        try:
            self._clear(seqs)
        except SparkError as error:  # the failure that led here is the one to report; recovery clears these later
            _log.warning("intents left open: %s", error.code)

    def _recover_writes(self, operation: str, found: list[Intent]) -> None:
        located = [(intent, folder) for intent in found if (folder := self._folder_of(intent.layer))]
        if not located:
            return
        staged = [folder / str(intent.staged) for intent, folder in located]
        if not _was_published(located):
            _discard([*staged, *map(files.kept_beside, staged)])
            self._clear([intent.seq for intent, _ in located])
            _log.warning("operation %s of a stopped process undone", operation)
            return
        done = [self._published(intent, folder) for intent, folder in located]
        seqs = [intent.seq for intent, _ in located]
        try:
            with self._database.write() as connection:
                self._finish(connection, [each for each in done if each])
                intents.clear(connection, seqs)
        except apsw.ConstraintError:  # a hand was there in between: the files are adopted as any others are
            self._clear(seqs)
            _log.warning("operation %s of a stopped process left to adoption", operation)
        else:
            _log.warning("operation %s of a stopped process finished", operation)
        _discard([*map(files.kept_beside, staged)])

    def _published(self, intent: Intent, folder: Path) -> Finished | None:
        path, staged = folder / intent.file, folder / str(intent.staged)
        if not _is_published(intent, folder) and staged.exists():
            files.publish(staged, path)
        data, found = files.content(path), files.signature(path)
        return Finished(intent, path, data, found) if data is not None and found else None

    def _recover_deletes(self, found: list[Intent]) -> None:
        settled = [intent.seq for intent in found if not intent.applied or self._file_gone(intent)]
        if settled:
            self._clear(settled)

    def _file_gone(self, intent: Intent) -> bool:
        folder = self._folder_of(intent.layer)
        return folder is not None and _removed(folder / intent.file)


def _discard(staged: Sequence[Path]) -> None:
    for path in reversed(staged):  # the first goes last: were it gone alone, renaming would seem to have begun
        files.discard(path)


def _was_published(located: Sequence[tuple[Intent, Path]]) -> bool:
    """Whether renaming had begun. It follows the order of staging, so a first staged file gone before others tells."""
    staged = [(folder / str(intent.staged)).exists() for intent, folder in located]
    return any(_is_published(*each) for each in located) or (not staged[0] and any(staged))


def _is_published(intent: Intent, folder: Path) -> bool:
    data = files.content(folder / intent.file)
    staged = folder / str(intent.staged)
    return data is not None and not staged.exists() and files.content_hash(data) == intent.new_hash


def _put_back(write: FileWrite, staged: Path, kept: Path | None) -> bool:
    """Undo a rename whose transaction failed; ``staged`` gets its file back. Answers whether that worked."""
    try:
        if files.content(write.path) != write.data:
            return True
        if write.base is None:
            files.publish(write.path, staged)
        elif kept is None:
            files.write_through(write.path, write.base)
        else:
            files.name_also(write.path, staged)
            files.publish(kept, write.path)
    except SparkError as error:
        _log.error("could not put %s back: %s", write.file, error.code)
        return False
    return True


def _removed(path: Path) -> bool:
    try:
        files.remove(path)
    except SparkError as error:
        _log.warning("file %s could not be removed: %s", path.name, error.code)
        return False
    return True
