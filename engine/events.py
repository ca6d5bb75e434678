"""Facts the engine announces: small, frozen, without any text of a memory."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """Rows of the store changed, here or in another process; ``ids`` is empty when it is not known which."""

    ids: tuple[str, ...] = ()
    origin: Literal["here", "elsewhere"] = "here"


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """The vector back-fill moved on; ``done`` and ``total`` count entries of the current generation."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SearchDegraded:
    """A search channel went away (or came back, ``reason`` None)."""

    channel: Literal["fts", "vector"]
    reason: str | None


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Settings were read anew, here or because another process wrote them; ``key`` is empty when it is not known which.

    They hold from the next turn on.
    """

    key: str = ""


@dataclass(frozen=True, slots=True)
class JobsChanged:
    """A job was queued, taken, put off or finished."""


@dataclass(frozen=True, slots=True)
class CandidatesChanged:
    """Something was put before the person, or decided."""


Fact = MemoryChanged | EmbeddingProgress | SearchDegraded | SettingsChanged | JobsChanged | CandidatesChanged
