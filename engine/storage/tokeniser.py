"""Turns any text into the tokens that are stored and asked for: one way for both sides. It must never know of SQL."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TOKENISER_VERSION = 1
"""Stored beside every index; an index with another number must be built again."""

# Scripts written without spaces: each character is a token, and a query asks for neighbours.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0x2FDF), (0x3005, 0x3007),
    (0x3021, 0x3029), (0x3038, 0x303B), (0x3041, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0xA4CF), (0xA960, 0xA97F),
    (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0x16FE0, 0x18DFF), (0x1AFF0, 0x1B2FF), (0x20000, 0x3FFFF),
)  # fmt: skip
_EMOJI = range(0x1F000, 0x1FB00)  # also those younger than this Python's Unicode tables
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_MARKS = "._-/@:+#"
_ENCODED = {ord(mark): ord(mark) + 0xFEE0 for mark in _MARKS}

_LATIN = "a-z\u00df-\u02af\u1d00-\u1dbf\u1e00-\u1eff\ua720-\ua7ff\uab30-\uab6f"
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff"
_MAY_BE_ACCENTED = re.compile(f"[\u00c0-\u024f\u1e00-\u1eff{_ACCENTS}]")
_ACCENTED = re.compile(f"([{_LATIN}])[{_ACCENTS}]+")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
_JOINS = _ACCENTS + "\u1160-\u11ff\u3099\u309a\uff9e\uff9f"
_CLUSTER = f"(?s:[\0-\x7f\u4e00-\u9fff]+(?![{_JOINS}])|.[{_JOINS}]*)"  # folds as if it stood alone
# NFKC would do the same, but it passes five times faster over Chinese text without full-width punctuation.
_FULL_WIDTH = re.compile("[\uff01-\uff5e\u3000]")
_HALF_WIDTH = {chr(point): chr(point - 0xFEE0) for point in range(0xFF01, 0xFF5F)} | {"\u3000": " "}
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_PUNCTUATION = """ ,;:!?'"()[]{}<>、。…—–·«»“”‘’「」『』《》【】"""
_HEAD = re.compile(rf"(?:[{re.escape(_PUNCTUATION)}]|[.-](?!\w))*")

# The classes of characters that are neither ASCII nor a common ideograph, as characters that are.
_WORD, _UNSPACED_CLASS, _SYMBOL, _FLAG, _SEPARATOR = "w", "一", "\ue000", "\ue001", " "
_UNCLASSED = re.compile("[^\x20-\x7e\u4e00-\u9fff]")
_TOKEN = re.compile(
    "(?P<run>[^\0-\x7f\ue000\ue001]+)"
    "|(?P<word>(?:(?<![.@])[.@])?[a-z0-9]+(?:[._/@:-]{1,3}[a-z0-9]+)*(?:\\+\\+|#(?![a-z0-9]))?)"
    "|(?P<symbol>\ue001\ue001?|\ue000)"
)
_SIMPLE = re.compile("[a-z0-9]+")
_PART = re.compile(f"[^{re.escape(_MARKS)}]+")


class Atom(NamedTuple):
    """One stored token and the stretch ``[start, end)`` of the folded text it came from."""

    text: str
    start: int
    end: int


class Piece(NamedTuple):
    """A stretch of a folded text and its tokens.

    ``kind`` is ``run`` (characters of an unspaced script), ``word`` or ``symbol``. ``whole`` is the encoded token of a
    compound such as ``node.js``, stored before its parts. Full-width marks encode it: folding leaves none of those, so
    nothing else can look like it. A letter with ``++`` or ``#`` is one encoded part, so that ``c`` does not find it.
    """

    kind: str
    whole: Atom | None
    parts: list[Atom]


class _Classes(dict[int, str]):
    """The class of each code point, worked out when it is first met."""

    def __missing__(self, point: int) -> str:
        found = self[point] = _class_of(point)
        return found


def _class_of(point: int) -> str:
    category = unicodedata.category(chr(point))
    if point in _FLAG_LETTERS:
        return _FLAG
    if category[0] in "LMN" or category in ("Co", "Cn"):
        if any(low <= point <= high for low, high in _UNSPACED):
            return _UNSPACED_CLASS
        return _SYMBOL if point in _EMOJI else _WORD
    return _SYMBOL if category in ("So", "Sm") else _SEPARATOR


