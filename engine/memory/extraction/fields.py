"""Reads the fields of one item as leniently as their meaning allows; what is ambiguous stays unread."""

import json
import math
import re
from typing import Any, Final

from engine.memory.extraction.reading import clean
from engine.memory.model import MemoryType, Scope

TEXTS_MAX: Final = 30
TEXT_MAX: Final = 500
_SEPARATORS: Final = re.compile(r"[,，、;；\n]")
_NUMBER: Final = re.compile(r"\s*([0-9]{0,9}(?:\.[0-9]{1,20})?)\s*(%?)\s*")
# Only words that can mean nothing else here: a "preference" may be a fact about a person or a rule to follow.
_SCOPES: Final = {
    "用户": Scope.USER, "个人": Scope.USER, "person": Scope.USER, "项目": Scope.PROJECT, "工作区": Scope.PROJECT,
    "workspace": Scope.PROJECT, "repository": Scope.PROJECT, "repo": Scope.PROJECT, "智能体": Scope.AGENT,
    "代理": Scope.AGENT,
}  # fmt: skip
_TYPES: Final = {
    "用户": MemoryType.USER, "反馈": MemoryType.FEEDBACK, "守则": MemoryType.FEEDBACK, "rule": MemoryType.FEEDBACK,
    "项目": MemoryType.PROJECT, "decision": MemoryType.PROJECT, "决策": MemoryType.PROJECT,
    "参考": MemoryType.REFERENCE, "参考资料": MemoryType.REFERENCE, "引用": MemoryType.REFERENCE,
    "references": MemoryType.REFERENCE,
}  # fmt: skip


def as_scope(value: Any) -> Scope | None:
    """The scope a word names, or None."""
    word = _word(value)
    return Scope(word) if word in set(Scope) else _SCOPES.get(word)


def as_type(value: Any) -> MemoryType | None:
    """The type a word names, or None."""
    word = _word(value)
    return MemoryType(word) if word in set(MemoryType) else _TYPES.get(word)


def as_line(value: Any) -> str:
    """A string as one line with single blanks; empty for anything else."""
    return " ".join(clean(value).split()) if isinstance(value, str) else ""


def as_confidence(value: Any) -> float | None:
    """The number given, in range or not: ``0.8``, ``"0.8"``, ``"80%"``. A word is no number, nor are NaN and infinity."""
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        if found is None or not found[1]:
            return None
        return float(found[1]) / (100 if found[2] else 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_texts(value: Any, *, split: bool = False) -> tuple[str, ...]:
    """The strings of a list, or of objects with a ``name``, each once; of one string its parts where ``split``."""
    if isinstance(value, str):
        value = _SEPARATORS.split(value) if split else [value]
    if not isinstance(value, list):
        return ()
    named = (each.get("name") if isinstance(each, dict) else each for each in value)
    texts = (as_line(each)[:TEXT_MAX].strip() for each in named)
    return tuple(dict.fromkeys(filter(None, texts)))[:TEXTS_MAX]


def as_body(value: Any) -> str:
    """Markdown as it was given; a list as bullets, an object as ``**key:** value`` lines, null as nothing."""
    match value:
        case None:
            return ""
        case str():
            return clean(value).replace("\r\n", "\n").strip()
        case list():
            return "\n".join(f"- {_inline(each)}" for each in value if each not in (None, ""))
        case dict():
            return "\n".join(f"**{as_line(key)}:** {_inline(each)}" for key, each in value.items())
        case _:
            return _inline(value)


def shortened(text: str, most: int) -> str:
    """At most ``most`` characters, the last an ellipsis where something was cut; at a word's end where one is near."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    words = cut.rpartition(" ")[0]
    return (words if len(words) > most * 0.8 else cut).rstrip() + "…"


def _inline(value: Any) -> str:
    return clean(value).strip() if isinstance(value, str) else clean(json.dumps(value, ensure_ascii=False, default=str))


def _word(value: Any) -> str:
    return as_line(value).strip("\"'`").casefold()
