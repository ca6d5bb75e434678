"""The first picture: out before the home is opened and before the code of any area is read; it shows one word."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen

from spark_tui import actions
from spark_tui.text.i18n import _
from spark_tui.widgets.action_keys import ActionKeys
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.top_line import TopLine, Word


class OpeningScreen(ActionKeys, Screen[None]):
    """Gives way to the first area as soon as the home is open."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FRAME,)

    def __init__(self) -> None:
        super().__init__()
        self.top_line = TopLine()

    def compose(self) -> ComposeResult:
        """Top line and key bar."""
        yield self.top_line
        yield KeyBar()

    def on_mount(self) -> None:
        """Say what is going on."""
        self.top_line.show([Word(_("opening"), "dim", 100)])
