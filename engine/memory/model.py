"""What one memory is: its fields, scopes, types and states (02 §1). No I/O, no SQL."""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path

from engine.errors import ValidationFailed

NAME_MAX = 80
DESCRIPTION_MAX = 200
BODY_MAX = 1_000_000
_ID = re.compile(r"(usr|prj|agt)_[0-9a-f]{8}")
_AGENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_LINE_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class Scope(StrEnum):
    """Who can see a memory. The three never mix."""

    USER = "user"
    PROJECT = "project"
    AGENT = "agent"


PREFIX = {Scope.USER: "usr", Scope.PROJECT: "prj", Scope.AGENT: "agt"}


class MemoryType(StrEnum):
    """How a memory is treated, orthogonal to its scope; feedback is always injected."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


class Source(StrEnum):
    """How a memory came to be."""

    MANUAL = "manual"
    EXTRACTION = "extraction"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"
    SYNC = "sync"


class AuthorRole(StrEnum):
    """Who wrote the current version; assigned by the engine, never taken from model output."""

    MANUAL_USER = "manual_user"
    EXTRACTION = "extraction"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"
    SYNC = "sync"


class EvidenceStatus(StrEnum):
    """Whether the excerpt a model gave as evidence occurs in the turn."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"


class State(StrEnum):
    """What a person sees of an entry; only ``ACTIVE`` takes part in search and injection."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    INVALID = "invalid"
    EXPIRED = "expired"
    QUARANTINED = "quarantined"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Layer:
    """One (scope, scope_ref) with the place of its files.

    ``key`` partitions every index: ``user``, ``agent:<id>`` or ``project:<n>`` where n numbers (workspace id, root),
    so two clones of a repository never mix. ``label`` is what a person calls it.
    """

    scope: Scope
    ref: str | None
    key: str
    folder: Path
    label: str


@dataclass(frozen=True, slots=True)
class Validity:
    """The last applicable day, and the instant after it: ``until_ms`` is the next midnight in ``timezone`` (half-open)."""

    day: date
    timezone: str
    until_ms: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory without its body. Times are milliseconds since the epoch."""

    id: str
    scope: Scope
    scope_ref: str | None
    type: MemoryType
    name: str
    description: str
    source: Source
    confidence: float
    author_role: AuthorRole
    created_at: int
    updated_at: int
    valid_from: int
    version: int = 1
    valid_until: Validity | None = None
    invalid_at: int | None = None
    superseded_by: str | None = None
    archived: bool = False
    entities: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    source_session_id: str | None = None
    source_turn_id: str | None = None
    extraction_model: str | None = None
    evidence: str | None = None
    evidence_status: EvidenceStatus | None = None
    hit_count: int = 0
    last_hit_at: int | None = None
    file_state: State | None = None  # QUARANTINED or MISSING; None when the file is as the row says
    file_reason: str | None = None

    def state(self, now_ms: int) -> State:
        """The one word for this entry at ``now_ms``; the strongest reason wins."""
        if self.file_state is not None:
            return self.file_state
        if self.archived:
            return State.ARCHIVED
        if self.invalid_at is not None and self.invalid_at <= now_ms:
            return State.INVALID
        if self.valid_until is not None and self.valid_until.until_ms <= now_ms:
            return State.EXPIRED
        return State.ACTIVE

    @property
    def file(self) -> str:
        """File name, relative to the scope's folder."""
        return f"{self.id}.md"


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person or model wants remembered, before the store has given it an id."""

    scope: Scope
    type: MemoryType
    name: str
    description: str
    body: str = ""
    confidence: float = 1.0
    entities: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    valid_until: date | None = None
    valid_from: int | None = None  # ms; None: from now on
    agent: str | None = None
    source: Source = Source.MANUAL
    author: AuthorRole = AuthorRole.MANUAL_USER
    source_session_id: str | None = None
    source_turn_id: str | None = None
    extraction_model: str | None = None
    evidence: str | None = None
    evidence_status: EvidenceStatus | None = None


class Unset(StrEnum):
    """Marks a field an edit leaves alone, where None itself is a value."""

    UNSET = "unset"


UNSET = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Changes:
    """Fields an edit replaces; ``None`` (or ``UNSET`` for the validity) leaves a field as it is."""

    name: str | None = None
    description: str | None = None
    body: str | None = None
    type: MemoryType | None = None
    confidence: float | None = None
    entities: tuple[str, ...] | None = None
    links: tuple[str, ...] | None = None
    valid_until: date | None | Unset = UNSET


@dataclass(frozen=True, slots=True)
class Revision:
    """A superseded version: the entry as it was, its body, and when and by whose hand it was replaced."""

    entry: Entry
    body: str
    replaced_at: int
    group: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """An edge between memories: ``kind`` is merge, elevate or supersede, from the older to the newer."""

    from_id: str
    to_id: str
    kind: str
    at: int


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What became of one id in a bulk verb; ``outcome`` is done, unchanged, blocked_locally or an error code."""

    id: str
    outcome: str
    message: str = ""
    path: str | None = None
    version: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the entry now is as the verb wanted it."""
        return self.outcome in ("done", "unchanged")


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the recent-changes feed: an operation group on one entry, with the versions before and after."""

    group: str
    at: int
    action: str
    id: str
    name: str
    author: AuthorRole
    before: int | None
    after: int | None
    undone: bool = False
    fields: tuple[str, ...] = field(default=())


def is_id(text: str) -> bool:
    """Whether this is the form of an entry's id."""
    return _ID.fullmatch(text) is not None


def scope_of_id(entry_id: str) -> Scope | None:
    """The scope an id's prefix names, or None when it is no id."""
    return next((scope for scope, prefix in PREFIX.items() if is_id(entry_id) and entry_id.startswith(prefix)), None)


def slug(text: str) -> str:
    """NFKC, case-folded words joined by ``-``, CJK kept, at most 80 characters; empty when nothing is left."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else "-" for c in folded)
    return re.sub("-+", "-", kept).strip("-")[:NAME_MAX].rstrip("-")


def checked_name(name: str) -> str:
    """The name itself when it is a slug; else ``ValidationFailed`` whose hint holds the slug to use."""
    wanted = slug(name)
    if not wanted:
        raise ValidationFailed("the name needs at least one letter or digit")
    if wanted != name:
        from engine.memory.sensitive.scan import find_sensitive

        rule = "the name must be lower-case words joined by '-', at most 80 characters"
        if find_sensitive(name) is not None:  # a suggestion would repeat it
            raise ValidationFailed(rule)
        raise ValidationFailed(rule, f"use {wanted}", suggestion=wanted)
    return name


def checked_description(text: str) -> str:
    """One line of at most 200 characters, or ``ValidationFailed``: a person's text is refused, never mangled."""
    if not text.strip():
        raise ValidationFailed("the description is empty", "one line that says what to remember")
    if _LINE_BREAKS.search(text):
        raise ValidationFailed("the description has more than one line", "put the rest into the body")
    if len(text) > DESCRIPTION_MAX:
        raise ValidationFailed(
            f"the description has {len(text)} characters, {DESCRIPTION_MAX} are allowed", "put the rest into the body"
        )
    if "\0" in text or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise ValidationFailed("the description holds a character that cannot be stored")
    return text


def checked_agent(agent_id: str) -> str:
    """One safe path component, or ``ValidationFailed``."""
    if not _AGENT.fullmatch(agent_id) or agent_id.endswith("."):
        raise ValidationFailed(
            f"not an agent id: {agent_id[:40]!r}", "letters, digits, '.', '_' and '-', not starting with '.'"
        )
    return agent_id
