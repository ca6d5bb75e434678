"""Makes of a turn what a model may see of it: nobody's echo, no tool output, no pasted files, no secrets, not too long.

Every step takes time linear in the text, whatever the text is, and leaves ordinary text as it was.
"""

import re
import unicodedata
from dataclasses import replace
from typing import Final

from engine.memory.extraction.echo import without_memories, without_tool_objects
from engine.memory.extraction.markup import Voice, without_markup
from engine.memory.extraction.pasted import without_pasted
from engine.memory.extraction.turn import ASSISTANT_MAX, CONTEXT_MAX, USER_MAX, Turn

_ESCAPES: Final = re.compile(
    "\x1b\\][^\x07\x1b\n]*+(?:\x07|\x1b\\\\)|[\x1b\x9b]\\[?[0-?]*+[ -/]*+[@-~]"
    "|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]|[\U000e0000-\U000e007f]"
)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_LINE_END: Final = re.compile(r"\n+")
_SENTENCE_END: Final = re.compile(r"[.!?]\s+|[。！？]")
_BLANK: Final = re.compile(r"\s+")
_SEARCHED_FOR_BOUNDARY: Final = CONTEXT_MAX // 5


def prepared(turn: Turn) -> Turn:
    """The turn as it may be stored and shown to a model: stripped, secrets redacted, bounded. Ask its key before."""
    from engine.memory.sensitive.scan import redact

    bare = stripped(turn)
    return replace(
        bare,
        user=bounded(redact(bare.user), USER_MAX),
        assistant=bounded(redact(bare.assistant), ASSISTANT_MAX),
        context=tail(redact(bare.context), CONTEXT_MAX),
    )


def stripped(turn: Turn) -> Turn:
    """The turn without what was not said in it; nothing is cut for its length yet."""
    return replace(
        turn,
        user=strip_text(turn.user, Voice.PERSON),
        assistant=strip_text(turn.assistant, Voice.ASSISTANT),
        context=strip_text(turn.context, Voice.CONTEXT),
    )


def strip_text(text: str, voice: Voice = Voice.PERSON) -> str:
    """One text without injected memories, others' markup, tool output and pasted files; doing it twice changes nothing."""
    # In this order no step can make anew what an earlier one looks for.
    text = _SURROGATES.sub("\ufffd", _ESCAPES.sub("", text))
    text = without_markup(text, voice)
    text = without_memories(text)
    text = without_tool_objects(text)
    return without_pasted(text)


def tail(text: str, most: int = CONTEXT_MAX) -> str:
    """At most ``most`` characters from the end, beginning with a line, else a sentence, else a word."""
    if len(text) <= most:
        return text
    kept = text[len(text) - most :]
    for boundary in (_LINE_END, _SENTENCE_END, _BLANK):
        found = boundary.search(kept, 0, _SEARCHED_FOR_BOUNDARY)
        if found:
            return kept[found.end() :]
    while kept and unicodedata.category(kept[0])[0] == "M":
        kept = kept[1:]
    return kept


def bounded(text: str, most: int) -> str:
    """At most ``most`` characters: two thirds of them from the beginning, a mark, the rest from the end."""
    if len(text) <= most:
        return text
    mark = f"\n[… {len(text) - most} characters left out …]\n"
    room = max(0, most - len(mark))
    head = room * 2 // 3
    return f"{text[:head]}{mark}{text[len(text) - (room - head) :]}"[:most]