_CLASSES = _Classes()


def fold(text: str) -> str:
    """The form in which texts are compared: NFKC, case-folded, Latin without accents, Hangul composed.

    Folding twice changes nothing. NUL and lone surrogates, which SQLite cannot hold, become spaces; what nobody sees
    (soft hyphens, joiners, variation selectors) goes.
    """
    if text.isascii():
        return text.lower().replace("\0", " ")
    text = _FULL_WIDTH.sub(lambda found: _HALF_WIDTH[found[0]], text)
    folded = _fold_once(_UNSTORABLE.sub(" ", text))
    while (again := _fold_once(folded)) != folded:
        folded = again
    return folded


def _fold_once(text: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if _MAY_BE_ACCENTED.search(text):
        text = unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", text)))
    return _INVISIBLE.sub("", text).replace("’", "'").replace("\u2010", "-")


def fold_with_origins(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The folded text and, for each of its characters, the stretch ``[start, end)`` of ``text`` it came from."""
    if text.isascii():
        return fold(text), [(at, at + 1) for at in range(len(text))]
    folded: list[str] = []
    origins: list[tuple[int, int]] = []
    for match in re.finditer(_CLUSTER, text):
        start, end = match.span()
        folded.append(fold(match[0]))
        if len(folded[-1]) == end - start:
            origins.extend((at, at + 1) for at in range(start, end))
        else:
            origins.extend([(start, end)] * len(folded[-1]))
    return "".join(folded), origins


def normalised(text: str) -> str:
    """The folded text with single spaces and no punctuation at its ends; two texts with an equal one say the same.

    ``c#``, ``50%``, ``.net`` and ``-5`` keep their marks, which are part of what they say.
    """
    spaced = " ".join(fold(text).split()).rstrip(_PUNCTUATION + ".-")
    return _HEAD.sub("", spaced, count=1)


def pieces(folded: str) -> Iterator[Piece]:
    """The pieces of a folded text, in order; whatever is in none of them is a separator."""
    for match in _matches(folded):
        yield _piece(folded, match)


def atoms(folded: str) -> Iterator[Atom]:
    """Every token of a folded text, in the order in which it is stored."""
    for piece in pieces(folded):
        if piece.whole:
            yield piece.whole
        yield from piece.parts


def index_text(text: str) -> str:
    """Text as it goes into an FTS5 column: the tokens of :func:`atoms`, separated by spaces."""
    folded = fold(text)
    return " ".join(_stored(folded, match) for match in _matches(folded))


def _matches(folded: str) -> Iterator[re.Match[str]]:
    classed = folded if folded.isascii() else _UNCLASSED.sub(lambda found: _CLASSES[ord(found[0])], folded)
    return _TOKEN.finditer(classed)


def _stored(folded: str, match: re.Match[str]) -> str:
    stretch = folded[match.start() : match.end()]
    if match.lastgroup == "run":
        return " ".join(stretch)
    if match.lastgroup == "symbol" or _SIMPLE.fullmatch(match[0]):
        return stretch
    piece = _compound(stretch, 0)
    return " ".join(atom.text for atom in (piece.whole, *piece.parts) if atom)


def _piece(folded: str, match: re.Match[str]) -> Piece:
    start, end = match.span()
    if match.lastgroup == "run":
        return Piece("run", None, [Atom(folded[at], at, at + 1) for at in range(start, end)])
    if match.lastgroup == "word" and not _SIMPLE.fullmatch(match[0]):
        return _compound(folded[start:end], start)
    return Piece(str(match.lastgroup), None, [Atom(folded[start:end], start, end)])


def _compound(word: str, at: int) -> Piece:
    parts = [Atom(part[0], at + part.start(), at + part.end()) for part in _PART.finditer(word)]
    encoded = word.translate(_ENCODED)
    if len(parts[-1].text) == 1 and word[-1] in "+#":
        start = parts[-1].start
        parts[-1] = Atom(encoded[start - at :], start, at + len(word))
    if parts[0].text == encoded:
        return Piece("word", None, parts)
    return Piece("word", Atom(encoded, at, at + len(word)), parts)
