"""Rows and headers of a list as styled pieces; pure, so that it can be tested without an app."""

from collections.abc import Iterator, Mapping, Sequence

from spark_tui.text.fit import fit, truncate
from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Piece
from spark_tui.text.width import cells
from spark_tui.widgets.rows import Cell, Column, Row, Span

GUTTER = 3
"""Cells before the first column: the cursor's mark, the person's mark, a space."""


def row_pieces(
    row: Row, columns: Sequence[Column], widths: Mapping[int, int], gap: int, cursor: bool, marked: bool
) -> list[Piece]:
    """One row, from its first gutter cell to the end of its last column."""
    marks = glyphs()
    pieces: list[Piece] = [
        ("accent", marks.cursor if cursor else " "),
        ("marked", marks.marked if marked else " "),
        ("text", " "),
    ]
    for number, (at, width) in enumerate(widths.items()):
        if number:
            pieces.append(("text", " " * gap))
        pieces += _cell_pieces(_cell(row, at), row.style, width, columns[at])
    return pieces


def header_pieces(columns: Sequence[Column], widths: Mapping[int, int], gap: int, place: str = "") -> list[Piece]:
    """The titles over the columns, the sorted one with its direction, ``place`` at the end of the widest one."""
    marks = glyphs()
    pieces: list[Piece] = [("text", " " * GUTTER)]
    widest = max(widths, key=lambda at: widths[at], default=0)
    for number, (at, width) in enumerate(widths.items()):
        column = columns[at]
        arrow = {"ascending": marks.ascending, "descending": marks.descending}.get(column.sorted, "")
        title = truncate(column.title, width - len(arrow)) + arrow
        room = width - cells(title)
        text = fit(title, width, column.align)
        if at == widest and place and room >= cells(place) + 2:
            text = title + " " * (room - cells(place)) + place
        pieces.append(("dim", " " * (gap if number else 0) + text))
    return pieces


def _cell(row: Row, at: int) -> Cell:
    cell = row.cells[at] if at < len(row.cells) else ""
    return Cell(cell) if isinstance(cell, str) else cell


def _cell_pieces(cell: Cell, row_style: str, width: int, column: Column) -> Iterator[Piece]:
    """The cell's text in exactly ``width`` cells, spans kept where they are still visible."""
    style = row_style if cell.style == "text" else cell.style
    shown = truncate(cell.text, width)
    kept = len(shown) if shown == cell.text else max(len(shown) - len(glyphs().ellipsis), 0)
    padding = " " * (width - cells(shown))
    if column.align == "right":
        yield style, padding
    yield from _spanned(shown, kept, cell.spans, style)
    if column.align != "right":
        yield style, padding


def _spanned(text: str, kept: int, spans: Sequence[Span], style: str) -> Iterator[Piece]:
    at = 0
    for start, end, span_style in spans:
        start, end = max(start, at), min(end, kept)
        if start >= end:
            continue
        yield style, text[at:start]
        yield span_style, text[start:end]
        at = end
    yield style, text[at:]
