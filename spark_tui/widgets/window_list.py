"""A list whose rows come from a source by window: 100,000 rows cost what 1,000 cost; it never holds all of them."""

from collections.abc import Sequence

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from spark_tui.text.fit import wrap
from spark_tui.text.lines import Piece
from spark_tui.widgets.list_marks import Marks
from spark_tui.widgets.list_window import ListWindow
from spark_tui.widgets.motion import Motion
from spark_tui.widgets.paint import LineWidget
from spark_tui.widgets.row_paint import GUTTER, header_pieces, row_pieces
from spark_tui.widgets.rows import Column, ListSource, Row, RowSource, column_gap, column_widths

_WHEEL = 3
_KEPT = 400


class WindowList(LineWidget, can_focus=True):
    """Rows under an optional header; the cursor and the scroll position follow the row's key across every refresh.

    ``driven``: keys reach the list while a field has the focus, so the cursor looks as if the list had it.
    """

    CHOOSES = True
    DEFAULT_CSS = "WindowList { width: 1fr; height: 1fr; background: $background; color: $foreground; }"

    class Highlighted(Message):
        """The cursor is on another row now; ``key`` is None when the list is empty."""

        def __init__(self, list: "WindowList", key: str | None) -> None:
            super().__init__()
            self.list, self.key = list, key

        @property
        def control(self) -> "WindowList":
            """The list, for ``@on(…, "#selector")``."""
            return self.list

    class Chosen(Message):
        """A person opened the row (enter or a click on the cursor)."""

        def __init__(self, list: "WindowList", key: str) -> None:
            super().__init__()
            self.list, self.key = list, key

        @property
        def control(self) -> "WindowList":
            """The list, for ``@on(…, "#selector")``."""
            return self.list

    class Marked(Message):
        """The marks changed; ``count`` rows are marked."""

        def __init__(self, list: "WindowList", count: int) -> None:
            super().__init__()
            self.list, self.count = list, count

        @property
        def control(self) -> "WindowList":
            """The list, for ``@on(…, "#selector")``."""
            return self.list

    def __init__(
        self,
        columns: Sequence[Column],
        source: RowSource | None = None,
        *,
        empty: str = "",
        show_header: bool = True,
        show_position: bool = True,
        driven: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.columns: tuple[Column, ...] = tuple(columns)
        self.source: RowSource = source if source is not None else ListSource()
        self._window = ListWindow()
        self._marks = Marks(self.source)
        self._empty = empty
        self._head = 1 if show_header else 0
        self._position = show_position
        self._driven = driven
        self._placed = False
        self._announced: str | None = None
        self._painted: dict[tuple[int, str, bool], Strip] = {}

    def on_mount(self) -> None:
        """Read the source for the first time."""
        self._window.settle(self.source)
        self._announce()

    @property
    def count(self) -> int:
        """How many rows the source had when it was last asked."""
        return self._window.count

    @property
    def cursor_key(self) -> str | None:
        """The key under the cursor; None when there are no rows."""
        return self._window.key

    @property
    def cursor_index(self) -> int:
        """The index under the cursor."""
        return self._window.index

    def set_source(self, source: RowSource, *, from_top: bool = False) -> None:
        """Show other rows; the cursor stays on its key, on the same line of the screen, when the key is among them.

        ``from_top``: the rows answer a new question, so the cursor goes to the first one.
        """
        self.source = source
        self._read(from_top)

    def reload(self) -> None:
        """The same source has other data now; only lines that changed are painted again."""
        self._read(from_top=False)

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns; the rows are read again, since their cells follow the columns."""
        self.columns = tuple(columns)
        self._window.forget()
        self._painted.clear()
        self.refresh()

    def set_empty(self, text: str) -> None:
        """What to say when there are no rows."""
        self._empty = text
        if not self.count:
            self.refresh()

    def move_to(self, key: str) -> bool:
        """Put the cursor on a key; False when it is not listed."""
        index = self.source.index_of(key)
        if index is not None:
            self._go(index)
        return index is not None

    def move(self, motion: Motion) -> None:
        """Follow a movement key."""
        if motion is Motion.CHOOSE:
            if self.cursor_key is not None:
                self.post_message(self.Chosen(self, self.cursor_key))
        elif self.count:
            self._go(motion.target(self.cursor_index, self.count, self._window.page))

    @property
    def marked(self) -> frozenset[str]:
        """The marked keys, an open range included."""
        return self._marks.all(self.cursor_index)

    def targets(self) -> tuple[str, ...]:
        """What a verb acts on, in the order of the list: the marked rows, else the one under the cursor."""
        chosen = self._marks.ordered(self.cursor_index)
        return chosen or ((self.cursor_key,) if self.cursor_key is not None else ())

    def toggle_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and step down."""
        if self.cursor_key is not None:
            self._marks.toggle(self.cursor_key)
            self._marks_changed(self.cursor_index - self._window.top, 1)
            self.move(Motion.DOWN)

    def mark_all(self) -> None:
        """Mark every row of the source; when all are marked already, none."""
        self._marks.toggle_all()
        self._marks_changed()

    def toggle_range(self) -> None:
        """Start a range at the cursor, or end it and keep what it covers marked."""
        if self.cursor_key is not None:
            self._marks.toggle_range(self.cursor_index)
            self._marks_changed()

    def clear_marks(self) -> bool:
        """Drop an open range, or else all marks; False when there was neither."""
        cleared = self._marks.clear()
        if cleared:
            self._marks_changed()
        return cleared

    def render_line(self, y: int) -> Strip:
        """One line of the view: header, row, or the words for an empty list."""
        room = self.size.width - GUTTER - 1
        if y < self._head:
            return self.paint(self._header(room))
        if not self.count:
            words = wrap(self._empty, room)[y - self._head :] if self._empty else []
            return self.paint([("dim", " " * GUTTER + words[0])] if words else [])
        index = self._window.top + y - self._head
        row = self._window.row(index)
        return self._row_strip(row, index) if row is not None else self.paint(())

    def notify_style_update(self) -> None:
        """The theme changed: no painted line holds any more."""
        self._painted.clear()
        super().notify_style_update()

    def _row_strip(self, row: Row, index: int) -> Strip:
        """The row as it is drawn now; kept by index until the rows, the width or the colours change."""
        cursor = index == self.cursor_index
        band = ("selection" if self.has_focus or self._driven else "selection-blurred") if cursor else ""
        look = (index, band, self._marks.has(row.key, index, self.cursor_index))
        if look not in self._painted:
            if len(self._painted) > _KEPT:
                self._painted.clear()
            room = self.size.width - GUTTER - 1
            widths = column_widths(self.columns, room)
            pieces = row_pieces(row, self.columns, widths, column_gap(room), cursor, marked=look[2])
            self._painted[look] = self.paint(pieces, band)
        return self._painted[look]

    def _header(self, room: int) -> list[Piece]:
        place = f"{self.cursor_index + 1}/{self.count}" if self.count and self._position else ""
        return header_pieces(self.columns, column_widths(self.columns, room), column_gap(room), place)

    def _go(self, index: int) -> None:
        """Move the cursor; two lines are painted again, or all rows when the view has to scroll."""
        window = self._window
        before, top = window.index, window.top
        if index == before:
            return
        window.go(index)
        if window.top != top:
            self.refresh(self._lines(0, window.page))
        elif self._marks.ranging:
            first, last = sorted((before, index))
            self.refresh(self._lines(first - top, last - first + 1))
        else:
            self.refresh(self._lines(before - top, 1), self._lines(index - top, 1))
        if self._head and self._position:
            self.refresh(Region(0, 0, self.size.width, 1))
        self._announce()

    def _read(self, from_top: bool) -> None:
        if not self.is_mounted:
            return
        before = self._picture()
        self._painted.clear()
        self._marks.rebase(self.source)
        if from_top:
            self._window.to_top()
        self._window.settle(self.source)
        self._repaint_changes(before)
        self._announce()

    def _announce(self) -> None:
        if self.cursor_key != self._announced or self.cursor_key is None:
            self._announced = self.cursor_key
            self.post_message(self.Highlighted(self, self.cursor_key))

    def _lines(self, first: int, count: int) -> Region:
        """The place of some rows of the view, counted below the header."""
        return Region(0, self._head + first, self.size.width, count)

    def _picture(self) -> list[object]:
        """What each line of the view shows, to compare before and after a reload."""
        shown: list[object] = [(self.count, self.cursor_index)] if self._head else []
        for index in range(self._window.top, self._window.top + self._window.page):
            row = self._window.row(index)
            marked = row is not None and self._marks.has(row.key, index, self.cursor_index)
            shown.append((row, index == self.cursor_index, marked))
        return shown

    def _repaint_changes(self, before: list[object]) -> None:
        after = self._picture()
        if not self.count:
            self.refresh()
            return
        changed = [y for y, line in enumerate(after) if y >= len(before) or before[y] != line]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _marks_changed(self, first: int = 0, count: int | None = None) -> None:
        """Paint the rows of the view that may be marked otherwise now (all of them unless told), and say so."""
        self.refresh(self._lines(first, self._window.page if count is None else count))
        self.post_message(self.Marked(self, len(self.marked)))

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in view."""
        self._painted.clear()
        self._window.resize(max(self.size.height - self._head, 1), self._placed)
        self._placed = True
        self.refresh()

    def on_focus(self) -> None:
        """Only the cursor's line looks different with the focus."""
        self.refresh(self._lines(self.cursor_index - self._window.top, 1))

    on_blur = on_focus

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; on the cursor it opens the row."""
        index = self._window.top + event.y - self._head
        if event.y < self._head or index >= self.count:
            return
        if index == self.cursor_index:
            self.move(Motion.CHOOSE)
        else:
            self._go(index)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor a few rows."""
        event.stop()
        self._wheel(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor a few rows."""
        event.stop()
        self._wheel(-_WHEEL)

    def _wheel(self, step: int) -> None:
        if self.count:
            self._go(max(0, min(self.cursor_index + step, self.count - 1)))
