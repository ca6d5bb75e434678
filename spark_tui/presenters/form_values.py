"""A memory as the text fields of a form, and back: every field checked by the engine's own rules before anything is written."""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from datetime import date

from engine.errors import SparkError, ValidationFailed
from engine.memory.model import (
    NAME_MAX,
    UNSET,
    Changes,
    Draft,
    Entry,
    MemoryType,
    Scope,
    checked_agent,
    checked_description,
    checked_name,
    slug,
)
from spark_tui.presenters.day_input import day_input
from spark_tui.text.i18n import _

NAME_SUGGESTED = 48
_BETWEEN = re.compile("[,，、;；\n]")
# Which field an error of the engine belongs to, by its code.
_FIELD_OF = {"ALREADY_EXISTS": "name", "NAME_CONFLICT": "name", "QUOTA_EXCEEDED": "scope", "SENSITIVE_CONTENT": "body"}


class FormProblem(Exception):
    """What is wrong (``error``), and in which ``field``."""

    def __init__(self, field: str, error: SparkError) -> None:
        super().__init__(error.message)
        self.field = field
        self.error = error


def values_of(entry: Entry, body: str) -> dict[str, str]:
    """The fields of an existing memory."""
    return {
        "description": entry.description,
        "name": entry.name,
        "type": entry.type.value,
        "validity": entry.valid_until.day.isoformat() if entry.valid_until else "",
        "entities": ", ".join(entry.entities),
        "body": body,
    }


def new_values(scope: Scope = Scope.USER, type: MemoryType = MemoryType.USER, agent: str = "") -> dict[str, str]:
    """The fields of a memory that is about to be written."""
    names = ("description", "name", "type", "scope", "agent", "validity", "entities", "body")
    return {**dict.fromkeys(names, ""), "type": type.value, "scope": scope.value, "agent": agent}


def draft_of(values: Mapping[str, str], today: date) -> Draft:
    """What a filled form wants remembered; an empty name takes the suggestion. Raises ``FormProblem``."""
    scope = Scope(values["scope"])
    return Draft(
        scope=scope,
        type=_type(values),
        description=_checked("description", checked_description, values["description"].strip()),
        name=_checked("name", checked_name, values["name"].strip() or suggested_name(values["description"])),
        body=values["body"],
        entities=entities_of(values["entities"]),
        valid_until=_day(values, today),
        agent=_checked("agent", checked_agent, values["agent"].strip()) if scope is Scope.AGENT else None,
    )


def changes_of(values: Mapping[str, str], entry: Entry, body: str, today: date) -> Changes:
    """What differs between the form and the version it was begun on. Raises ``FormProblem``."""
    before = values_of(entry, body)
    wanted = all_changes(values, today)
    kept = {name: None for name in ("description", "name", "type", "body", "entities") if values[name] == before[name]}
    if values["validity"] == before["validity"]:
        return replace(wanted, valid_until=UNSET, **kept)
    return replace(wanted, **kept)


def all_changes(values: Mapping[str, str], today: date) -> Changes:
    """Every field of the form, whatever it was begun on: what "keep mine" writes over the current version."""
    return Changes(
        description=_checked("description", checked_description, values["description"].strip()),
        name=_checked("name", checked_name, values["name"].strip()),
        type=_type(values),
        body=values["body"],
        entities=entities_of(values["entities"]),
        valid_until=_day(values, today),
    )


def suggested_name(description: str) -> str:
    """A name made of the first words of a description; empty when there are none."""
    words = slug(description)
    if len(words) <= NAME_SUGGESTED:
        return words
    cut = words[:NAME_SUGGESTED]
    return (cut.rpartition("-")[0] or cut)[:NAME_MAX]


def entities_of(text: str) -> tuple[str, ...]:
    """Names between commas of either language."""
    return tuple(part.strip() for part in _BETWEEN.split(text) if part.strip())


def problem_of(error: SparkError, known: Container[str]) -> FormProblem:
    """The field an error of the engine belongs to, among those the form has."""
    field = _FIELD_OF.get(error.code, "description")
    return FormProblem(field if field in known else "description", error)


def _type(values: Mapping[str, str]) -> MemoryType:
    try:
        return MemoryType(values["type"])
    except ValueError:
        allowed = ", ".join(MemoryType)
        raise FormProblem("type", ValidationFailed(_("the type is one of {allowed}").format(allowed=allowed))) from None


def _day(values: Mapping[str, str], today: date) -> date | None:
    try:
        return day_input(values["validity"], today)
    except ValidationFailed as error:
        raise FormProblem("validity", error) from None


def _checked(field: str, check: Callable[[str], str], value: str) -> str:
    try:
        return check(value)
    except ValidationFailed as error:
        raise FormProblem(field, error) from None


def validity_help() -> str:
    """What the validity field takes."""
    return _("the last day it applies: 2026-10-31, +30d, +3m; empty: no end")
