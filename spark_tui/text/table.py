"""A table as screen rows: columns shrink and wrap to the width, and become labelled lines where there is no room."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from spark_tui.text.fit import fit
from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Line, Piece, ScreenRow, row_cells

TableCell = tuple[Piece, ...]
_GAP = 2
_NARROWEST = 6


@dataclass(frozen=True, slots=True)
class Table:
    """Header cells and body rows of styled cells; rows may be shorter than the header."""

    header: tuple[TableCell, ...]
    body: tuple[tuple[TableCell, ...], ...]

    def rows(self, width: int) -> list[ScreenRow]:
        """The table at ``width`` cells."""
        widths = self._widths(width)
        if widths is None:
            return self._stacked(width)
        found = _table_row(self.header, widths)
        found.append((("faint", (" " * _GAP).join(glyphs().rule * size for size in widths)),))
        for row in self.body:
            found += _table_row(row, widths)
        return found

    def _widths(self, width: int) -> list[int] | None:
        """Column widths that fit, the widest columns giving way first; None when a column would get too narrow."""
        widest = [
            max(1, *(row_cells(row[at]) for row in (self.header, *self.body) if at < len(row)))
            for at in range(len(self.header))
        ]
        room = width - _GAP * (len(widest) - 1)
        widths = _shared(widest, room)
        if any(size < min(_NARROWEST, wanted) for size, wanted in zip(widths, widest, strict=True)):
            return None
        return widths

    def _stacked(self, width: int) -> list[ScreenRow]:
        """One ``header: value`` line per cell, a blank row between the rows of the table."""
        found: list[ScreenRow] = []
        for row in self.body:
            for title, cell in zip(self.header, row, strict=False):
                label = "".join(text for _style, text in title)
                found += Line((("dim", f"{label}: "), *cell)).rows(width)
            found.append(())
        return found[:-1] or Line(sum(self.header, ())).rows(width)


def _shared(wanted: Sequence[int], room: int) -> list[int]:
    """What each column gets of ``room``: all it wants, or an equal share for those that want more than that."""
    widths = [0] * len(wanted)
    left = room
    for rank, at in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        widths[at] = min(wanted[at], left // (len(wanted) - rank))
        left -= widths[at]
    return widths


def _table_row(row: Sequence[TableCell], widths: Sequence[int]) -> list[ScreenRow]:
    """The screen rows of one table row, cells wrapped side by side."""
    columns = [Line(cell).rows(size) for cell, size in zip(_filled(row, len(widths)), widths, strict=True)]
    found: list[ScreenRow] = []
    for parts in zip_longest(*columns, fillvalue=()):
        pieces: list[Piece] = []
        for at, (part, size) in enumerate(zip(parts, widths, strict=True)):
            gap = _GAP if at + 1 < len(widths) else 0
            pieces += [*part, ("text", fit("", size - row_cells(part) + gap))]
        found.append(tuple(pieces))
    return found


def _filled(row: Sequence[TableCell], count: int) -> list[TableCell]:
    """The row with exactly ``count`` cells."""
    return [*row[:count], *[()] * (count - len(row))]
