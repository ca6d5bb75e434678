"""The engine's errors in the person's language: what happened and what to do next; nothing is left out or made up."""

from collections.abc import Callable

from engine.errors import SparkError
from spark_tui.text.i18n import N_, _
from spark_tui.text.safe import one_line

# Sentences the engine says without a value in them; marked here so that the catalogue has them.
_FIXED = frozenset(
    (
        N_("the description is empty"),
        N_("one line that says what to remember"),
        N_("the description has more than one line"),
        N_("put the rest into the body"),
        N_("the description holds a character that cannot be stored"),
        N_("the body holds a character that cannot be stored"),
        N_("the name needs at least one letter or digit"),
        N_("the name must be lower-case words joined by '-', at most 80 characters"),
        N_("an agent memory needs an agent id"),
        N_("write it as YYYY-MM-DD"),
        N_("a deletion cannot be undone"),
        N_("undo the newer change first"),
        N_("keep secrets in a password manager and remember where they are"),
        N_("letters, digits, '.', '_' and '-', not starting with '.'"),
    )
)


def problem(error: SparkError) -> str:
    """One line: what happened, and the next step where there is one."""
    message, hint = sentence(error), next_step(error)
    return f"{message} {_('(hint: {hint})').format(hint=hint)}" if hint else message


def sentence(error: SparkError) -> str:
    """What happened."""
    made = _MADE.get(error.code)
    if made is not None:
        return made(error)
    return one_line(_(error.message) if error.message in _FIXED else error.message)


def next_step(error: SparkError) -> str | None:
    """What to do, where the engine says so; a suggested name is given in the person's language."""
    if "suggestion" in error.details:
        return _("use {name}").format(name=one_line(str(error.details["suggestion"])))
    hint = error.hint
    if hint is None or hint.startswith("spark-tui "):
        return None  # advice for the command line has no place on a screen
    return one_line(_(hint) if hint in _FIXED else hint)


def _already_exists(error: SparkError) -> str:
    holder = str(error.details.get("id", ""))
    return _("an active memory of that name exists already ({id})").format(id=holder)


def _quota(error: SparkError) -> str:
    count, quota = error.details.get("count", "?"), error.details.get("quota", "?")
    return _("this layer is full: {count} of {quota}").format(count=count, quota=quota)


def _sensitive(error: SparkError) -> str:
    kind = one_line(str(error.details.get("kind", "")))
    return _("the text holds something secret or private ({kind}); it was not stored").format(kind=kind)


def _conflict(error: SparkError) -> str:
    current, base = error.details.get("current_version", "?"), error.details.get("base_version", "?")
    return _("the memory has changed meanwhile: it is at version {current}, you began at {base}").format(
        current=current, base=base
    )


def _busy(error: SparkError) -> str:
    return _("another process holds the store; nothing was written")


def _read_only(error: SparkError) -> str:
    return _("read-only: nothing is written") + f" ({one_line(error.message)})"


def _gone(error: SparkError) -> str:
    return _("this memory is not here any more")


_MADE: dict[str, Callable[[SparkError], str]] = {
    "ALREADY_EXISTS": _already_exists,
    "QUOTA_EXCEEDED": _quota,
    "SENSITIVE_CONTENT": _sensitive,
    "VERSION_CONFLICT": _conflict,
    "STORE_BUSY": _busy,
    "READ_ONLY": _read_only,
    "NOT_FOUND": _gone,
}
