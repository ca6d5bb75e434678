"""Typed failures that reach a person with what to do next; the only exceptions a door may expect from the engine."""

from typing import Any, ClassVar


class SparkError(Exception):
    """A failure with a stable ``code``, a sentence for the person and, where there is one, the next step.

    ``message`` and ``hint`` never carry memory bodies, prompt text or keys: both are printed and logged.
    ``details`` holds values a door may show beside the sentence (versions, paths, allowed ranges).
    """

    code: ClassVar[str] = "FAILED"

    def __init__(self, message: str, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


def places(error: BaseException) -> str:
    """Where an unexpected error passed through, innermost first; its message may hold somebody's text and is left out."""
    import traceback
    from pathlib import PurePath

    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{PurePath(each.filename).name}:{each.lineno}" for each in reversed(frames))


class ValidationFailed(SparkError):
    """A value a person or model gave cannot be stored as it is."""

    code = "VALIDATION_FAILED"


class AlreadyExists(SparkError):
    """An active memory of that name exists in that scope."""

    code = "ALREADY_EXISTS"


class VersionConflict(SparkError):
    """The entry moved on since it was read; ``details`` has ``current_version`` and ``base_version``."""

    code = "VERSION_CONFLICT"


class NameConflict(SparkError):
    """A confirmation or revival meets an active entry of the same name with other content."""

    code = "NAME_CONFLICT"


class NotFound(SparkError):
    """No such entry in the scopes the caller may see."""

    code = "NOT_FOUND"


class SensitiveContent(SparkError):
    """The text carries a secret or private number; ``details['kind']`` names the kind, never the text."""

    code = "SENSITIVE_CONTENT"


class QuotaExceeded(SparkError):
    """The layer holds as many active entries as its quota allows."""

    code = "QUOTA_EXCEEDED"


class StoreBusy(SparkError):
    """Another process held the store longer than the wait allowed."""

    code = "STORE_BUSY"


class StoreNewer(SparkError):
    """A newer spark-tui wrote this store; this one only reads it."""

    code = "STORE_NEWER"


class StoreReadOnly(SparkError):
    """The home or its database cannot be written."""

    code = "READ_ONLY"


class StoreBroken(SparkError):
    """The database is damaged and could not be set aside."""

    code = "STORE_BROKEN"


class IoFailed(SparkError):
    """A file could not be written, renamed or removed (disk full, permission)."""

    code = "IO_FAILED"


class EmbeddingFailed(SparkError):
    """The embedding model could not be loaded or its endpoint did not answer with vectors."""

    code = "EMBEDDING_FAILED"


class ModelFailed(SparkError):
    """A language model brought no usable answer; ``details`` has ``fault`` (a ``ModelFault`` word) and ``status``."""

    code = "MODEL_FAILED"


class ModelUnavailable(SparkError):
    """No language model is configured or reachable for this."""

    code = "MODEL_UNAVAILABLE"


class DigestMismatch(SparkError):
    """A candidate is no longer the text that was shown when the person decided on it."""

    code = "DIGEST_MISMATCH"


class PlaceGone(SparkError):
    """The project a piece of work belongs to is not where it was, and not found elsewhere."""

    code = "PLACE_GONE"


class EngineClosing(SparkError):
    """The program is ending; what was begun goes on the next time."""

    code = "CLOSING"
