"""Why a model brought nothing, in the person's language; what the engine says with a value in it stays as it is."""

from spark_tui.text.i18n import N_, _
from spark_tui.text.safe import one_line

# Sentences the engine says; marked here so that the catalogue has them.
_FIXED = frozenset(
    (
        N_("nothing configured and no conversation model to fall back to"),
        N_("the key was refused"),
        N_("this key may not use it"),
        N_("the account has no credit left"),
        N_("no such model or address"),
        N_("the base URL cannot be asked"),
        N_("the request was refused"),
        N_("the request is longer than the model reads"),
        N_("too many requests"),
        N_("the provider is overloaded"),
        N_("the provider failed"),
        N_("no answer in time"),
        N_("no connection"),
        N_("the answer broke off"),
        N_("the answer is not of its protocol"),
        N_("the provider declined to answer this"),
        N_("the call was cancelled"),
        N_("this release cannot be asked safely"),
        N_("interrupted"),
        N_("nothing worth keeping"),
    )
)


def why_words(reason: str) -> str:
    """A job's reason: a sentence of its own, or after whoever was asked (``mine: no connection``)."""
    who, colon, sentence = reason.rpartition(": ")
    if sentence not in _FIXED:
        return one_line(reason)
    return one_line(who) + (": " if colon else "") + _(sentence)
