"""The engine's terms in the person's language; one word for one thing, the same on every screen."""

from engine.memory.model import AuthorRole, Entry, MemoryType, Scope, Source, State
from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import N_, _

_SCOPES = {Scope.USER: N_("user"), Scope.PROJECT: N_("project"), Scope.AGENT: N_("agent")}
_TYPES = {
    MemoryType.USER: N_("user"),
    MemoryType.FEEDBACK: N_("feedback"),
    MemoryType.PROJECT: N_("project"),
    MemoryType.REFERENCE: N_("reference"),
}
TYPE_ORDER = (MemoryType.FEEDBACK, MemoryType.USER, MemoryType.PROJECT, MemoryType.REFERENCE)
"""Types in the order of their weight in an injection."""
_STATES = {
    State.ACTIVE: N_("active"),
    State.EXPIRED: N_("expired"),
    State.INVALID: N_("invalid"),
    State.ARCHIVED: N_("archived"),
    State.QUARANTINED: N_("quarantined"),
    State.MISSING: N_("missing"),
}
_STATE_STYLES = {
    State.ACTIVE: "faint",
    State.EXPIRED: "warning",
    State.INVALID: "dim",
    State.ARCHIVED: "dim",
    State.QUARANTINED: "error",
    State.MISSING: "error",
}
_AUTHORS = {
    AuthorRole.MANUAL_USER: N_("you"),
    AuthorRole.EXTRACTION: N_("extraction"),
    AuthorRole.CONSOLIDATION: N_("consolidation"),
    AuthorRole.IMPORT: N_("import"),
    AuthorRole.SYNC: N_("sync"),
}
_SOURCES = {
    Source.MANUAL: N_("written by hand"),
    Source.EXTRACTION: N_("extracted from a turn"),
    Source.CONSOLIDATION: N_("consolidated"),
    Source.IMPORT: N_("imported"),
    Source.SYNC: N_("synced"),
}
_ACTIONS = {
    "add": N_("added"),
    "edit": N_("edited"),
    "archive": N_("archived"),
    "unarchive": N_("brought back"),
    "delete": N_("deleted"),
    "undo": N_("undone"),
    "restore": N_("restored"),
    "adopt": N_("edited by hand"),
    "supersede": N_("gave way"),
    "update": N_("updated"),
    "invalidate": N_("ended"),
    "evict": N_("made room"),
    "merge": N_("merged"),
    "confirm": N_("confirmed"),
}
_DROPS = {"budget": N_("over the budget"), "relevance": N_("less relevant"), "expired": N_("expired")}


def scope_word(scope: Scope) -> str:
    """The word for a scope."""
    return _(_SCOPES[scope])


def type_word(type: MemoryType) -> str:
    """The word for a type."""
    return _(_TYPES[type])


def state_word(state: State) -> str:
    """The word for a state."""
    return _(_STATES[state])


def state_style(state: State) -> str:
    """The style of a state's mark and word."""
    return _STATE_STYLES[state]


def state_mark(state: State) -> str:
    """The mark of a state in the glyph set in use."""
    return glyphs().state(state.value)


def author_word(role: AuthorRole) -> str:
    """Who wrote a version."""
    return _(_AUTHORS[role])


def source_word(source: Source) -> str:
    """How a memory came to be."""
    return _(_SOURCES[source])


def action_word(action: str) -> str:
    """What a line of the change feed did; an action without a word of its own is shown as it is."""
    return _(_ACTIONS[action]) if action in _ACTIONS else action


def drop_word(reason: str) -> str:
    """Why an entry is not in the block."""
    return _(_DROPS[reason]) if reason in _DROPS else reason


def place_word(entry: Entry, project: str) -> str:
    """Whose memory an entry is: ``user``, the project's name, or the agent's id."""
    if entry.scope is Scope.USER:
        return scope_word(Scope.USER)
    return project if entry.scope is Scope.PROJECT else entry.scope_ref or scope_word(Scope.AGENT)
