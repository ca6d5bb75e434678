"""Reads one memory file as a memory, or says why it cannot be one; never changes a byte of it."""

import re
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from zoneinfo import ZoneInfo

from engine.errors import SensitiveContent, SparkError, ValidationFailed
from engine.memory.checks import check_storable, secret_in
from engine.memory.document import OWN_FIELDS, STORE_FIELDS, entry_of
from engine.memory.model import PREFIX, Entry, Layer, Scope, is_id
from engine.storage import files, frontmatter
from engine.storage.files import Signature
from engine.storage.frontmatter import Document

_BROKEN = ".broken-"
_OURS = re.compile(rf"({'|'.join(OWN_FIELDS)}):")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as it lies on disk now; with a ``reason`` it is quarantined.

    ``entry`` None means that the file itself is at fault; else something beside it is, which may pass. ``sensitive``:
    the fault is something secret or private in it.
    """

    layer: Layer
    path: Path
    data: bytes
    found: Signature
    entry: Entry | None
    body: str
    reason: str | None
    by_store: bool
    sensitive: bool = False

    @property
    def id(self) -> str:
        """The id its name gives, which need not be a well-formed one."""
        return self.path.stem

    @property
    def hash(self) -> str:
        """SHA-256 of the whole file."""
        return files.content_hash(self.data)


def read_file(layer: Layer, path: Path, zone: ZoneInfo) -> FoundFile | None:
    """What a file holds; None when it is gone. An unreadable file is quarantined with the system's reason."""
    try:
        found = files.signature(path)  # before reading: a change in between must look like one
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return FoundFile(layer, path, b"", Signature(0, 0), None, "", f"cannot be read: {error.strerror}", False)
    if found is None:
        return None
    return parsed(layer, path, data, found, zone)


def parsed(layer: Layer, path: Path, data: bytes, found: Signature, zone: ZoneInfo) -> FoundFile:
    """The file's content as a memory of this layer, or the reason why it is none."""
    try:
        _check_id(layer, path.stem)
        document = frontmatter.read(data)
        entry = entry_of(document, layer, path.stem, found.mtime_ns // 1_000_000, zone)
        check_storable(entry, document.body)
        _check_secrets(document, entry, data)
    except SparkError as error:
        secret = isinstance(error, SensitiveContent)
        return FoundFile(layer, path, data, found, None, "", error.message, False, secret)
    except Exception as error:  # one file nobody foresaw is one bad file, never the end of a start
        return FoundFile(layer, path, data, found, None, "", f"cannot be read: {type(error).__name__}", False)
    by_store = all(field in document.fields for field in STORE_FIELDS)
    return FoundFile(layer, path, data, found, entry, document.body, _copied(layer, document, path), by_store)


def _copied(layer: Layer, document: Document, path: Path) -> str | None:
    """Why a file copied from another agent's folder cannot be a memory: its original keeps the id."""
    owner = document.fields.get("scope_ref")
    if layer.scope is not Scope.AGENT or not isinstance(owner, str) or owner in ("", layer.ref):
        return None
    original = layer.folder.parent / Path(owner).name / path.name
    return (
        f"it is a copy of a memory of agent {original.parent.name}, which keeps the id" if original.exists() else None
    )


def copy_beside(path: Path, at_ms: int) -> Path:
    """A free place for the bytes of a broken file that is about to be restored."""
    copy = path.with_name(f"{path.name}{_BROKEN}{at_ms}")
    return copy_beside(path, at_ms + 1) if copy.exists() else copy


def copies_beside(path: Path) -> list[Path]:
    """Every such copy there is of a file."""
    return sorted(path.parent.glob(escape(path.name + _BROKEN) + "*"))


def _check_secrets(document: Document, entry: Entry, data: bytes) -> None:
    """The gate no door opens (02 §4.3). Raises ``SensitiveContent`` that names the kind, never the text."""
    origin = (entry.source_session_id or "", entry.source_turn_id or "", entry.extraction_model or "")
    kind = secret_in(entry, document.body, *origin, _by_hand(document, data))
    if kind is not None:
        raise SensitiveContent(f"it holds something secret or private ({kind})", kind=kind)


def _by_hand(document: Document, data: bytes) -> str:
    """What a person wrote into the frontmatter beside our plain fields: keys of their own however nested, comments."""
    head = data[: len(data) - len(document.body.encode())].decode("utf-8", "replace")
    return "\n".join(line for line in head.splitlines() if "#" in line or not _OURS.match(line))


def _check_id(layer: Layer, stem: str) -> None:
    if not is_id(stem):
        raise ValidationFailed("the file name is not the id of a memory")
    if not stem.startswith(PREFIX[layer.scope]):
        raise ValidationFailed(f"its id belongs to another scope than its folder ({layer.scope.value})")
