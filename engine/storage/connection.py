"""Opens one apsw connection the way the whole program wants it, and turns SQLite's errors into ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from engine.errors import IoFailed, StoreBroken, StoreBusy, StoreReadOnly
from engine.storage.vector_extension import load_extension

BUSY_TIMEOUT_MS: Final = 5_000
SMALLEST_PAGE: Final = 512
PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
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
            for pragma in PRAGMAS[1:] if read_only else PRAGMAS:
                list(connection.execute(pragma))  # an unread pragma may never run
            load_extension(connection)
        except BaseException:
            connection.close()
            raise
    return connection


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
            "the database is damaged; the memory files are not",
            "start again: it is set aside and rebuilt from the files",
        ) from error
    except apsw.IOError as error:
        raise IoFailed("the database could not be read or written", "check the disk") from error


def is_stub(path: Path) -> bool:
    """Whether the file is too short to be a database, yet not empty; SQLite would take it for a fresh one.

    Longer truncated files SQLite finds out itself. The file is not opened here: closing it again would drop the locks
    that other connections of this process hold on it (POSIX advisory locks belong to the process).
    """
    try:
        return 0 < path.stat().st_size < SMALLEST_PAGE
    except OSError:
        return False
