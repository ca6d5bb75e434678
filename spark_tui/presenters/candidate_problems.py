"""Why a confirmation did not come through, in the person's language; the code and the details stay as they are."""

from engine.errors import DigestMismatch, NameConflict, SparkError
from spark_tui.presenters.problems import next_step, sentence
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line


def told(error: SparkError) -> SparkError:
    """The same error with a sentence for the person."""
    return type(error)(_message(error), _hint(error), **error.details)


def _message(error: SparkError) -> str:
    match error.code:
        case NameConflict.code:
            holder = one_line(str(error.details.get("id", "")))
            return _("a memory of that name exists already with other content ({id})").format(id=holder)
        case DigestMismatch.code:
            return _("this is not the text you were shown; nothing was stored")
    return sentence(error)


def _hint(error: SparkError) -> str | None:
    match error.code:
        case NameConflict.code:
            return _("the candidate still waits; confirm it under another name with --name")
        case DigestMismatch.code:
            return _("look at the candidate again and decide then")
    return next_step(error) or error.hint
