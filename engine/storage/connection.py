"""Opens one apsw connection the way the whole program wants it, and turns SQLite's errors into ours."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from engine.errors import IoFailed, StoreBroken, StoreBusy, StoreReadOnly
from engine.storage.vector_extension import load_extension

BUSY_TIMEOUT_MS: Final = 5_000
PRAGMAS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 16777216",
)


def connect(path: Path, *, read_only: bool = False) -> apsw.Connection:
    """A connection with our pragmas; raises the typed errors of ``translated``."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    with translated():
        connection = apsw.Connection(str(path), flags=flags)
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            if not read_only:
                _write_ahead(connection)
            for pragma in PRAGMAS:
                list(connection.execute(pragma))  # an unread pragma may never run
            load_extension(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _write_ahead(connection: apsw.Connection) -> None:
    """Turn the log on. SQLite itself does not wait here when others do the same to a fresh file at the same moment."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            list(connection.execute("PRAGMA journal_mode = WAL"))
            return
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


@contextmanager
def translated() -> Iterator[None]:
    """Errors of SQLite leave as ``SparkError``; their texts name no content."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy("another process is writing the memory store", "try again in a moment") from error
    except apsw.FullError as error:
        raise IoFailed("the disk is full", "free some space and try again") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as error:
        raise StoreReadOnly("the database cannot be written", "check who owns SPARK_HOME") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreBroken(
            "the database is damaged; the memory files are not", "start again: it is set aside and rebuilt from the files"
        ) from error
    except apsw.IOError as error:
        raise IoFailed("the database could not be read or written", "check the disk") from error


def looks_truncated(path: Path) -> bool:
    """Whether the file is shorter than its own header says and no write-ahead log could hold the rest."""
    try:
        with open(path, "rb") as file:
            header = file.read(100)
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            return False
        size = path.stat().st_size  # last: another process may be moving its log into the file just now
    except OSError:
        return False
    if len(header) < 100 or header[24:28] != header[92:96]:
        return 0 < size < 100
    page = int.from_bytes(header[16:18], "big")
    return size < (65_536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
