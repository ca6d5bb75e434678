"""Why a confirmation did not come through, in the person's language; the code and the details stay as they are."""

from dataclasses import dataclass

from engine.errors import DigestMismatch, NameConflict, NotFound, SparkError, ValidationFailed, VersionConflict
from engine.memory.candidates.model import CandidateState
from spark_tui.presenters.candidate_words import state_word
from spark_tui.presenters.problems import next_step, sentence
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a yes did not go through, and what to do about it; the candidate still waits."""

    sentence: str
    hint: str | None = None


def told(error: SparkError) -> SparkError:
    """The same error with a sentence for the person at a command line."""
    return type(error)(_message(error), _hint(error), **error.details)


def refusal(error: SparkError) -> Refusal:
    """What a card says about it; its advice names keys."""
    match error.code:
        case NameConflict.code:
            return Refusal(_message(error), _("the candidate still waits; r confirms it under another name"))
        case DigestMismatch.code:
            return Refusal(_message(error), _("look at the candidate again and decide then"))
        case VersionConflict.code if "state" in error.details:
            return Refusal(_("its target is out of use or deleted: it can only be rejected"), _("n rejects it"))
        case VersionConflict.code:
            return Refusal(
                _("its target has changed since you were shown this; nothing was stored"),
                _("look at the candidate again and decide then"),
            )
        case NotFound.code if not error.details:
            return Refusal(_("this candidate is not here any more"))
    return Refusal(_message(error), next_step(error))


def _message(error: SparkError) -> str:
    match error.code:
        case NameConflict.code:
            holder = one_line(str(error.details.get("id", "")))
            return _("a memory of that name exists already with other content ({id})").format(id=holder)
        case DigestMismatch.code:
            return _("this is not the text you were shown; nothing was stored")
        case ValidationFailed.code if "state" in error.details:
            state = state_word(CandidateState(str(error.details["state"])))
            return _("already decided: {state}").format(state=state)
    return sentence(error)


def _hint(error: SparkError) -> str | None:
    match error.code:
        case NameConflict.code:
            return _("the candidate still waits; confirm it under another name with --name")
        case DigestMismatch.code:
            return _("look at the candidate again and decide then")
    return next_step(error) or error.hint
