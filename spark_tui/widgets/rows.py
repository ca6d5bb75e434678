"""What a list shows: rows of cells from a source that is asked for a window at a time; no Textual, no engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from spark_tui.text.fit import Align

KEEP = 1_000
"""The ``Column.priority`` of a column that is never dropped."""


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a cell's text in a style of their own, such as ``match``."""

    start: int
    end: int
    style: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row: safe text on one line (see ``text.safe``), its style name, and spans in other styles."""

    text: str
    style: str = "text"
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a key that is the same across refreshes, cells in the order of the columns, a style for plain cells."""

    key: str
    cells: tuple[Cell | str, ...]
    style: str = "text"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: ``width`` cells, or, with ``flex``, a share of what is left between ``width`` and ``most`` cells.

    Too narrow for all, the column with the lowest ``priority`` goes first; ``KEEP`` never does.
    """

    id: str
    title: str
    width: int
    flex: int = 0
    most: int = 10_000
    priority: int = KEEP
    align: Align = "left"
    sorted: Literal["", "ascending", "descending"] = ""


class RowSource(Protocol):
    """Rows by window; every call is made on the screen's thread and should answer within a few milliseconds."""

    def count(self) -> int:
        """How many rows there are."""
        ...

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """The rows ``start`` to ``stop``; fewer when some have gone meanwhile."""
        ...

    def index_of(self, key: str) -> int | None:
        """Where a key is now; None when it is not listed."""
        ...

    def keys(self, start: int, stop: int) -> Sequence[str]:
        """The keys of the rows ``start`` to ``stop``."""
        ...


class ListSource:
    """A source over rows that are in memory already."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._rows = rows
        self._index = {row.key: at for at, row in enumerate(rows)}

    def count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """The rows ``start`` to ``stop``."""
        return self._rows[start:stop]

    def index_of(self, key: str) -> int | None:
        """Where a key is; None when it is not listed."""
        return self._index.get(key)

    def keys(self, start: int, stop: int) -> Sequence[str]:
        """The keys of the rows ``start`` to ``stop``."""
        return [row.key for row in self._rows[start:stop]]


def column_widths(columns: Sequence[Column], room: int) -> dict[int, int]:
    """Column number → cells, for the columns that fit into ``room`` with gaps; at least the most important one."""
    shown = list(range(len(columns)))
    gap = column_gap(room)
    while len(shown) > 1 and _needed(columns, shown, gap) > room:
        lowest = min(shown, key=lambda at: (columns[at].priority, -at))
        if columns[lowest].priority >= KEEP:
            break
        shown.remove(lowest)
    return _grown(columns, shown, room - gap * (len(shown) - 1))


def column_gap(room: int) -> int:
    """Cells between two columns: two, or one where every cell counts."""
    return 2 if room >= 56 else 1


def _needed(columns: Sequence[Column], shown: Sequence[int], gap: int) -> int:
    return sum(columns[at].width for at in shown) + gap * (len(shown) - 1)


def _grown(columns: Sequence[Column], shown: Sequence[int], room: int) -> dict[int, int]:
    """Spare cells go to the flexible columns by weight, never beyond ``most``; missing ones come off the widest."""
    widths = {at: columns[at].width for at in shown}
    spare = room - sum(widths.values())
    while spare > 0:
        growing = [at for at in shown if columns[at].flex and widths[at] < columns[at].most]
        if not growing:
            break
        weight = sum(columns[at].flex for at in growing)
        for at in growing:
            share = max(spare * columns[at].flex // weight, 1)
            widths[at] += min(share, columns[at].most - widths[at], room - sum(widths.values()))
        spare = room - sum(widths.values())
    while sum(widths.values()) > max(room, 0) and any(widths.values()):
        widths[max(widths, key=lambda at: widths[at])] -= 1
    return widths
