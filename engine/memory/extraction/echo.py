"""Takes out what we injected ourselves and what tools say as JSON; nothing that was said about them."""

import re
from typing import Final

from engine.memory.block import HOW_TO_SEARCH, PROVENANCE
from engine.memory.extraction.brackets import end_of
from engine.memory.model import PREFIX, MemoryType


def _loose(sentence: str) -> str:
    """The pattern of a fixed text, whatever blanks or line breaks stand between its words."""
    return r"\s++".join(map(re.escape, sentence.split()))


_FIXED: Final = re.compile(f"{_loose(HOW_TO_SEARCH)}|{_loose(PROVENANCE)}")
# ``line_of`` writes it, ``search_memory`` answers with it; a name holds no blank.
_LINE: Final = re.compile(
    rf"- \[(?:{'|'.join(PREFIX.values())})_[0-9a-f]{{8}}\] \S{{1,80}} \((?:{'|'.join(MemoryType)})\): [^\n]*"
)
# Only a few short pairs may stand before the type, and none with a mark of ours in it.
_PAIR: Final = r'"\w{1,30}"\s*+:\s*+(?:"[^"\\\n\[]{0,200}"|[\w.]{1,30})\s*+,\s*+'
_TOOL_OBJECT: Final = re.compile(
    rf'\{{\s*+(?:{_PAIR}){{0,4}}"type"\s*+:\s*+"(?:tool_use|tool_result|tool_call|server_tool_use|mcp_tool_use'
    r'|function_call|function_call_output|local_shell_call|custom_tool_call|web_search_tool_result)"'
)
# Looking in vain for an end reads to the end of the text, so it is done this often only.
_LOOKS: Final = 4


def without_memories(text: str) -> str:
    """The text without injected memory lines, the provenance section and the hint how to search."""
    return _FIXED.sub("\n", _LINE.sub("", text))


def without_tool_objects(text: str) -> str:
    """The text with a mark for each JSON object of a tool call or result; of one that never ends only its beginning."""
    pieces: list[str] = []
    at = 0
    looks_left = _LOOKS
    for found in _TOOL_OBJECT.finditer(text):
        if found.start() < at:
            continue
        end = end_of(text, found.start()) if looks_left else None
        looks_left -= end is None and looks_left > 0
        pieces += [text[at : found.start()], "\n[tool call]\n"]
        at = end or found.end()
    return "".join((*pieces, text[at:]))
