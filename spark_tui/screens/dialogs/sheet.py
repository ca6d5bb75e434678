"""The common shape of every dialog: a titled sheet at the bottom of the screen with its own key bar."""

from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from spark_tui import actions
from spark_tui.text.fit import truncate
from spark_tui.text.glyphs import glyphs
from spark_tui.text.safe import one_line
from spark_tui.text.width import cells
from spark_tui.widgets.action_keys import ActionKeys
from spark_tui.widgets.form_field import FormBody
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.paint import LineWidget

Answer = TypeVar("Answer")


class TitleRule(LineWidget):
    """A rule across the screen with a title in it: the upper edge of a sheet."""

    DEFAULT_CSS = "TitleRule { height: 1; background: $raised; color: $foreground; }"

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = one_line(title)
        self._end = ""

    def set_title(self, title: str, end: str = "") -> None:
        """Another title; ``end`` is said at the right end."""
        self._title, self._end = one_line(title), end
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        rule = glyphs().rule
        width = self.size.width
        title = truncate(self._title, width - 4)
        end = f" {self._end} " if self._end and cells(title) + cells(self._end) + 8 <= width else ""
        middle = rule * max(width - cells(title) - cells(end) - 5, 0)
        pieces = [("faint", rule * 2), ("strong", f" {title} "), ("faint", middle), ("dim", end), ("faint", rule)]
        return self.paint(pieces)


class Sheet(ActionKeys, ModalScreen[Answer], Generic[Answer]):
    """A dialog; closing it by ``esc`` or ``q`` answers ``nothing()`` and changes nothing."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.DIALOG, actions.MOVE)
    DEFAULT_CSS = """
    Sheet {
        align: left bottom; background: transparent;
        &:ansi { background: transparent; }
        & > #sheet { height: auto; max-height: 100%; width: 100%; background: $raised; }
        & > #sheet > KeyBar { dock: none; background: $raised; }
        & LineView, & WindowList { background: $raised; }
        & FilterBox, & FilterBox > LineInput.-textual-compact { background: $raised; }
        & FormField { background: $raised; }
        & FormField LineInput.-textual-compact, & FormField AreaInput.-textual-compact { background: $background; }
        & FormField ChoiceLine { background: $background; }
    }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title_rule = TitleRule(title)

    def compose(self) -> ComposeResult:
        """Title, body, keys."""
        with Vertical(id="sheet"):
            yield self.title_rule
            yield from self.body()
            yield KeyBar()

    def on_resize(self) -> None:
        """A form higher than the screen scrolls; title and keys stay in view."""
        for form in self.query(FormBody):
            form.styles.max_height = max(self.size.height - 2, 1)

    def body(self) -> Iterable[Widget]:
        """The widgets between the title and the keys."""
        raise NotImplementedError

    def nothing(self) -> Answer | None:
        """The answer of a person who closes the sheet."""
        return None

    def can_palette(self) -> bool:
        """A sheet offers only its own keys."""
        return False

    def do_dialog_close(self) -> None:
        """Close without changing anything."""
        self.dismiss(self.nothing())

    def do_typing_leave(self) -> None:
        """Esc in a field of a sheet closes the sheet."""
        self.do_dialog_close()
