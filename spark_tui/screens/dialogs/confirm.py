"""Asks before something is destroyed: names it, default Cancel, wants a letter and never Enter (REQ-33)."""

from collections.abc import Iterable, Sequence

from textual import events
from textual.widget import Widget

from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, blank, plain
from spark_tui.widgets.key_bar import Hint
from spark_tui.widgets.line_view import LineView


class ConfirmDialog(Sheet[bool]):
    """Answers True only after its letter was typed; Enter, Esc, q and every other way out answer False.

    ``lines`` name what is concerned and what happens to it; ``letter`` is one lower-case letter other than q.
    """

    DEFAULT_CSS = "ConfirmDialog LineView { height: auto; }"

    def __init__(self, title: str, lines: Sequence[str], confirm: str, letter: str = "y") -> None:
        super().__init__(title)
        self._confirm = confirm
        self._letter = letter
        blocks: list[Block] = [block for line in lines for block in plain(line)]
        self._view = ConfirmText([blank(), *blocks, blank()])

    def body(self) -> Iterable[Widget]:
        """What is concerned."""
        yield self._view

    def move_target(self) -> object:
        """A long question scrolls."""
        return self._view

    def nothing(self) -> bool:
        """Cancel."""
        return False

    async def on_key(self, event: events.Key) -> None:
        """The letter confirms, Enter cancels."""
        if event.character == self._letter:
            event.stop()
            event.prevent_default()
            self.dismiss(True)
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self.dismiss(False)

    def _hints(self) -> tuple[list[Hint], list[Hint]]:
        return [Hint(self._letter, self._confirm, 90)], [Hint("enter esc", _("cancel"), 99)]


class ConfirmText(LineView, can_focus=False):
    """The lines of the question, as high as they are, at most half the screen."""

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Rows of all lines at this width."""
        return self.height_at(width, self.app.size.height // 2)
