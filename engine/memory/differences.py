"""Which files of a layer may differ from the index, found by one look at the folder; reads no file it need not."""

import logging
import os
from dataclasses import dataclass
from stat import S_ISREG
from zoneinfo import ZoneInfo

from engine.clock import Clock
from engine.memory import rows
from engine.memory.directory import FILE_NAME
from engine.memory.model import Layer, State
from engine.memory.rows import FileRow
from engine.storage.database import Database
from engine.storage.files import Signature, content_hash, is_staged, signature

# A file saved in the same instant as it was read may change again without a new time stamp: look twice at young files.
YOUNG_NS = 2_000_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Difference:
    """Files of one layer that may differ from the index: to be read again, and gone from disk.

    ``staged`` names half-made files of a running or dead writer. ``is_new`` says that the index knows nothing of the
    layer yet, so that reading it is a rebuild, not a change.
    """

    layer: Layer
    changed: tuple[str, ...]
    vanished: tuple[str, ...]
    staged: tuple[str, ...]
    is_new: bool

    def __bool__(self) -> bool:
        return bool(self.changed or self.vanished or self.staged)


def difference(database: Database, layer: Layer, clock: Clock) -> Difference:
    """What a look at the folder shows. A folder whose root is away (unmounted, deleted) shows nothing."""
    with database.read() as connection:
        known = rows.file_rows(connection, layer.key)
    present, staged = _look(layer)
    if present is None:
        return Difference(layer, (), (), (), not known)
    young = clock.now_ms() * 1_000_000 - YOUNG_NS

    def suspicious(name: str, found: Signature) -> bool:
        row = known.get(name)
        return row is None or row.signature != found or row.file_state is not None or found.mtime_ns > young

    changed = tuple(name for name, found in present.items() if suspicious(name, found))
    vanished = tuple(name for name, row in known.items() if name not in present and row.file_state is not State.MISSING)
    return Difference(layer, changed, vanished, staged, not known)


def is_real(database: Database, found: Difference, zone: ZoneInfo) -> bool:
    """Whether a difference is more than young files that read the same; takes no lock."""
    if found.vanished or found.staged:
        return True
    with database.read() as connection:
        known = rows.file_rows(connection, found.layer.key)
    for name in found.changed:
        row = known.get(name)
        if row is None or not (says_the_same(found.layer, row) or _still_broken(found.layer, row, zone)):
            return True
    return False


def says_the_same(layer: Layer, row: FileRow) -> bool:
    """Whether a sound file still has the very bytes the index has read."""
    path = layer.folder / f"{row.id}.md"
    if row.file_state is not None or signature(path) != row.signature:
        return False
    try:
        return content_hash(path.read_bytes()) == row.file_hash
    except OSError:
        return False


def _still_broken(layer: Layer, row: FileRow, zone: ZoneInfo) -> bool:
    """Whether a quarantined file is as it was, and at fault itself: a taken name or a full layer may be over."""
    if row.file_state is not State.QUARANTINED:
        return False
    from engine.memory.file_reader import read_file  # YAML and all: seldom needed by a command that only reads

    path = layer.folder / f"{row.id}.md"
    file = read_file(layer, path, zone)
    return file is not None and file.entry is None and file.hash == row.file_hash and file.found == row.signature


def is_away(layer: Layer) -> bool:
    """Whether the place of a layer itself is gone (unmounted, deleted), so that its files are not lost."""
    return not layer.folder.is_dir() and not layer.folder.parent.parent.is_dir()


def _look(layer: Layer) -> tuple[dict[str, Signature] | None, tuple[str, ...]]:
    """Names and signatures of the memory files in a folder, and its staged files.

    None for the first when the layer's root is away or the folder cannot be read.
    """
    if not layer.folder.is_dir():
        return (None if is_away(layer) else {}), ()
    try:
        with os.scandir(layer.folder) as entries:
            listed = list(entries)
    except OSError as error:
        _log.warning("the folder of %s cannot be read: %s", layer.key, error.strerror)
        return None, ()
    present = {each.name: found for each in listed if (found := _memory_file(each))}
    return present, tuple(each.name for each in listed if is_staged(each.name))


def _memory_file(each: "os.DirEntry[str]") -> Signature | None:
    if not each.name.endswith(".md") or each.name.startswith(".") or each.name == FILE_NAME:
        return None
    try:
        each.name.encode()
        status = each.stat()
    except UnicodeEncodeError:
        _log.warning("a file whose name is no UTF-8 is not a memory")
        return None
    except FileNotFoundError:  # gone since the folder was listed, or a link to nothing
        return None
    except OSError:  # whoever reads it says what is wrong with it
        return Signature(0, 0)
    return Signature(status.st_mtime_ns, status.st_size) if S_ISREG(status.st_mode) else None
