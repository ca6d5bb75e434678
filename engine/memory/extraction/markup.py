"""Takes out what agents and tools wrap in tags of their own; a person's text is never swallowed by a tag left open."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.memory.block import SCOPES
from engine.memory.extraction.marks import lines

_MEMORY: Final = tuple(f"{scope}-memory" for scope in SCOPES)
_NOTES: Final = (
    "system-reminder", "command-name", "command-message", "command-contents", "local-command-stdout",
    "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr",
    "user-prompt-submit-hook", "session-start-hook", "task-notification", "environment_context", "user_instructions",
    "ide_selection", "ide_opened_file", "ide_diagnostics", "turn_aborted", "thinking", "think", "reasoning",
)  # fmt: skip
_TOOLS: Final = (
    "function_calls", "function_call", "function_results", "function_result", "tool_calls", "tool_call", "tool_use",
    "tool_uses", "tool_results", "tool_result", "tool_response", "tool_output", "persisted-output", "invoke",
)  # fmt: skip
_FILES: Final = (
    "file", "files", "file_content", "file_contents", "document", "documents", "document_content", "attachment",
    "attachments", "attached_file", "attached_files", "pasted_text", "pasted_content", "uploaded_file",
    "uploaded_files",
)  # fmt: skip
# What stands in it a person has typed.
_ENVELOPES: Final = ("command-args",)
_INDENT_MAX: Final = 80
_NAMES: Final = sorted((*_MEMORY, *_NOTES, *_TOOLS, *_FILES, *_ENVELOPES), key=len, reverse=True)
# Our own ‹ › may not stand inside, or a tag around a tag would come to be where the inner one was.
_TAG: Final = re.compile(
    rf"<(?P<slash>/?)(?:[a-z][\w.-]{{0,20}}:)?(?P<name>{'|'.join(map(re.escape, _NAMES))})(?=[\s/>])[^<>‹›\n]*>",
    re.IGNORECASE,
)


class Voice(StrEnum):
    """Whose text it is: only what a machine wrote or cut may lose more than its tags when one is left open."""

    PERSON = "person"
    ASSISTANT = "assistant"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class _Tag:
    """One tag; ``mentioned`` where it stands in backticks, so somebody writes about it."""

    name: str
    start: int
    end: int
    closes: bool
    empty: bool
    mentioned: bool
    opens_line: bool


def without_markup(text: str, voice: Voice) -> str:
    """The text without the blocks of known tags; tools and files leave a mark. Linear, and none of the tags is left.

    A tag without its counterpart, or in backticks, becomes ‹so›. In an answer one that opens a line was cut off with
    what follows; in a conversation's tail an end without a beginning says that all before it was inside.
    """
    tags = list(_tags(text))
    ends = _partners(tags)
    pieces: list[str] = []
    at = 0
    for index, tag in enumerate(tags):
        if tag.start < at:
            continue
        pieces.append(text[at : tag.start])
        partner = ends.get(index)
        if partner is not None:
            pieces.append(_mark(tag.name, text[tag.end : tags[partner].start]))
            at = tags[partner].end
        elif _swallows_rest(tag, voice):
            return "".join((*pieces, f"[{tag.name} cut off]"))
        else:
            if tag.closes and not _is_plain(tag) and voice is Voice.CONTEXT:
                pieces.clear()
            pieces.append(_plain(text, tag))
            at = tag.end
    return "".join((*pieces, text[at:]))


def _tags(text: str) -> Iterator[_Tag]:
    for found in _TAG.finditer(text):
        start, end = found.span()
        yield _Tag(
            found["name"].lower(),
            start,
            end,
            closes=bool(found["slash"]),
            empty=text[end - 2] == "/",
            mentioned=text[start - 1 : start] == "`" or text[end : end + 1] == "`",
            opens_line=_opens_line(text, start),
        )


def _opens_line(text: str, at: int) -> bool:
    looked_at = text[max(0, at - _INDENT_MAX) : at]
    before = looked_at.rpartition("\n")[2]
    return not before.strip() and (len(before) < len(looked_at) or at <= _INDENT_MAX)


def _partners(tags: Sequence[_Tag]) -> dict[int, int]:
    """For each tag that opens a block the one that ends it, blocks of one name nested."""
    opened: dict[str, list[int]] = {}
    partners: dict[int, int] = {}
    for index, tag in enumerate(tags):
        if _is_plain(tag):
            continue
        if not tag.closes:
            opened.setdefault(tag.name, []).append(index)
        elif opened.get(tag.name):
            partners[opened[tag.name].pop()] = index
    return partners


def _is_plain(tag: _Tag) -> bool:
    """Whether a tag stands for itself."""
    return tag.mentioned or tag.empty or tag.name in _ENVELOPES


def _swallows_rest(tag: _Tag, voice: Voice) -> bool:
    return voice is not Voice.PERSON and tag.opens_line and not tag.closes and not _is_plain(tag)


def _plain(text: str, tag: _Tag) -> str:
    if tag.name in _ENVELOPES and not tag.mentioned:
        return "\n"
    return f"‹{text[tag.start + 1 : tag.end - 1]}›"


def _mark(name: str, inner: str) -> str:
    if name in _TOOLS:
        return "\n[tool output]\n"
    if name in _FILES:
        return f"\n[file, {lines(inner)}]\n"
    return "\n"
