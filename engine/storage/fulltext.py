"""Full-text search over one tokeniser: the FTS5 table, the question put to it, and how well a text answers it.

No input may act as an FTS5 operator or raise, and nothing here opens a connection.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from engine.storage.stemmer import stem
from engine.storage.tokeniser import (
    TOKENISER_VERSION,
    Atom,
    Piece,
    atoms,
    fold,
    fold_with_origins,
    index_text,
    normalised,
    pieces,
)

__all__ = [
    "MAX_TERMS",
    "TOKENISER_VERSION",
    "coverage",
    "create_table_sql",
    "fold",
    "index_text",
    "match_query",
    "normalised",
    "secure_delete_sql",
    "spans",
]

MAX_TERMS = 64
"""Most terms one question may have; the first ones are kept."""

# Dropping these lifted LoCoMo from R@10 0.582 to 0.624; adding not, no, after, more, … took 0.002 away again.
_STOP_WORDS = frozenset({
    "a", "an", "the", "of", "and", "or", "to", "in", "on", "at", "for", "with", "from", "by", "as", "is", "are",
    "was", "were", "be", "been", "being", "am", "do", "does", "did", "have", "has", "had", "i", "you", "he", "she",
    "it", "we", "they", "me", "him", "her", "them", "my", "your", "his", "its", "our", "their", "this", "that",
    "these", "those", "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "will", "would",
    "could", "should", "may", "might", "can", "must", "shall",
})  # fmt: skip
_CONTRACTED = frozenset({"s", "t", "d", "ll", "re", "ve", "m"})
# Two characters that only ask or join; without them Chinese nDCG@10 is 0.987 instead of 0.982 (CMRC 2018).
_ASKING = frozenset("的吗嗎呢吧么麼什哪怎谁誰")
_JOINING = _ASKING | frozenset(
    "了是在个個和与與或及也都就而被把为為对對于於从從到以之其这這那有些里裡样樣我你他她它们們"
)
_ASKING_PAIRS = frozenset({"如何", "为何", "為何", "多少", "几个", "幾個"})
_PAIRS_KEPT = frozenset({"目的", "的确", "的確", "什锦", "什錦"})

_LINE_MAX = 300  # a name and a description
_LONGEST_ROW = 16  # a compound of more parts (a pasted URL) is asked for as a whole only

_DOT = "．"  # as tokens hold it

Term = tuple[str, ...]
"""Tokens that must stand in a row."""


def create_table_sql(table: str, columns: Sequence[str]) -> str:
    """The statement that makes a contentless table for :func:`index_text`; English is stemmed on both sides.

    ``ascii`` leaves every other character alone: the tokeniser has split and folded already, and SQLite's own Unicode
    tables, which differ from release to release, stay out of it.
    """
    listed = ", ".join(map(_quoted, columns))
    options = "content='', contentless_delete=1, tokenize='porter ascii'"
    return f"CREATE VIRTUAL TABLE {_quoted(table)} USING fts5({listed}, {options})"


def secure_delete_sql(table: str) -> str:
    """The statement that makes deletions leave no trace of the text in the index; once per table, it is stored."""
    return f"INSERT INTO {_quoted(table)}({_quoted(table)}, rank) VALUES('secure-delete', 1)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def match_query(text: str) -> str | None:
    """The MATCH expression that finds texts with any term of ``text``; None when there is nothing to search for.

    Words without English stop words; neighbouring pairs of unspaced characters; compounds whole, with their parts in
    a row and, where a hyphen or slash joins them, each part. At most :data:`MAX_TERMS` terms, in the text's order.
    """
    return " OR ".join(f'"{" ".join(term)}"' for term in _terms(text)) or None


def coverage(query: str, *texts: str) -> float:
    """The share (0–1) of the query's informative terms that occur in the texts, stemmed as the index stems them."""
    units, stemmed = _asked(query)
    rows = [f" {' '.join(stemmed.row(_words(text)))} " for text in texts]
    found = sum(any(term in row for term in unit for row in rows) for unit in units)
    return found / len(units) if units else 0.0


def _words(text: str) -> list[str]:
    return (_of_line(text) if len(text) <= _LINE_MAX else index_text(text)).split(" ")


# The same lines are judged for one question after another: as a person types, at every turn of a session.
_of_line = lru_cache(maxsize=1_024)(index_text)


