"""Settles what a dead process left of its file operations: finishes what was renamed, undoes what was not (02 §2).

The caller holds the lock of all writers, so that an open intent never belongs to a process that is still at work.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import apsw

from engine.errors import SparkError
from engine.storage import files, intents
from engine.storage.database import Database
from engine.storage.files import Signature
from engine.storage.intents import Intent, IntentKind

# What a file that a hand changed since the crash can bring about; it must not stop every later write.
_BY_HAND = (apsw.ConstraintError, ValueError, TypeError, ArithmeticError, LookupError, RecursionError)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """A write that a dead process had published but not committed; recovery hands it to the subject's store."""

    intent: Intent
    path: Path
    data: bytes
    signature: Signature


FolderOf = Callable[[str], Path | None]
Finish = Callable[[apsw.Connection, Sequence[Finished]], None]


class Recovery:
    """Finishes or undoes the operations of one subject; ``finish`` commits the rows of files already published."""

    def __init__(self, database: Database, folder_of: FolderOf, finish: Finish) -> None:
        self._database = database
        self._folder_of = folder_of
        self._finish = finish

    def settle(self, left: Sequence[Intent]) -> None:
        """Settle every operation whose place can be reached; the others wait."""
        for operation, group in groupby(left, key=lambda intent: intent.operation):
            each = list(group)
            try:
                self._settle_writes(operation, [intent for intent in each if intent.kind is IntentKind.WRITE])
                self._settle_deletes([intent for intent in each if intent.kind is IntentKind.DELETE])
            except SparkError as error:  # one that cannot be settled now must not stop every other write
                _log.warning("operation %s of a stopped process stays open: %s", operation, error.code)

    def _settle_writes(self, operation: str, found: list[Intent]) -> None:
        located = [(intent, folder) for intent in found if (folder := self._folder_of(intent.layer))]
        if not located:
            return
        staged = [folder / str(intent.staged) for intent, folder in located]
        if not _was_published(located):
            discard_staged([*staged, *map(files.kept_beside, staged)])
            self._clear([intent.seq for intent, _ in located])
            _log.warning("operation %s of a stopped process undone", operation)
            return
        done = [self._published(intent, folder) for intent, folder in located]
        seqs = [intent.seq for intent, _ in located]
        try:
            with self._database.write() as connection:
                self._finish(connection, [each for each in done if each])
                intents.clear(connection, seqs)
        except _BY_HAND as error:  # a hand was there in between: the files are adopted as any others are
            self._clear(seqs)
            name = type(error).__name__
            _log.warning("operation %s of a stopped process left to adoption: %s", operation, name)
        else:
            _log.warning("operation %s of a stopped process finished", operation)
        discard_staged(list(map(files.kept_beside, staged)))

    def _published(self, intent: Intent, folder: Path) -> Finished | None:
        path, staged = folder / intent.file, folder / str(intent.staged)
        if not _is_published(intent, folder) and staged.exists():
            if not _is_base(intent, path):  # a hand was there since: what it wrote is adopted, not replaced
                files.discard(staged)
                _log.warning("%s was changed after a crash; its unfinished write is dropped", path.name)
                return None
            files.publish(staged, path)
        data, found = files.content(path), files.signature(path)
        return Finished(intent, path, data, found) if data is not None and found else None

    def _settle_deletes(self, found: list[Intent]) -> None:
        settled = [intent.seq for intent in found if not intent.applied or self._file_gone(intent)]
        if settled:
            self._clear(settled)

    def _file_gone(self, intent: Intent) -> bool:
        folder = self._folder_of(intent.layer)
        return folder is not None and removed(folder / intent.file)

    def _clear(self, seqs: list[int]) -> None:
        with self._database.write(durable=False) as connection:
            intents.clear(connection, seqs)


def discard_staged(staged: Sequence[Path]) -> None:
    """Drop staged files from the last to the first."""
    for path in reversed(staged):  # the first goes last: were it gone alone, renaming would seem to have begun
        files.discard(path)


def removed(path: Path) -> bool:
    """Remove a file for good; False, and a line in the log, when it stays."""
    try:
        files.remove(path)
    except SparkError as error:
        _log.warning("file %s could not be removed: %s", path.name, error.code)
        return False
    return True


def _was_published(located: Sequence[tuple[Intent, Path]]) -> bool:
    """Whether renaming had begun. It follows the order of staging, so a first staged file gone before others tells."""
    staged = [(folder / str(intent.staged)).exists() for intent, folder in located]
    return any(_is_published(*each) for each in located) or (not staged[0] and any(staged))


def _is_base(intent: Intent, path: Path) -> bool:
    data = files.content(path)
    return (None if data is None else files.content_hash(data)) == intent.base_hash


def _is_published(intent: Intent, folder: Path) -> bool:
    data = files.content(folder / intent.file)
    staged = folder / str(intent.staged)
    return data is not None and not staged.exists() and files.content_hash(data) == intent.new_hash
