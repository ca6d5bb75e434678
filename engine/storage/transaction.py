"""Files and rows changed together: intent, stage, transaction, rename, commit (02 §2); a crash leaves old or new.

The lock file is held from the intent to the commit, so an intent seen under the lock always belongs to a dead process.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from engine.storage.recovery import Finish, FolderOf, Recovery, discard_staged, removed

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


class FileMoved(SparkError):
    """The file on disk is no longer the one the change was made from; nothing was written."""

    code = "FILE_MOVED"


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
        self._recovery = Recovery(database, folder_of, finish)
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
                    self._recovery.settle(self.pending())
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
            blocked = [delete for delete in deletes if not removed(delete.path)]
            reach(DeleteStep.REMOVED)
            self._clear([seq for seq, delete in zip(seqs, deletes, strict=True) if delete not in blocked])
            reach(DeleteStep.SETTLED)
            return blocked

    def pending(self) -> list[Intent]:
        """Open intents: a running writer's, a dead one's, or deletions whose file would not go."""
        with self._database.read() as connection:
            return intents.pending(connection, self._subject)

    def blocked(self, layer: str, file: str) -> list[Path]:
        """Where a deleted file of this layer still lies, because it would not go; a clone's namesake is another file."""
        found = [each for each in self.pending() if each.applied and (each.layer, each.file) == (layer, file)]
        return [folder / file for intent in found if (folder := self._folder_of(intent.layer))]

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
            discard_staged([before for before in kept.values() if before])

    def _write_intent(self, operation: str, write: FileWrite, staged: str) -> Intent:
        digest = files.content_hash(write.data)
        base = None if write.base is None else files.content_hash(write.base)
        return Intent(
            0, operation, IntentKind.WRITE, write.action, write.layer, write.file, staged, digest, write.author,
            self._clock.now_ms(), False, base,
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
        discard_staged(staged)
        self._clear_quietly(seqs)

    def _clear_quietly(self, seqs: list[int]) -> None:
        try:
            self._clear(seqs)
        except SparkError as error:  # the failure that led here is the one to report; recovery clears these later
            _log.warning("intents left open: %s", error.code)


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