@lru_cache(maxsize=4)
def _asked(query: str) -> tuple[list[list[str]], "_Stemmed"]:
    """The stemmed terms of each informative part; kept, because one search asks them of every hit."""
    asked = _units(query)
    units = [[f" {' '.join(map(stem, term))} " for term in unit] for unit in asked]
    return units, _Stemmed(term for unit in asked for term in unit)


def spans(query: str, text: str) -> list[tuple[int, int]]:
    """The stretches ``[start, end)`` of the original text that match the query's terms, in order, none overlapping."""
    terms = {tuple(map(stem, term)) for term in _terms(query)}
    folded, origins = fold_with_origins(text)
    found = _occurrences(terms, list(atoms(folded)))
    return _merged((origins[start][0], origins[end - 1][1]) for start, end in found)


def _terms(text: str) -> list[Term]:
    return list(dict.fromkeys(term for unit in _units(text) for term in unit))[:MAX_TERMS]


def _units(text: str) -> list[tuple[Term, ...]]:
    """The informative parts of a question, each with the terms that stand for it; stop words only if that is all."""
    folded = fold(text)
    informative: dict[tuple[Term, ...], None] = {}
    others: dict[tuple[Term, ...], None] = {}
    for piece in pieces(folded):
        for unit in _units_of(piece):
            (others if _says_nothing(folded, piece, unit) else informative)[unit] = None
    return list(informative or others)[:MAX_TERMS]


def _units_of(piece: Piece) -> Iterator[tuple[Term, ...]]:
    words = tuple(atom.text for atom in piece.parts)
    if piece.whole:
        yield ((piece.whole.text,), words) if len(words) <= _LONGEST_ROW else ((piece.whole.text,),)
        yield from _units_inside(piece.whole, piece.parts)
    elif piece.kind == "run" and len(words) > 1:
        yield from ((pair,) for pair in pairwise(words))
    else:
        yield (words,)


def _units_inside(whole: Atom, parts: Sequence[Atom]) -> Iterator[tuple[Term, ...]]:
    """What hyphens, slashes and colons join is asked for by itself too; a dot binds tighter, and numbers say little."""
    rows = [[parts[0].text]]
    for before, after in pairwise(parts):
        between = whole.text[before.end - whole.start : after.start - whole.start]
        if between.strip(_DOT):
            rows.append([])
        rows[-1].append(after.text)
    if len(rows) > 1:
        yield from ((tuple(row),) for row in rows if any(map(_is_telling, row)))


def _is_telling(word: str) -> bool:
    return len(word) > 1 and not word.isdecimal() and word not in _STOP_WORDS


def _says_nothing(folded: str, piece: Piece, unit: tuple[Term, ...]) -> bool:
    words = unit[0]
    if piece.kind == "run":
        pair = "".join(words)
        grammar = not _ASKING.isdisjoint(pair) or _JOINING.issuperset(pair) or pair in _ASKING_PAIRS
        return grammar and pair not in _PAIRS_KEPT
    if piece.whole:
        return False
    _, start, end = piece.parts[0]
    return (
        words[0] in _STOP_WORDS
        or (words[0] in _CONTRACTED and folded[start - 1 : start] == "'")
        or (words[0].endswith("n") and folded[end : end + 2] == "'t")
    )


class _Stemmed:
    """Stems of those words only that could share one with the question: stemming every word of a text is slow."""

    def __init__(self, terms: Iterable[Term]) -> None:
        # A stem always begins as its word does.
        self._initials = {word[0] for term in terms for word in term if word.isascii()}

    def row(self, words: Iterable[str]) -> list[str]:
        """The stem of each word, or the word itself where the difference cannot matter."""
        return [stem(word) if word[:1] in self._initials else word for word in words]


def _occurrences(terms: Iterable[Term], found: Sequence[Atom]) -> Iterator[tuple[int, int]]:
    by_first: dict[str, list[Term]] = {}
    for term in terms:
        by_first.setdefault(term[0], []).append(term)
    row = _Stemmed(terms).row(atom.text for atom in found)
    for at, word in enumerate(row):
        for term in by_first.get(word, ()):
            if tuple(row[at : at + len(term)]) == term:
                yield found[at].start, found[at + len(term) - 1].end


def _merged(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
