"""The top line: where one is on the left, how things stand on the right; whole words dropped by priority."""

from collections.abc import Sequence
from typing import NamedTuple

from textual.strip import Strip

from spark_tui.text.fit import truncate
from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Piece, row_cells
from spark_tui.widgets.paint import LineWidget, spread


class Word(NamedTuple):
    """A word or short phrase in a style; low ``priority`` goes first when there is little room."""

    text: str
    style: str = "dim"
    priority: int = 50


class TopLine(LineWidget):
    """Words at both ends of one line; the first word on the left always stays."""

    DEFAULT_CSS = "TopLine { dock: top; height: 1; background: $background; color: $foreground; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._words: tuple[tuple[Word, ...], tuple[Word, ...]] = ((), ())

    def show(self, left: Sequence[Word], right: Sequence[Word] = ()) -> None:
        """Show these words; nothing is painted when they are the same."""
        words = (tuple(left), tuple(right))
        if words != self._words:
            self._words = words
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        left, right = fitting_words(*self._words, width)
        return self.paint(spread(left, right, width))


def fitting_words(left: Sequence[Word], right: Sequence[Word], width: int) -> tuple[list[Piece], list[Piece]]:
    """The pieces of both ends that fit with two cells between them; a first word too long for the line is cut."""
    kept = [[word for word in left if word.text], [word for word in right if word.text]]
    while row_cells(_joined(kept[0])) + row_cells(_joined(kept[1])) + 2 > width:
        droppable = [(word.priority, side, -at) for side in (0, 1) for at, word in enumerate(kept[side]) if side or at]
        if not droppable:
            break
        _priority, side, at = min(droppable)
        del kept[side][-at]
    pieces = _joined(kept[0])
    if row_cells(pieces) > width:
        pieces = [(kept[0][0].style, truncate(kept[0][0].text, width))]
    return pieces, _joined(kept[1])


def _joined(words: Sequence[Word]) -> list[Piece]:
    pieces: list[Piece] = []
    for number, word in enumerate(words):
        pieces += [("faint", f" {glyphs().separator} ")] if number else []
        pieces.append((word.style, word.text))
    return pieces
