"""One holder at a time across processes and threads, by a lock file that is never removed; it never waits without end.

The lock belongs to the open file, so the system frees it when a process dies: there is no stale lock to take over.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import StoreBusy
from engine.storage.files import io_error

_POLL_S = 0.004
_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


@contextmanager
def exclusive(path: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock file for the length of the block; ``StoreBusy`` when another holder outlasts ``timeout_s``.

    Not re-entrant: a thread that asks again for what it holds waits for itself. A forked child never keeps it.
    ``StoreReadOnly`` or ``IoFailed`` when the file cannot be opened or locked at all.
    """
    deadline = time.monotonic() + timeout_s
    handle = _open(path)
    try:
        while not _taken(handle, path):
            if time.monotonic() >= deadline:
                raise StoreBusy(
                    f"another process holds {path.name}", "try again in a moment", path=str(path), waited_s=timeout_s
                )
            time.sleep(_POLL_S)
        yield
    finally:
        _release(handle)


@contextmanager
def try_exclusive(path: Path) -> Iterator[bool]:
    """Like ``exclusive`` without waiting: the block is told whether it holds the lock, and runs either way."""
    handle = _open(path)
    try:
        yield _taken(handle, path)
    finally:
        _release(handle)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise io_error(error, path) from error


def _taken(handle: int, path: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise io_error(error, path) from error
    return True


def _release(handle: int) -> None:
    # Said aloud, because closing alone leaves the lock with a child forked meanwhile. Harmless when it was never held.
    try:
        fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)
