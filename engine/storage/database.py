"""One SQLite file: opened, checked, migrated; one writer and a reader per thread. Knows no table of any subject."""

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import apsw

from engine.clock import Clock
from engine.errors import IoFailed, SparkError, StoreBroken, StoreNewer, StoreReadOnly
from engine.storage import migrations
from engine.storage.connection import BUSY_TIMEOUT_MS, connect, is_stub, translated
from engine.storage.lock import exclusive

CHECKPOINT_WAIT_MS: Final = 1_000
OPEN_WAIT_S: Final = 15.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """What opening the database met: ``created`` fresh, ``set_aside`` a damaged file, why it may not be written."""

    created: bool = False
    set_aside: Path | None = None
    read_only: SparkError | None = None
    temporary: bool = False


class Database:
    """A database file; ``write`` gives the one writer inside a transaction, ``read`` a snapshot of this thread."""

    def __init__(self, path: Path, opening: Opening, writer: apsw.Connection) -> None:
        self.path = path
        self.opening = opening
        self._writer = writer
        self._lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[tuple[threading.Thread, apsw.Connection]] = []
        self._file = _identity(path)
        self._readers_lock = threading.Lock()  # not the writer's: a read never waits for a write
        self._closed = False

    @property
    def writable(self) -> bool:
        """Whether rows can be written, if only to a temporary index."""
        return self.opening.read_only is None or self.opening.temporary

    def check_writable(self) -> None:
        """Raise ``StoreNewer`` or ``StoreReadOnly`` when nothing lasting may be written to this home."""
        refusal = self.opening.read_only
        if refusal is not None:
            raise type(refusal)(refusal.message, refusal.hint, **refusal.details)

    @contextmanager
    def write(self, *, durable: bool = True, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[apsw.Connection]:
        """A ``BEGIN IMMEDIATE`` transaction, committed at the end and rolled back on an exception.

        Not ``durable``: it survives the death of this process, and a power cut once the next durable one is written.
        Nested writes of one thread share the outer one. Raises ``StoreBusy`` when another process writes for longer
        than ``wait_ms``, ``StoreNewer`` or ``StoreReadOnly`` when this process may only read, ``StoreBroken`` when
        another process has set this file aside: what is written into it nobody would find.
        """
        if not self.writable:
            self.check_writable()
        self._check_in_place()
        with self._lock, self._told():
            nested = self._writer.in_transaction
            if nested:
                yield self._writer
                return
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._begin(wait_ms)
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Typed errors; damage met on the way is noted beside the file, so that the next opening sets it aside."""
        try:
            with translated():
                yield
        except StoreBroken:
            if not self._is_replaced():  # else the damage is in a file that is out of the way already
                with suppress(OSError):
                    _mark(self.path).touch(mode=0o600)
            raise

    def _begin(self, wait_ms: int) -> None:
        self._writer.set_busy_timeout(wait_ms)
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        finally:
            self._writer.set_busy_timeout(BUSY_TIMEOUT_MS)

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """One consistent snapshot on this thread's own connection; nested reads share it."""
        connection = self._reader()
        with self._told():
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    def data_version(self) -> int:
        """A number that changes whenever another connection has committed."""
        with translated():
            return int(next(self._reader().execute("PRAGMA data_version"))[0])

    def checkpoint(self) -> bool:
        """Move the write-ahead log into the file and empty it, so that deleted text is gone from disk as well.

        False when a reader was in the way for a second: the log keeps what it has for now.
        """
        with self._lock, translated():
            self._writer.set_busy_timeout(CHECKPOINT_WAIT_MS)  # it keeps all other writers waiting meanwhile
            try:
                busy = next(self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)"))[0]
            except apsw.BusyError:
                return False
            finally:
                self._writer.set_busy_timeout(BUSY_TIMEOUT_MS)
        return not busy

    def close(self) -> None:
        """Close every connection; a temporary database is removed."""
        with self._lock, self._readers_lock:
            self._closed = True
            for connection in (*(reader for _, reader in self._readers), self._writer):
                connection.close()
            self._readers.clear()
        if self.opening.temporary:
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def _reader(self) -> apsw.Connection:
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            with self._readers_lock:
                if self._closed:  # a thread that wakes late must not open it again
                    raise apsw.ConnectionClosedError("the database is closed")
                self._check_in_place()
                self._drop_readers_of_the_dead()
                found = connect(self.path, read_only=True)
                self._readers.append((threading.current_thread(), found))
            self._local.connection = found
        return found

    def _drop_readers_of_the_dead(self) -> None:
        """A connection holds file handles; a long-lived program has had many threads."""
        for owner, connection in self._readers:
            if not owner.is_alive():
                connection.close()
        self._readers = [each for each in self._readers if each[0].is_alive()]

    def _check_in_place(self) -> None:
        if self._is_replaced():
            raise StoreBroken("the database was replaced by another process", "start again to open the new one")

    def _is_replaced(self) -> bool:
        now = _identity(self.path)
        return now is not None and now != self._file


def open_database(path: Path, clock: Clock) -> Database:
    """Open (or make) the database of a home.

    A damaged file is set aside under another name and a fresh one made (the files rebuild it); one of a newer program
    is opened for reading; where the home cannot be written, or its disk is full, the index lives in a temporary file
    of this process.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _open(path, clock)
    except OSError as error:
        refusal = StoreReadOnly(f"{path.parent} cannot be written: {error.strerror}", "check who owns it")
    except StoreReadOnly as error:
        refusal = StoreReadOnly(f"{path.parent} cannot be written", error.hint)
    except IoFailed as error:  # a full disk has no room for the shared memory of a log, so it cannot even be read
        refusal = StoreReadOnly(f"{path.parent} cannot be written: {error.message}", error.hint)
    _log.warning("home cannot be written; the index is temporary")
    folder = Path(tempfile.mkdtemp(prefix="spark-tui-"))
    database = _open(folder / path.name, clock)
    database.opening = replace(database.opening, read_only=refusal, temporary=True)
    return database


def _open(path: Path, clock: Clock) -> Database:
    # One at a time: SQLite's own waiting does not cover a file that is only becoming a database, and whoever comes
    # after the one that set a damaged file aside must find the new one.
    with exclusive(path.with_name(path.name + ".lock"), OPEN_WAIT_S):
        try:
            if _mark(path).exists() or is_stub(path):
                raise StoreBroken("the database is damaged")
            return _opened(path, None)
        except StoreBroken:
            return _opened(path, _set_aside(path, clock))


def _mark(path: Path) -> Path:
    return path.with_name(path.name + ".damaged")


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies there: device and inode; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _keep_private(path: Path) -> None:
    """Readable by its owner alone, whatever the umask: it holds every body. SQLite gives -wal and -shm its mode."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        with suppress(OSError):  # older files; one that is not ours, or lies on a disk without modes, stays as it is
            found = file.stat()
            if found.st_mode & 0o077 and found.st_uid == os.geteuid():
                file.chmod(found.st_mode & 0o700)


def _opened(path: Path, set_aside: Path | None) -> Database:
    _keep_private(path)
    writer = connect(path)
    try:
        with translated():
            version = migrations.version_of(writer)
            newer = version > migrations.newest_version()
            ran = 0 if newer else migrations.migrate(writer)
        refusal = (
            StoreNewer("this store was written by a newer spark-tui", "update spark-tui to change it")
            if newer
            else None
        )
        return Database(path, Opening(created=version == 0 and ran > 0, set_aside=set_aside, read_only=refusal), writer)
    except BaseException:
        writer.close()
        raise


def _set_aside(path: Path, clock: Clock) -> Path:
    """Move a damaged database (and its log) out of the way; nothing is deleted."""
    aside = path.with_name(f"{path.name}.broken-{clock.now_ms()}")
    for suffix in ("", "-wal", "-shm"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            source.rename(aside.with_name(aside.name + suffix))
    _mark(path).unlink(missing_ok=True)
    _log.error("database is damaged and was set aside as %s", aside.name)
    return aside
