"""The least Textual app that fills a screen, and the least list of lines with a cursor: what the screens are held to.

``python -m benchmarks.bare_app frame`` or ``lines COUNT``; q leaves.
"""

import sys
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

CURSOR = Style(reverse=True)
PLAIN = Style()


class Bare(App[None]):
    """A screen of text or, given lines, a list of them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "quit")]

    def __init__(self, lines: list[str] | None = None) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        """One widget."""
        if self._lines is None:
            yield Static("\n".join(f"{number:2} {'bare ' * 14}" for number in range(200)), markup=False)
        else:
            yield Lines(self._lines)


class Lines(ScrollView, can_focus=True):
    """Lines by the line API, a cursor and two keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "move(1)"), Binding("up", "move(-1)")]

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._rows = lines
        self._cursor = 0
        self.virtual_size = Size(80, len(lines))

    def render_line(self, y: int) -> Strip:
        """One line; the cursor's is reversed."""
        at = self.scroll_offset.y + y
        text = self._rows[at] if at < len(self._rows) else ""
        style = CURSOR if at == self._cursor else PLAIN
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, style)

    def action_move(self, by: int) -> None:
        """The cursor goes by that many lines and stays in sight."""
        before, self._cursor = self._cursor, max(0, min(len(self._rows) - 1, self._cursor + by))
        top = self.scroll_offset.y
        for line in (before, self._cursor):
            self.refresh(Region(0, line - top, self.size.width, 1))
        if not top <= self._cursor < top + self.size.height:
            self.scroll_to(y=top + by, animate=False)


def main() -> None:
    """Run one of the two."""
    if sys.argv[1] == "frame":
        Bare().run()
        return
    from benchmarks.texts import Writer

    Bare([f"{each.name}  {each.description}" for each in Writer().memories(int(sys.argv[2]))]).run()


if __name__ == "__main__":
    main()
