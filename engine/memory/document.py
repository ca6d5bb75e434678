"""A memory as a markdown file and back: which frontmatter fields it has and how each is written (02 §1)."""

import math
from collections.abc import Mapping
from datetime import UTC
from enum import StrEnum
from typing import TypeVar
from zoneinfo import ZoneInfo

from engine.clock import day_end_ms, iso, parse_day, parse_iso
from engine.errors import ValidationFailed
from engine.memory.model import (
    AuthorRole,
    Entry,
    EvidenceStatus,
    Layer,
    MemoryType,
    Scope,
    Source,
    Validity,
    checked_description,
    slug,
)
from engine.storage.frontmatter import Document, FieldValue

Word = TypeVar("Word", bound=StrEnum)
OWN_FIELDS = (
    "id", "scope", "scope_ref", "type", "name", "description", "source", "confidence", "entities", "links",
    "created_at", "updated_at", "valid_from", "valid_until", "valid_until_precision", "valid_until_timezone",
    "invalid_at", "superseded_by", "archived", "version", "author_role", "source_session_id", "source_turn_id",
    "extraction_model", "evidence", "evidence_status",
)  # fmt: skip
# Versions stay below this; one more than the last of them would be a file that no longer reads as a memory.
VERSION_LIMIT = 2**31
# A file that has all of these was written by a store; one that lacks some was made by hand.
STORE_FIELDS = ("id", "created_at", "updated_at", "version", "author_role")


def validity(day_text: str, zone: ZoneInfo) -> Validity:
    """The validity of a last applicable day in a zone."""
    day = parse_day(day_text)
    return Validity(day, zone.key, day_end_ms(day, zone))


def fields_of(entry: Entry) -> dict[str, FieldValue | None]:
    """Every own field of an entry as it stands in its file; None for those that are absent."""
    until = entry.valid_until
    return {
        "id": entry.id,
        "scope": entry.scope.value,
        "scope_ref": entry.scope_ref,
        "type": entry.type.value,
        "name": entry.name,
        "description": entry.description,
        "source": entry.source.value,
        "confidence": repr(entry.confidence),
        "entities": list(entry.entities) or None,
        "links": list(entry.links) or None,
        "created_at": iso(entry.created_at),
        "updated_at": iso(entry.updated_at),
        "valid_from": iso(entry.valid_from),
        "valid_until": until.day.isoformat() if until else None,
        "valid_until_precision": "day" if until else None,
        "valid_until_timezone": until.timezone if until else None,
        "invalid_at": iso(entry.invalid_at, UTC) if entry.invalid_at is not None else None,
        "superseded_by": entry.superseded_by,
        "archived": "true" if entry.archived else None,
        "version": str(entry.version),
        "author_role": entry.author_role.value,
        "source_session_id": entry.source_session_id,
        "source_turn_id": entry.source_turn_id,
        "extraction_model": entry.extraction_model,
        "evidence": entry.evidence,
        "evidence_status": entry.evidence_status.value if entry.evidence_status else None,
    }


def entry_of(document: Document, layer: Layer, file_id: str, file_ms: int, zone: ZoneInfo) -> Entry:
    """The entry a file describes. The folder decides scope and owner; ``file_ms`` stands in for missing times.

    Raises ``ValidationFailed`` with the field and the reason when the file cannot be a memory of this layer.
    """
    read = _Reader(document.fields)
    if read.text("id", file_id) != file_id:
        raise ValidationFailed("the id in the file is not the one in its name")
    if read.text("scope", layer.scope.value) != layer.scope.value:
        raise ValidationFailed(f"the file says another scope than its folder ({layer.scope.value})")
    created = read.time("created_at", file_ms)
    return Entry(
        id=file_id,
        scope=Scope(layer.scope),
        scope_ref=layer.ref,
        type=read.choice("type", MemoryType, None),
        name=_name(read.text("name", "")),
        description=checked_description(read.text("description", "")),
        source=read.choice("source", Source, Source.MANUAL),
        confidence=read.confidence(),
        author_role=read.choice("author_role", AuthorRole, AuthorRole.MANUAL_USER),
        created_at=created,
        updated_at=read.time("updated_at", file_ms),
        valid_from=read.time("valid_from", created),
        version=read.version(),
        valid_until=read.validity(zone),
        invalid_at=read.optional_time("invalid_at"),
        superseded_by=read.optional("superseded_by"),
        archived=read.flag("archived"),
        entities=read.texts("entities"),
        links=read.texts("links"),
        source_session_id=read.optional("source_session_id"),
        source_turn_id=read.optional("source_turn_id"),
        extraction_model=read.optional("extraction_model"),
        evidence=read.optional("evidence"),
        evidence_status=read.choice("evidence_status", EvidenceStatus, EvidenceStatus.UNVERIFIED)
        if "evidence_status" in document.fields
        else None,
    )


def next_version(entry: Entry) -> int:
    """The version after the present one. Raises ``ValidationFailed`` where no file may say a higher one."""
    if entry.version + 1 >= VERSION_LIMIT:
        raise ValidationFailed(f"{entry.id} has the last version there is", "delete it and remember it anew")
    return entry.version + 1


def _name(text: str) -> str:
    if not text or slug(text) != text:
        raise ValidationFailed(f"the name is not a slug{'; ' + slug(text) + ' would be one' if slug(text) else ''}")
    return text


class _Reader:
    """Typed access to frontmatter fields; every complaint names the field."""

    def __init__(self, fields: Mapping[str, FieldValue]) -> None:
        self._fields = fields

    def text(self, key: str, default: str) -> str:
        value = self._fields.get(key, default)
        if not isinstance(value, str):
            raise ValidationFailed(f"{key} must be one text")
        return value

    def optional(self, key: str) -> str | None:
        return self.text(key, "") or None

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._fields.get(key, [])
        return tuple(text for text in (value if isinstance(value, list) else [value.strip()]) if text.strip())

    def choice(self, key: str, kind: type[Word], default: Word | None) -> Word:
        text = self.text(key, "")
        if not text and default is not None:
            return default
        try:
            return kind(text)
        except ValueError:
            raise ValidationFailed(f"{key} must be one of {', '.join(kind)}") from None

    def time(self, key: str, default: int) -> int:
        found = self.optional_time(key)
        return default if found is None else found

    def optional_time(self, key: str) -> int | None:
        text = self.text(key, "")
        try:
            return parse_iso(text) if text else None
        except ValidationFailed:
            raise ValidationFailed(f"{key} is not an ISO-8601 time") from None

    def confidence(self) -> float:
        try:
            value = float(self.text("confidence", "1.0"))
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:
            raise ValidationFailed("confidence must be a number from 0 to 1")
        return value

    def version(self) -> int:
        text = self.text("version", "1")
        if not text.isdecimal() or len(text) > 10 or not 1 <= int(text) < VERSION_LIMIT:
            raise ValidationFailed("version must be a whole number from 1")
        return int(text)

    def flag(self, key: str) -> bool:
        text = self.text(key, "false").casefold()
        if text not in ("true", "false", "yes", "no", ""):
            raise ValidationFailed(f"{key} must be true or false")
        return text in ("true", "yes")

    def validity(self, zone: ZoneInfo) -> Validity | None:
        day = self.text("valid_until", "")
        if not day:
            return None
        try:
            named = self.text("valid_until_timezone", "")
            return validity(day, ZoneInfo(named) if named else zone)
        except (ValidationFailed, OSError, ValueError, LookupError):
            raise ValidationFailed("valid_until must be a day (YYYY-MM-DD) in a known time zone") from None
