"""The words and marks of candidates, the same in lists, cards and on the command line; decides nothing."""

from engine.memory.candidates.model import Action, Candidate, CandidateState, Origin, Shown
from engine.memory.model import Scope
from spark_tui.presenters.words import scope_word
from spark_tui.text.i18n import N_, _, ngettext
from spark_tui.text.safe import one_line

_ACTIONS = {
    Action.ADD: N_("create"),
    Action.ELEVATE: N_("elevate"),
    Action.UPDATE: N_("update"),
    Action.DELETE: N_("delete"),
}
_SIGNS = {Action.ADD: "+", Action.ELEVATE: "^", Action.UPDATE: "~", Action.DELETE: "-"}
_SIGN_STYLES = {Action.ADD: "added", Action.ELEVATE: "accent", Action.UPDATE: "text", Action.DELETE: "removed"}
_ORIGINS = {
    Origin.CONSOLIDATION: N_("consolidation"),
    Origin.EVOLUTION: N_("extraction"),
    Origin.IMPORT: N_("import"),
}
_STATES = {
    CandidateState.PENDING: N_("waits for you"),
    CandidateState.CONFIRMED: N_("confirmed"),
    CandidateState.REJECTED: N_("rejected"),
    CandidateState.EXPIRED: N_("expired"),
}
_REASONS = {
    "a_person_wrote_it": N_("you wrote what it would change"),
    "said_before_it": N_("it was said before what it would change"),
    "asked_before": N_("you were asked about this text before"),
    "too_many_candidates": N_("too many candidates wait in this layer"),
    "cannot_be_stored": N_("no memory may look like this"),
}


def action_word(action: Action) -> str:
    """What a confirmation does, in one word."""
    return _(_ACTIONS[action])


def action_sign(action: Action) -> tuple[str, str]:
    """(sign, style) before that word."""
    return _SIGNS[action], _SIGN_STYLES[action]


def origin_word(origin: Origin) -> str:
    """What proposed it."""
    return _(_ORIGINS[origin])


def state_word(state: CandidateState) -> str:
    """Where it stands."""
    return _(_STATES[state])


def reason_word(reason: str) -> str:
    """Why it was asked or dropped; a code without words of its own is shown as it is."""
    return _(_REASONS[reason]) if reason in _REASONS else one_line(reason)


def place_word(candidate: Candidate, project: str) -> str:
    """Whose memory it would be: ``user``, the project's name, or the agent's id."""
    if candidate.scope is Scope.USER:
        return scope_word(Scope.USER)
    return project if candidate.scope is Scope.PROJECT else candidate.scope_ref or scope_word(Scope.AGENT)


def warning_words(shown: Shown, name_taken: bool) -> list[str]:
    """What a person must know before deciding, what stands in the way of a yes first."""
    changed = sum(source.changed for source in shown.sources)
    found = []
    if name_taken:
        found.append(_("name taken"))
    if shown.target_gone:
        found.append(_("target gone"))
    elif shown.target_changed:
        found.append(_("target changed"))
    if changed:
        found.append(_("sources changed"))
    return found


def target_words(shown: Shown) -> str:
    """How its target stands, where it is not what it was proposed about; empty where it is."""
    if shown.target_gone:
        return _("its target is out of use or deleted: it can only be rejected")
    if shown.target_changed:
        return _("its target has changed since it was proposed: this is about what it says now")
    return ""


def waiting_words(count: int) -> str:
    """How many candidates wait, for the top line; empty when none does."""
    return ngettext("{n} candidate waits", "{n} candidates wait", count).format(n=count) if count else ""
