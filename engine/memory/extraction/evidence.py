"""Says whether the excerpt a model gives as evidence was said in the turn, and by whom; it asks no model."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.memory.extraction.turn import Turn
from engine.memory.model import EvidenceStatus
from engine.storage.fulltext import fold

EVIDENCE_MAX: Final = 200
_ELLIPSIS: Final = " .…\"'“”‘’「」『』`"
# What a model changes when it copies: blanks between scripts, kinds of quotes and dashes, marks of emphasis.
_LOOSE: Final = re.compile("[\\s\"'“”‘’«»‹›「」『』`*_]+")
_DASHES: Final = re.compile("[‐-―−]")
_LEAST: Final = 4
_LEAST_WIDE: Final = 2


class SaidBy(StrEnum):
    """In whose text an excerpt occurs; the person's is looked at first."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The excerpt as it is stored, one line of at most 200 characters, and whether and where it occurs."""

    status: EvidenceStatus
    excerpt: str | None = None
    said_by: SaidBy | None = None


def checked_evidence(excerpt: str | None, turn: Turn) -> Evidence:
    """Look for an excerpt in what person and assistant said; the conversation before the turn does not count.

    Width, case, blanks, quotes and emphasis may differ. A letter or two prove nothing. Give it the turn as the model
    saw it, so that nothing that was stripped can be evidence.
    """
    shown = " ".join((excerpt or "").split())[:EVIDENCE_MAX].strip()
    wanted = _loose(shown.strip(_ELLIPSIS))
    if len(wanted) < (_LEAST if wanted.isascii() else _LEAST_WIDE):
        return Evidence(EvidenceStatus.UNVERIFIED, shown or None)
    for said_by, text in ((SaidBy.USER, turn.user), (SaidBy.ASSISTANT, turn.assistant)):
        if wanted in _loose(text):
            return Evidence(EvidenceStatus.VERIFIED, shown, said_by)
    return Evidence(EvidenceStatus.UNVERIFIED, shown)


def _loose(text: str) -> str:
    return _LOOSE.sub("", _DASHES.sub("-", fold(text)))
