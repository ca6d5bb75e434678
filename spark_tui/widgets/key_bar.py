"""The bottom line: the keys that work here, whole hints dropped by priority, the way out last and always there."""

from collections.abc import Sequence
from typing import NamedTuple

from textual.strip import Strip

from spark_tui.text.fit import truncate
from spark_tui.text.lines import Piece, row_cells
from spark_tui.text.width import cells
from spark_tui.widgets.paint import LineWidget, spread

_GAP = 3


class Hint(NamedTuple):
    """A key and what it does, in the current language; low ``priority`` goes first when there is little room."""

    key: str
    label: str
    priority: int = 50

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The hint as styled text."""
        return (("key", self.key), ("dim", " " + self.label))


class KeyBar(LineWidget):
    """Hints on the left, help and the way out on the right; a notice stands in for the hints until it is cleared."""

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; background: $background; color: $foreground; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[Hint, ...] = ()
        self._tail: tuple[Hint, ...] = ()
        self._notice: Piece | None = None

    def show(self, hints: Sequence[Hint], tail: Sequence[Hint] = ()) -> None:
        """Show these hints in this order; ``tail`` stands at the right end, its last hint is never dropped."""
        if (tuple(hints), tuple(tail)) != (self._hints, self._tail):
            self._hints, self._tail = tuple(hints), tuple(tail)
            self.refresh()

    def say(self, text: str, style: str = "text") -> None:
        """Say one sentence here until ``clear``."""
        self._notice = (style, text)
        self.refresh()

    def clear(self) -> None:
        """Take the notice away."""
        if self._notice is not None:
            self._notice = None
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        said = cells(self._notice[1]) + _GAP if self._notice else 0
        end = joined(fitting_hints(self._tail, width - said, keep_last=True))
        room = width - row_cells(end) - (_GAP if end else 0)
        if self._notice is None:
            start = joined(fitting_hints(self._hints, room))
        else:
            start = [(self._notice[0], truncate(self._notice[1], room))]
        return self.paint(spread(start, end, width))


def fitting_hints(hints: Sequence[Hint], width: int, keep_last: bool = False) -> list[Hint]:
    """The hints that fit ``width`` cells, in their order; the lowest priority (among equals the last) goes first."""
    kept = list(hints)
    while kept and row_cells(joined(kept)) > width:
        if keep_last and len(kept) == 1:
            break
        droppable = kept[:-1] if keep_last else kept
        lowest = min(hint.priority for hint in droppable)
        at = max(at for at, hint in enumerate(droppable) if hint.priority == lowest)
        del kept[at]
    return kept


def joined(hints: Sequence[Hint]) -> list[Piece]:
    """The hints as one run of pieces."""
    pieces: list[Piece] = []
    for number, hint in enumerate(hints):
        pieces += [("text", " " * _GAP)] if number else []
        pieces += hint.pieces
    return pieces
