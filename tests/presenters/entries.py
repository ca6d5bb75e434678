"""Entries out of nothing, for tests of pure functions."""

from dataclasses import replace

from engine.memory.model import AuthorRole, Entry, MemoryType, Scope, Source

START_MS = 1_767_225_600_000  # 2026-01-01 00:00 UTC


def an_entry(**fields: object) -> Entry:
    """A user memory of 2026-01-01, unless fields say otherwise."""
    entry = Entry(
        id="usr_00000001",
        scope=Scope.USER,
        scope_ref=None,
        type=MemoryType.USER,
        name="rule",
        description="be brief",
        source=Source.MANUAL,
        confidence=1.0,
        author_role=AuthorRole.MANUAL_USER,
        created_at=START_MS,
        updated_at=START_MS,
        valid_from=START_MS,
    )
    return replace(entry, **fields)  # type: ignore[arg-type]


def texts(blocks: object, width: int = 80) -> list[str]:
    """The rows of blocks as plain text."""
    return ["".join(text for _style, text in row) for block in blocks for row in block.rows(width)]  # type: ignore[attr-defined]
