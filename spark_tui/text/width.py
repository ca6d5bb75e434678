"""How many cells a text takes: the one measure behind every column, cut and wrap (REQ-24); never a second opinion."""

import re
import unicodedata
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes

# Characters that always stand alone: Latin, Greek, Cyrillic, CJK, kana, Hangul syllables, full-width forms.
_PLAIN = re.compile(
    "[ -~\u00a0-\u00a8\u00aa-\u00ac\u00af-\u02ff\u0370-\u0482\u2010-\u2027\u3000-\u3029\u3041-\u3096"
    "\u309d-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d\uffa0-\uffe6]*"
)
_VIRAMA = 9
_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")
# Grapheme_Cluster_Break=SpacingMark that are not of category Mc, and Extend of category Lm (UAX 29).
_ODD_EXTENDERS = frozenset("\u0e33\u0eb3\uff9e\uff9f")
_PREPENDED = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3\U000113d1"
    "\U0001193f\U00011941\U00011a3a\U00011a84-\U00011a89\U00011d46\U00011f02]"
)


class Cluster(NamedTuple):
    """What a reader takes for one character: ``text[start:end]``, ``cells`` wide (0, 1, 2, rarely more)."""

    start: int
    end: int
    cells: int


def cells(text: str) -> int:
    """Cells the text takes on one line; equal to what Textual and Rich count, and to wcwidth on ordinary text."""
    return cell_len(text)


def clusters(text: str) -> list[Cluster]:
    """The text in pieces that must not be cut apart (wide characters, accents, emoji sequences, flags, jamo)."""
    if text.isascii() and text.isprintable():
        return [Cluster(index, index + 1, 1) for index in range(len(text))]
    spans, _total = split_graphemes(text)
    if _PLAIN.fullmatch(text):
        return [Cluster(*span) for span in spans]
    return _joined(text, spans)


def _joined(text: str, spans: list[tuple[int, int, int]]) -> list[Cluster]:
    """Rich joins zero-width characters only; flags, jamo and Indic syllables are joined here, widths added up."""
    found: list[Cluster] = []
    halves = 0  # flag halves in a row before this piece, also such as Rich has joined to something else
    for start, end, width in spans:
        completes_flag = halves % 2 == 1 and _is_flag_half(text[start])
        for char in text[start:end]:
            halves = halves + 1 if _is_flag_half(char) else 0
        if found and (completes_flag or _belongs(text, start)):
            last = found[-1]
            found[-1] = Cluster(last.start, end, last.cells + width)
        else:
            found.append(Cluster(start, end, width))
    return found


def _is_flag_half(char: str) -> bool:
    """Regional indicators: two in a row are one flag."""
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _belongs(text: str, start: int) -> bool:
    """Whether the character at ``start`` continues the one before it although it takes cells of its own."""
    before, here = text[start - 1], text[start]
    if here in _ODD_EXTENDERS or unicodedata.category(here) in ("Mc", "Mn", "Me"):
        return True
    if _PREPENDED.match(before):
        return True
    if _JAMO.match(here):
        return unicodedata.name(before, "").startswith("HANGUL")
    if "\u1100" <= here <= "\u115f" or "\ua960" <= here <= "\ua97c" or "\uac00" <= here <= "\ud7a3":
        return "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"
    return _VIRAMA in (unicodedata.combining(before), unicodedata.combining(text[max(0, start - 2)])) and (
        unicodedata.category(here) == "Lo"
    )
