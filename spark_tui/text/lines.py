"""Prepared lines: styled text laid out for a width only when it is looked at; knows style names, not colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from spark_tui.text.fit import breaks
from spark_tui.text.glyphs import glyphs
from spark_tui.text.safe import many_lines, one_line
from spark_tui.text.width import cells

Piece = tuple[str, str]
"""A style name (see ``theme.STYLE_NAMES``) and a text without line breaks."""
ScreenRow = tuple[Piece, ...]
"""What one row of a screen shows, left to right."""


class Block(Protocol):
    """Something that becomes one or more screen rows at a width."""

    def rows(self, width: int) -> list[ScreenRow]:
        """The rows at ``width`` cells, at least one."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, wrapped by cells: ``lead`` opens every row, ``first`` the first one (others are indented)."""

    pieces: tuple[Piece, ...] = ()
    lead: tuple[Piece, ...] = ()
    first: tuple[Piece, ...] = ()
    verbatim: bool = False

    @property
    def text(self) -> str:
        """The words alone."""
        return "".join(text for _style, text in self.pieces)

    def rows(self, width: int) -> list[ScreenRow]:
        """The line wrapped so that no row takes more than ``width`` cells (when 2 cells are left for the words)."""
        hang = row_cells(self.first)
        room = width - row_cells(self.lead) - hang
        indent: tuple[Piece, ...] = (("text", " " * hang),) if hang else ()
        cuts = breaks(self.text, room, self.verbatim)
        return [
            (*self.lead, *(indent if number else self.first), *_slice(self.pieces, start, end))
            for number, (start, end) in enumerate(cuts)
        ]


@dataclass(frozen=True, slots=True)
class Rule:
    """A faint line across the view."""

    def rows(self, width: int) -> list[ScreenRow]:
        """One row of the rule glyph."""
        return [(("faint", glyphs().rule * max(width, 0)),)]


def blank() -> Line:
    """An empty row."""
    return Line()


def plain(text: str, style: str = "text") -> list[Line]:
    """Any text as prepared lines, made safe, one per line of the text."""
    return [Line(((style, line),)) for line in many_lines(text)]


def pair(label: str, value: str, width: int = 12, style: str = "text") -> Line:
    """A dim label in ``width`` cells and its value, which wraps beside it."""
    padded = label + " " * max(width - cells(label), 1)
    return Line(((style, one_line(value)),), first=(("dim", padded),))


def row_cells(pieces: Sequence[Piece]) -> int:
    """Cells the pieces take together."""
    return sum(cells(text) for _style, text in pieces)


def _slice(pieces: Sequence[Piece], start: int, end: int) -> ScreenRow:
    """The pieces of ``text[start:end]``."""
    found: list[Piece] = []
    offset = 0
    for style, text in pieces:
        cut = text[max(start - offset, 0) : max(end - offset, 0)]
        if cut:
            found.append((style, cut))
        offset += len(text)
        if offset >= end:
            break
    return tuple(found)
