"""The first gate: whether an item states a passing moment instead of something that lasts (02 §4.1).

It reads name and description only, knows the words of two languages, and never looks a thing up. A word that names
something (``TodayPanel``, 临时文件目录, "for now" in quotes) times nothing, and a sentence that states a rule outweighs
the signs that also occur in rules. New wordings go into the labelled set first, then into the languages.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from engine.memory.gates import chinese, english
from engine.memory.gates.signs import Moment

LOOKED_AT: Final = 1000
"""Characters of a text the gate reads; a stored description has at most 200, so what comes behind is never kept."""

_LANGUAGES = (english, chinese)
_SENTENCE_END = re.compile(r"[。！？；;\n]+|[.!?]+(?=\s|$)")
# What is quoted in a few characters is mentioned, not said; what is quoted at length is what somebody said.
_MENTIONED = re.compile(
    r"“[^”\n]{1,20}”|「[^」\n]{1,20}」|『[^』\n]{1,20}』|《[^》\n]{1,20}》|\"[^\"\n]{1,20}\"|`[^`\n]{1,60}`"
    r"|(?<![^\W_])['‘][^'’\n]{1,20}['’](?![^\W_])"
)
_WORD = re.compile(r"[A-Za-z0-9_$@#~/\\.:+\-]+(?:\(\))?")
_CODE = re.compile(
    r"[a-z][A-Z]|[A-Z]{2}[a-z]|_|\(\)$|^--?[a-z]|[A-Za-z][./\\][A-Za-z]|^[./~#@$]+[A-Za-z]|[A-Za-z]/$|::"
)
_IDENT: Final = "ident"


def transient_reason(name: str, description: str) -> Moment | None:
    """Why this item holds for a moment only, or None for one that lasts."""
    told = next(_moments(description[:LOOKED_AT]), None)
    if told is not None:
        return told[0]
    return Moment.NOW if _named_after_a_moment(name) else None


def transient_words(name: str, description: str) -> tuple[str, ...]:
    """The wordings of a moment in an item, folded, each once: what a person looks at when they ask why."""
    words = [word for _reason, word in _moments(description[:LOOKED_AT])]
    if not words and (word := _named_after_a_moment(name)):
        words = [word]
    return tuple(dict.fromkeys(words))


def _named_after_a_moment(name: str) -> str | None:
    words = _folded(name[:LOOKED_AT]).replace("-", " ")
    found = (language.NAME_SIGN.search(words) for language in _LANGUAGES)
    return next((each[0] for each in found if each), None)


def _moments(text: str) -> Iterator[tuple[Moment, str]]:
    for sentence in map(_folded, _SENTENCE_END.split(_plain(text))):
        if any(language.EXCEPTED.search(sentence) for language in _LANGUAGES):
            continue
        standing = any(language.STANDING.search(sentence) for language in _LANGUAGES)
        for language in _LANGUAGES:
            for sign in language.SIGNS:
                if (sign.firm or not standing) and (found := sign.pattern.search(sentence)):
                    yield sign.reason, found[0].strip(" ,:")


def _plain(text: str) -> str:
    """The text with code and short quotations replaced by a word that means nothing."""
    text = _WORD.sub(lambda found: _IDENT if _CODE.search(found[0].rstrip(".,:")) else found[0], text)
    return text if _MENTIONED.fullmatch(text.strip()) else _MENTIONED.sub(f" {_IDENT} ", text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
