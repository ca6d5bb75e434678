"""Shows a page of prepared lines in a sheet: previews, help, a whole error; nothing can be changed in it."""

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.lines import Block
from spark_tui.widgets.line_view import LineView


class TextViewDialog(Sheet[None]):
    """A titled, scrolling page; how far down it is stands at the end of the title."""

    DEFAULT_CSS = "TextViewDialog > #sheet { height: 100%; }"

    def __init__(self, title: str, blocks: Sequence[Block]) -> None:
        super().__init__(title)
        self._title_text = title
        self._view = LineView(blocks)

    def body(self) -> Iterable[Widget]:
        """The page."""
        yield self._view

    def on_mount(self) -> None:
        """The page takes the keys."""
        self._view.focus()

    def on_line_view_moved(self, event: LineView.Moved) -> None:
        """Say how far down the page is."""
        self.title_rule.set_title(self._title_text, event.view.progress)

    def on_resize(self) -> None:
        """The page may fit now, or no longer."""
        self.call_after_refresh(lambda: self.title_rule.set_title(self._title_text, self._view.progress))
