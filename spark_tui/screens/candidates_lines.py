"""The two lines that hold the area together: its tabs with their numbers, and a rule above the page; no engine here."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Piece, row_cells
from spark_tui.widgets.paint import LineWidget

_GAP, _GAP_NARROW, _NARROW = 3, 2, 56
_KEYS = "[ ]"


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab: the area it opens, its words, how many things are behind it (empty: nothing to say) and in which style."""

    area: str
    label: str
    count: str = ""
    style: str = "dim"


class TabLine(LineWidget):
    """The tabs side by side, the present one bright; what does not fit gives way to the present one."""

    DEFAULT_CSS = "TabLine { height: 1; background: $background; color: $foreground; padding: 0 1 0 3; }"

    class Chosen(Message):
        """A person clicked on a tab."""

        def __init__(self, area: str) -> None:
            super().__init__()
            self.area = area

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here
        self._tabs: tuple[Tab, ...] = ()

    def show(self, tabs: Sequence[Tab]) -> None:
        """Show these; nothing is painted when they are the same."""
        if tuple(tabs) != self._tabs:
            self._tabs = tuple(tabs)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The tabs, and the keys that turn them where there is room."""
        pieces: list[Piece] = []
        for number, tab in enumerate(self._fitting()):
            pieces += [("text", " " * self._gap)] if number else []
            pieces += self._pieces(tab)
        spare = self.content_size.width - row_cells(pieces) - len(_KEYS)
        if spare >= _GAP:
            pieces += [("text", " " * spare), ("key", _KEYS)]
        return self.paint(pieces)

    def on_click(self, event: events.Click) -> None:
        """Which tab is under the pointer."""
        at = event.x - self.gutter.left
        for tab in self._fitting():
            wide = self._cells(tab)
            if 0 <= at < wide:
                self.post_message(self.Chosen(tab.area))
                return
            at -= wide + self._gap

    def _pieces(self, tab: Tab) -> list[Piece]:
        if tab.area == self._here:
            return [("accent", tab.label), *([("accent", f" {tab.count}")] if tab.count else [])]
        return [("dim", tab.label), *([(tab.style, f" {tab.count}")] if tab.count else [])]

    @property
    def _gap(self) -> int:
        return _GAP if self.content_size.width >= _NARROW else _GAP_NARROW

    def _cells(self, tab: Tab) -> int:
        return row_cells(self._pieces(tab))

    def _fitting(self) -> list[Tab]:
        """The present tab and its neighbours, as many as the width takes, in their order."""
        shown = list(self._tabs)
        while len(shown) > 1 and sum(map(self._cells, shown)) + self._gap * (len(shown) - 1) > self.content_size.width:
            at_end = shown[-1].area != self._here
            del shown[-1 if at_end else 0]
        return shown


class RuleLine(LineWidget):
    """A faint rule across the pane."""

    DEFAULT_CSS = "RuleLine { height: 1; background: $background; color: $foreground; }"

    def render_line(self, y: int) -> Strip:
        """The rule."""
        return self.paint([("faint", glyphs().rule * self.size.width)])
