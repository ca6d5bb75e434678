"""What a sign of a passing moment is made of; it holds no words itself, the two languages do."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Moment(StrEnum):
    """Why a statement holds for a moment only; these are the gate's reason codes."""

    NOW = "now"
    TEMPORARY = "temporary"
    READING = "reading"
    PROGRESS = "progress_count"
    SESSION = "session_request"
    WEEKDAY = "weekday"
    JUST_DID = "just_did"
    STATE = "passing_state"


@dataclass(frozen=True, slots=True)
class Sign:
    """A wording that times a statement. A firm one holds in any sentence, a loose one not in one that states a rule."""

    reason: Moment
    firm: bool
    pattern: re.Pattern[str]


Wordings = Mapping[Moment, Sequence[str]]
"""Regular expressions over folded text by reason; what may stand between two words is always bounded."""


def signs(firm: Wordings, loose: Wordings) -> tuple[Sign, ...]:
    """One sign for each reason of each strength, the firm ones first."""
    return (*_compiled(True, firm), *_compiled(False, loose))


def _compiled(firm: bool, wordings: Wordings) -> Iterator[Sign]:
    for reason, each in wordings.items():
        yield Sign(reason, firm, re.compile("|".join(each)))
