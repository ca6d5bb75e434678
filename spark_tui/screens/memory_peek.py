"""Below a narrow list: the whole description of the memory under the cursor, so that nobody has to open it to read it."""

from collections.abc import Sequence

from textual.strip import Strip

from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Block, ScreenRow
from spark_tui.widgets.paint import LineWidget


class Peek(LineWidget):
    """A rule and up to three rows."""

    DEFAULT_CSS = "Peek { height: 4; background: $background; color: $foreground; padding: 0 1 0 3; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: Sequence[Block] = ()

    def show(self, blocks: Sequence[Block]) -> None:
        """Show these; nothing is painted when they are the same."""
        if tuple(blocks) != tuple(self._blocks):
            self._blocks = blocks
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row; when the first block is long, its end gives way to the last one."""
        if y == 0:
            return self.paint([("faint", glyphs().rule * self.size.width)])
        rows = self._rows()
        return self.paint(rows[y - 1] if y <= len(rows) else ())

    def _rows(self) -> list[ScreenRow]:
        width, room = self.size.width, self.size.height - 1
        parts = [block.rows(width) for block in self._blocks]
        if not parts:
            return []
        return [*[row for part in parts[:-1] for row in part][: room - 1], *parts[-1][:1]]
