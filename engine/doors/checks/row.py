"""One line of a diagnosis: what was looked at, how it stands, the evidence, and what mends it."""

from dataclasses import dataclass
from enum import StrEnum


class RowState(StrEnum):
    """How a thing stands: only ``FAIL`` makes doctor end with a failure; ``INFO`` judges nothing."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Row:
    """``id`` is stable, for scripts; ``fix`` is a command or what to do; no row carries text of a memory."""

    id: str
    state: RowState
    title: str
    evidence: str
    fix: str | None = None


def ok(id: str, title: str, evidence: str) -> Row:
    """It works."""
    return Row(id, RowState.OK, title, evidence)


def info(id: str, title: str, evidence: str, fix: str | None = None) -> Row:
    """A fact without a judgement."""
    return Row(id, RowState.INFO, title, evidence, fix)


def warn(id: str, title: str, evidence: str, fix: str | None = None) -> Row:
    """It works with a limit the person should know of."""
    return Row(id, RowState.WARN, title, evidence, fix)


def fail(id: str, title: str, evidence: str, fix: str | None = None) -> Row:
    """It is broken."""
    return Row(id, RowState.FAIL, title, evidence, fix)


def first_few(texts: list[str], shown: int = 5) -> str:
    """The first of a list in words, and how many more there are."""
    more = len(texts) - shown
    return ", ".join(texts[:shown]) + (f" and {more} more" if more > 0 else "")
