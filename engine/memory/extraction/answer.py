"""Makes draft items of a model's answer, whatever form it has; it drops what is no item and never guesses a fact."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from engine.memory.extraction.fields import (
    as_body,
    as_confidence,
    as_line,
    as_scope,
    as_texts,
    as_type,
    shortened,
)
from engine.memory.extraction.reading import Broken, clean, values
from engine.memory.model import DESCRIPTION_MAX, MemoryType, Scope, slug
from engine.memory.sensitive.scan import find_sensitive, redact

BODY_KEPT: Final = 20_000
"""Most characters of a body that a model may write."""
NAME_FROM_DESCRIPTION: Final = 40
_NAME: Final = re.compile(r"""\bname\b["'”]?\s*+[:：]\s*+["'“]([^"'“”\n]{1,80})""", re.IGNORECASE)
_FIELDS: Final = frozenset({"scope", "type", "name", "description"})
_FIELD_WORDS: Final = _FIELDS | set(Scope) | set(MemoryType) | {"body", "string", "evidence"}


class BadReason(StrEnum):
    """Why something in an answer is no item; ``CUT`` where the answer ended in its middle."""

    NOT_AN_OBJECT = "not_an_object"
    SCOPE = "bad_scope"
    TYPE = "bad_type"
    NAME = "no_name"
    DESCRIPTION = "no_description"
    SECRET_NAME = "secret_name"
    MALFORMED = "malformed"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class DraftItem:
    """What a model wants remembered, before the gates.

    ``confidence`` is the number it gave, in range or not, None when it gave none; ``shortened`` says that the
    description or body was longer than is kept, or the description had line breaks. ``named`` is False when the name
    is made of the description's words: where its text must not be repeated, nor must the name.
    """

    scope: Scope
    type: MemoryType
    name: str
    description: str
    body: str = ""
    confidence: float | None = None
    entities: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    evidence: str | None = None
    shortened: bool = False
    named: bool = True


@dataclass(frozen=True, slots=True)
class BadItem:
    """Something that was dropped while reading: its name where it has one, and the reason; never its text."""

    name: str
    reason: BadReason
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer read: ``readable`` is False when there was no JSON in it that says anything about memories."""

    items: tuple[DraftItem, ...] = ()
    bad: tuple[BadItem, ...] = ()
    readable: bool = True


def parse_items(text: str) -> Parsed:
    """The items of an answer in order; an empty array is an answer, no JSON is none. Raises nothing."""
    items: list[DraftItem] = []
    bad: list[BadItem] = []
    readable = False
    for value in values(text):
        for found in _found(value):
            readable = True
            if isinstance(found, DraftItem):
                items.append(found)
            elif isinstance(found, BadItem):
                bad.append(found)
    return Parsed(tuple(items), tuple(bad), readable)


def _found(value: Any) -> Iterator[DraftItem | BadItem | None]:
    """What a value says: items, bad items, or one None for 'nothing'. Nothing at all when it is about something else."""
    if isinstance(value, Broken):
        yield BadItem(_name_in(value.text), BadReason.CUT if value.cut else BadReason.MALFORMED)
    elif isinstance(value, list):
        yield from _of_list(value)
    elif isinstance(value, dict):
        yield from _of_object(value)


def _of_list(found: list[Any]) -> Iterator[DraftItem | BadItem | None]:
    if not found:
        yield None
    if len(found) == 1 and isinstance(found[0], list):
        yield from _of_list(found[0])
    elif any(isinstance(each, dict) for each in found):
        for each in found:
            yield _item(_lowered(each)) if isinstance(each, dict) else BadItem("", BadReason.NOT_AN_OBJECT)


def _of_object(found: Mapping[Any, Any]) -> Iterator[DraftItem | BadItem | None]:
    fields = _lowered(found)
    if _is_item(fields):
        yield _item(fields)
        return
    inside = [each for each in found.values() if each == [] or _holds_objects(each)]
    for each in inside:
        yield from _of_list(each if isinstance(each, list) else [each])
    if not inside and all(each in (None, {}) for each in found.values()):
        yield None


def _holds_objects(value: Any) -> bool:
    if isinstance(value, dict):
        return _is_item(_lowered(value))
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _is_item(fields: Mapping[str, Any]) -> bool:
    """Whether an object is meant to be a memory; one that only wraps them may have a name or a type itself."""
    if isinstance(fields.get("description"), str):
        return True
    wraps = any(isinstance(each, list) and any(isinstance(one, dict) for one in each) for each in fields.values())
    return not wraps and len(_FIELDS & fields.keys()) >= 2


def _lowered(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): value for key, value in found.items()}


def _item(fields: Mapping[str, Any]) -> DraftItem | BadItem:
    description = as_line(fields.get("description"))
    raw_name = fields.get("name")
    given = clean(raw_name) if isinstance(raw_name, str) else ""
    scope, type_ = as_scope(fields.get("scope")), as_type(fields.get("type"))
    if find_sensitive(given) is not None:  # looked at here: a slug no longer shows what it was made of
        return BadItem("", BadReason.SECRET_NAME, scope)
    name = slug(given)
    if not description or slug(description) in _FIELD_WORDS:  # a small model fills fields with their own names
        return BadItem(name, BadReason.DESCRIPTION, scope)
    if scope is None:
        return BadItem(name, BadReason.SCOPE)
    if type_ is None:
        return BadItem(name, BadReason.TYPE, scope)
    named = name != ""
    name = name or _name_from(description)
    if not name:
        return BadItem("", BadReason.NAME, scope)
    body = as_body(fields.get("body"))
    evidence = as_texts(fields.get("evidence"))
    return DraftItem(
        scope=scope,
        type=type_,
        name=name,
        description=shortened(description, DESCRIPTION_MAX),
        body=shortened(body, BODY_KEPT),
        confidence=as_confidence(fields.get("confidence")),
        entities=as_texts(fields.get("entities"), split=True),
        links=as_texts(fields.get("links"), split=True),
        evidence=evidence[0] if evidence else None,
        shortened=len(description) > DESCRIPTION_MAX or len(body) > BODY_KEPT or _has_breaks(fields["description"]),
        named=named,
    )


def _has_breaks(description: str) -> bool:
    return len(description.strip().splitlines()) > 1


def _name_from(description: str) -> str:
    """A name of the description's first words."""
    whole = slug(description)
    if len(whole) <= NAME_FROM_DESCRIPTION:
        return whole
    cut = whole[:NAME_FROM_DESCRIPTION]
    words = cut.rpartition("-")[0]
    return words if len(words) >= NAME_FROM_DESCRIPTION // 2 else cut


def _name_in(text: str) -> str:
    found = _NAME.search(text)
    return slug(redact(clean(found[1]))) if found else ""
