"""Maps every failure to an exit code and to the document that tells it; the only place that knows either (08)."""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from engine.errors import AlreadyExists, DigestMismatch, NameConflict, SparkError, VersionConflict

if TYPE_CHECKING:
    from engine.memory.model import ItemResult

CONFLICTS = frozenset({AlreadyExists.code, VersionConflict.code, NameConflict.code, DigestMismatch.code})


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFLICT = 3
    INTERRUPTED = 130


def exit_of(error: SparkError) -> Exit:
    """3 when somebody else holds the name or the version, or the text is not the one that was shown; else 1."""
    return Exit.CONFLICT if error.code in CONFLICTS else Exit.FAILED


def exit_of_results(results: "Iterable[ItemResult]") -> Exit:
    """0 when every id is as it was wanted, 3 when conflicts alone stood in the way, else 1."""
    failed = [result.outcome for result in results if not result.ok]
    if not failed:
        return Exit.OK
    return Exit.CONFLICT if CONFLICTS.issuperset(failed) else Exit.FAILED


def failure(code: str, message: str, hint: str | None = None, **details: Any) -> dict[str, Any]:
    """The document of a failure; details of the error stand beside its code."""
    told: dict[str, Any] = {"code": code, "message": message} | ({"hint": hint} if hint else {})
    return {"ok": False, "error": told | {key: _plain(value) for key, value in details.items() if key not in told}}


def failure_of(error: SparkError) -> dict[str, Any]:
    """The document of an engine's error."""
    return failure(error.code, error.message, error.hint, **error.details)


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value)
