"""Reads one memory file as a memory, or says why it cannot be one; never changes a byte of it."""

from dataclasses import dataclass
from glob import escape
from pathlib import Path
from zoneinfo import ZoneInfo

from engine.errors import SparkError, ValidationFailed
from engine.memory.checks import check_storable, secret_in
from engine.memory.document import OWN_FIELDS, STORE_FIELDS, entry_of
from engine.memory.model import PREFIX, Entry, Layer, is_id
from engine.storage import files, frontmatter
from engine.storage.files import Signature
from engine.storage.frontmatter import Document


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as it lies on disk now; ``entry`` None means quarantined, and ``reason`` says why."""

    layer: Layer
    path: Path
    data: bytes
    found: Signature
    entry: Entry | None
    body: str
    reason: str | None
    by_store: bool

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
        data = path.read_bytes()
        found = files.signature(path)
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
        _check_secrets(document, entry)
    except SparkError as error:
        return FoundFile(layer, path, data, found, None, "", error.message, False)
    by_store = all(field in document.fields for field in STORE_FIELDS)
    return FoundFile(layer, path, data, found, entry, document.body, None, by_store)


def copy_beside(path: Path, at_ms: int) -> Path:
    """Where the bytes of a broken file are kept when the file itself is restored."""
    return path.with_name(f"{path.name}.broken-{at_ms}")


def copies_beside(path: Path) -> list[Path]:
    """Every such copy there is of a file."""
    prefix = copy_beside(path, 0).name.removesuffix("0")
    return sorted(path.parent.glob(escape(prefix) + "*"))


def _check_secrets(document: Document, entry: Entry) -> None:
    """The gate no door opens (02 §4.3). Raises ``ValidationFailed`` that names the kind, never the text."""
    foreign = [f"{key}: {value}" for key, value in document.fields.items() if key not in OWN_FIELDS]
    kind = secret_in(entry, document.body, *foreign)
    if kind is not None:
        raise ValidationFailed(f"it holds something secret or private ({kind})")


def _check_id(layer: Layer, stem: str) -> None:
    if not is_id(stem):
        raise ValidationFailed("the file name is not the id of a memory")
    if not stem.startswith(PREFIX[layer.scope]):
        raise ValidationFailed(f"its id belongs to another scope than its folder ({layer.scope.value})")
