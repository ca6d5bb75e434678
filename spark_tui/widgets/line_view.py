"""A page of prepared lines, laid out only where it is looked at: 128 kB opens as fast as one screen of it."""

from collections.abc import Sequence

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Block, ScreenRow
from spark_tui.widgets.motion import Motion
from spark_tui.widgets.paint import LineWidget

_WHEEL = 3
_EDGE = 2
_Place = tuple[int, int]  # block, row inside it


class LineView(LineWidget, can_focus=True):
    """Scrolls through blocks by screen rows without ever knowing the height of all of them."""

    DEFAULT_CSS = "LineView { width: 1fr; height: 1fr; background: $background; color: $foreground; padding: 0 1 0 0; }"

    class Moved(Message):
        """The view scrolled or shows something else; ``view.progress`` says where it is."""

        def __init__(self, view: "LineView") -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> "LineView":
            """The view, for ``@on(…, "#selector")``."""
            return self.view

    def __init__(self, blocks: Sequence[Block] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._blocks: Sequence[Block] = blocks
        self._top: _Place = (0, 0)
        self._laid: dict[int, list[ScreenRow]] = {}
        self._laid_width = 0
        self._screen: list[ScreenRow] | None = None

    def show(self, blocks: Sequence[Block], keep_place: bool = False) -> None:
        """Show other lines, from the top unless ``keep_place`` (the same text with a small change)."""
        self._blocks = blocks
        self._top = (min(self._top[0], max(len(blocks) - 1, 0)), self._top[1]) if keep_place else (0, 0)
        before = self._screen
        self._forget()
        if self.is_mounted:
            self._top = min(self._top, self._last_top())
            self._repaint_changes(before)
        self.post_message(self.Moved(self))

    def move(self, motion: Motion) -> None:
        """Scroll by a movement key."""
        page = max(self.size.height, 1)
        match motion:
            case Motion.TOP:
                self._go((0, 0))
            case Motion.BOTTOM:
                self._go(self._last_top())
            case Motion.UP | Motion.DOWN:
                self._go(self._moved(1 if motion is Motion.DOWN else -1))
            case Motion.HALF_UP | Motion.HALF_DOWN:
                self._go(self._moved(page // 2 if motion is Motion.HALF_DOWN else -(page // 2)))
            case Motion.PAGE_UP | Motion.PAGE_DOWN:
                self._go(self._moved(page - 1 if motion is Motion.PAGE_DOWN else 1 - page))
            case _:
                pass

    @property
    def progress(self) -> str:
        """How far down the page the view is, in percent of its lines; empty when all of it is in view."""
        last = self._last_top()
        if last == (0, 0):
            return ""
        if self._top >= last:
            return "100%"
        return f"{100 * self._top[0] // max(last[0], 1)}%" if last[0] else f"{100 * self._top[1] // last[1]}%"

    def height_at(self, width: int, most: int) -> int:
        """Rows all lines take at ``width`` cells, counted no further than ``most``."""
        rows = 0
        for block in self._blocks:
            rows += len(block.rows(max(width - _EDGE, 2)))
            if rows >= most:
                return most
        return rows

    def render_line(self, y: int) -> Strip:
        """One row of the view."""
        if self._screen is None or self._laid_width != self._room:
            self._screen = self._rows_from(self._top, self.size.height)
        edge = glyphs().bar if self.has_focus else " "
        return self.paint([("accent", edge + " "), *(self._screen[y] if y < len(self._screen) else ())])

    @property
    def _room(self) -> int:
        """Cells for the text: the edge that shows the focus and a space are taken off."""
        return max(self.size.width - _EDGE, 2)

    def on_focus(self) -> None:
        """The edge shows where the keys go."""
        self.refresh()

    on_blur = on_focus

    def on_resize(self, event: events.Resize) -> None:
        """Lines wrap differently now; the block at the top stays there."""
        self._forget()
        self._top = min((self._top[0], 0), self._last_top())
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls a few rows."""
        event.stop()
        self._go(self._moved(_WHEEL))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls a few rows."""
        event.stop()
        self._go(self._moved(-_WHEEL))

    def _go(self, place: _Place) -> None:
        if place != self._top:
            self._top = place
            self._screen = None
            self.refresh()
            self.post_message(self.Moved(self))

    def _repaint_changes(self, before: list[ScreenRow] | None) -> None:
        """Paint only the rows that differ from those shown before."""
        self._screen = self._rows_from(self._top, self.size.height)
        if before is None:
            self.refresh()
            return
        for y in range(self.size.height):
            if before[y : y + 1] != self._screen[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def _forget(self) -> None:
        self._laid.clear()
        self._screen = None

    def _rows(self, block: int) -> list[ScreenRow]:
        """The rows of one block at the present width."""
        if self._laid_width != self._room:
            self._laid_width = self._room
            self._laid.clear()
        if block not in self._laid:
            self._laid[block] = self._blocks[block].rows(self._room)
        return self._laid[block]

    def _rows_from(self, place: _Place, count: int) -> list[ScreenRow]:
        found: list[ScreenRow] = []
        block, row = place
        while block < len(self._blocks) and len(found) < count:
            found += self._rows(block)[row:]
            block, row = block + 1, 0
        return found[:count]

    def _moved(self, step: int) -> _Place:
        """The top row ``step`` rows further, at most the last one that leaves no room unused."""
        block, row = self._top
        row += step
        while row < 0 and block > 0:
            block -= 1
            row += len(self._rows(block))
        while block < len(self._blocks) and row >= len(self._rows(block)):
            row -= len(self._rows(block))
            block += 1
        return max((0, 0), min((block, row), self._last_top()))

    def _last_top(self) -> _Place:
        """The top row at which the end of the text meets the bottom of the view."""
        missing = max(self.size.height, 1)
        for block in range(len(self._blocks) - 1, -1, -1):
            height = len(self._rows(block))
            if height >= missing:
                return (block, height - missing)
            missing -= height
        return (0, 0)
