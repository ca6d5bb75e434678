"""Durable writing of single files: staged beside their place, synced, renamed; never half a file under its name."""

import errno
import hashlib
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import IoFailed, SparkError, StoreReadOnly

STAGED_SUFFIX = ".tmp"
_KEPT_SUFFIX = ".old.tmp"
_STAGED = re.compile(r"\..+\.[0-9a-f]{12}(?:\.old)?\.tmp")
_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space and try again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and try again"),
    errno.EFBIG: ("the file would be larger than the system allows", None),
    errno.ENAMETOOLONG: ("the path is too long", None),
}
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a look at the directory tells of a file: modification time in nanoseconds, and size in bytes."""

    mtime_ns: int
    size: int


def content_hash(data: bytes) -> str:
    """SHA-256 of the whole file in hex."""
    return hashlib.sha256(data).hexdigest()


def signature(path: Path) -> Signature | None:
    """The signature of a file, or None when there is no such regular file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Signature(found.st_mtime_ns, found.st_size)


def content(path: Path) -> bytes | None:
    """The bytes of a file, or None when there is none. Raises ``IoFailed`` or ``StoreReadOnly``."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise io_error(error, path) from error


def stage(target: Path, data: bytes, name: str | None = None) -> Path:
    """Write ``data`` under a unique (or the given) temporary name beside ``target`` and sync it to disk.

    It has the mode of the file it is to replace; a new one is readable by its owner alone. Raises ``IoFailed`` or
    ``StoreReadOnly``; then nothing is left behind.
    """
    staged = target.parent / (name or staged_name(target))
    try:
        make_folder(target.parent)
        with open(staged, "xb", opener=_private) as out:
            _take_mode(out.fileno(), target)
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        discard(staged)
        raise io_error(error, target) from error
    return staged


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _take_mode(handle: int, target: Path) -> None:
    with suppress(OSError):  # no such file yet, or a disk without modes
        os.fchmod(handle, target.stat().st_mode & 0o777)


def staged_name(target: Path) -> str:
    """A hidden, unique name that no reader takes for a memory."""
    return f".{target.name}.{secrets.token_hex(6)}{STAGED_SUFFIX}"


def is_staged(name: str) -> bool:
    """Whether a file name is one that staging or keeping made; a crash may leave such a file behind."""
    return _STAGED.fullmatch(name) is not None


def kept_beside(staged: Path) -> Path:
    """Where the file that a staged one replaces is kept until its transaction is over."""
    return staged.with_name(staged.name.removesuffix(STAGED_SUFFIX) + _KEPT_SUFFIX)


def keep(target: Path, staged: Path) -> Path | None:
    """Give a file about to be replaced a second name, so that it can be put back even on a full disk.

    None where there is no file, or no hard link can be made.
    """
    kept = kept_beside(staged)
    try:
        os.link(target, kept)
    except OSError:
        return None
    return kept


def name_also(path: Path, name: Path) -> None:
    """Give a file a second name."""
    try:
        os.link(path, name)
    except OSError as error:
        raise io_error(error, name) from error


def publish(staged: Path, target: Path) -> Signature:
    """Rename a staged file to its place and sync the directory; answers the signature the file now has."""
    try:
        os.replace(staged, target)
        sync_folder(target.parent)
        found = target.stat()
    except OSError as error:
        raise io_error(error, target) from error
    return Signature(found.st_mtime_ns, found.st_size)


def write_through(target: Path, data: bytes) -> Signature:
    """Stage and publish in one go, for files that stand alone."""
    staged = stage(target, data)
    try:
        return publish(staged, target)
    except SparkError:
        discard(staged)
        raise


def write_derived(target: Path, data: bytes) -> None:
    """Replace a file that can be rebuilt at any time (MEMORY.md): atomic, but not synced."""
    staged = target.parent / staged_name(target)
    try:
        make_folder(target.parent)
        with open(staged, "xb", opener=_private) as out:
            _take_mode(out.fileno(), target)
            out.write(data)
        os.replace(staged, target)
    except OSError as error:
        discard(staged)
        raise io_error(error, target) from error


def remove(path: Path) -> None:
    """Delete a file for good; one that is gone already is no error. Raises ``IoFailed`` when it stays."""
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_folder(path.parent)
    except OSError as error:
        raise io_error(error, path) from error


def discard(staged: Path) -> None:
    """Drop a staged file; best effort, since whatever led here is the failure worth reporting."""
    try:
        staged.unlink(missing_ok=True)
    except OSError:
        return


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents (0700 each), and sync the entry of each new one."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the renames and removals in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot sync a directory
            raise
    finally:
        os.close(handle)


def io_error(error: OSError, path: Path) -> SparkError:
    """The typed error for a failed file operation; names the path and the cause, never any content."""
    if error.errno in _FORBIDDEN:
        return StoreReadOnly(f"{path} cannot be written: {error.strerror}", "check who owns it", path=str(path))
    reason, hint = _REASONS.get(error.errno or 0, (error.strerror or type(error).__name__, None))
    return IoFailed(f"{path} cannot be written: {reason}", hint, path=str(path))
