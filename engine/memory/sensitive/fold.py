"""Folds disguised writing (full width, zero width, other digits) to plain text and keeps the way back."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# Not plain already: anything but ASCII, kana, Hangul, common ideographs and ordinary Chinese marks.
_FOLDABLE = re.compile(
    r"[^\x00-\x7f\u2018-\u201d\u2026\u3001-\u3011\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_DASH = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63]")


@dataclass(frozen=True, slots=True)
class Folded:
    """Plain text and, where lengths differ, the original offset of each of its characters."""

    text: str
    offsets: tuple[int, ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The half-open span of the original text behind ``[start, end)`` of the folded one; ``start < end``."""
        if self.offsets is None:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def fold(text: str) -> Folded:
    """NFKC character by character, every decimal digit as ASCII, dashes as ``-``, invisible characters dropped."""
    if text.isascii():
        return Folded(text)
    plain = _FOLDABLE.sub(lambda found: _plain(found[0]), text)
    if all(len(_plain(character)) == 1 for character in set(_FOLDABLE.findall(text))):
        return Folded(plain)
    return Folded(plain, tuple(_offsets(text)))


def _offsets(text: str) -> Iterator[int]:
    position = 0
    for found in _FOLDABLE.finditer(text):
        yield from range(position, found.start())
        yield from [found.start()] * len(_plain(found[0]))
        position = found.end()
    yield from range(position, len(text))


@lru_cache(maxsize=2048)
def _plain(character: str) -> str:
    if _INVISIBLE.match(character):
        return ""
    if _DASH.match(character):
        return "-"
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return unicodedata.normalize("NFKC", character)
