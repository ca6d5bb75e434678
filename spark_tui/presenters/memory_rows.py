"""Memories and search hits as the words of one list row; which columns a screen shows is its own business."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.clock import DAY_MS
from engine.memory.model import Entry, State
from spark_tui.presenters.words import state_mark, state_style, type_word
from spark_tui.text.dates import age
from spark_tui.text.highlight import occurrences
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line
from spark_tui.text.width import cells


@dataclass(frozen=True, slots=True)
class Words:
    """One cell: safe text, its style, and the (start, end) offsets of what a search matched in it."""

    text: str
    style: str = "text"
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a hit stands where it stands; ranks count from 1, None is "not in that channel's list"."""

    fts_rank: int | None
    vector_rank: int | None
    rrf: float
    decay: float
    confidence: float
    score: float


def memory_cells(
    entry: Entry, now_ms: int, searched: Sequence[str] = (), by_creation: bool = False
) -> tuple[Words, ...]:
    """Mark, type, name, description, age, hits of an entry; what no longer applies is dim throughout."""
    state = entry.state(now_ms)
    style = "text" if state is State.ACTIVE else "dim"
    name, description = one_line(entry.name), one_line(entry.description)
    return (
        Words(state_mark(state), state_style(state)),
        Words(type_word(entry.type), "dim"),
        Words(name, style, occurrences(name, searched)),
        Words(description, style, occurrences(description, searched)),
        Words(age(entry.created_at if by_creation else entry.updated_at, now_ms), "dim"),
        Words(str(entry.hit_count) if entry.hit_count else "", "dim"),
    )


def reason_cells(reasons: Reasons | str) -> tuple[Words, ...]:
    """Word rank, vector rank, rrf, decay, confidence, final of a hit; or one word, in the last column."""
    if isinstance(reasons, str):
        return (*(Words("") for _each in range(5)), Words(reasons, "dim"))
    return (
        Words(_rank(reasons.fts_rank), "dim"),
        Words(_rank(reasons.vector_rank), "dim"),
        Words(f"{reasons.rrf:.4f}", "dim"),
        Words(f"{reasons.decay:.2f}", "dim"),
        Words(f"{reasons.confidence:.2f}", "dim"),
        Words(f"{reasons.score:.4f}", "accent"),
    )


def reason_sentence(reasons: Reasons) -> str:
    """The same as one line, for the detail."""
    return _(
        "words rank {fts}, vector rank {vector}: rrf {rrf:.4f} x decay {decay:.2f} x confidence {confidence:.2f}"
        " = {score:.4f}"
    ).format(
        fts=_rank(reasons.fts_rank),
        vector=_rank(reasons.vector_rank),
        rrf=reasons.rrf,
        decay=reasons.decay,
        confidence=reasons.confidence,
        score=reasons.score,
    )


def search_words(query: str) -> tuple[str, ...]:
    """What of a query is worth marking in the rows: its words, and every pair of neighbouring CJK characters."""
    found: list[str] = []
    for word in one_line(query).split():
        if word.isascii() or len(word) < 3:
            found.append(word)
        else:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
    return tuple(found)


def age_width() -> int:
    """Cells of the longest age in the language in use, from minutes to months."""
    minute, hour, day = 60_000, 3_600_000, DAY_MS
    return max(cells(age(0, passed)) for passed in (59 * minute, 23 * hour, 29 * day, 11 * 30 * day))


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)
