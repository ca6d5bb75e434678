"""A bare app with our themes that shows some widgets; what it saw is kept for the tests to look at."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from spark_tui import actions, theme
from spark_tui.widgets.action_keys import ActionKeys
from spark_tui.widgets.facet_bar import FacetBar
from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.form_field import FormField
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Row
from spark_tui.widgets.window_list import WindowList

Kept = TypeVar("Kept", bound=Message)


class StageScreen(ActionKeys, Screen[None]):
    """Shows the widgets a test hands in (or makers of them); remembers what it was asked for and told."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.MEMORY, actions.MOVE, actions.FRAME)

    def __init__(self, widgets: Iterable[Widget | Callable[[], Widget]], refused: Iterable[str] = ()) -> None:
        super().__init__()
        self._shown = list(widgets)
        self._refused = set(refused)
        self.asked: list[str] = []
        self.seen: list[Message] = []

    def compose(self) -> ComposeResult:
        for each in self._shown:
            yield each if isinstance(each, Widget) else each()

    def can(self, when: str) -> bool:
        return when not in self._refused and super().can(when)

    def heard(self, kind: type[Kept]) -> list[Kept]:
        """The messages of one kind that reached the screen, in order."""
        return [message for message in self.seen if type(message) is kind]

    @on(WindowList.Highlighted)
    @on(WindowList.Chosen)
    @on(WindowList.Marked)
    @on(FacetBar.Chosen)
    @on(FilterBox.Changed)
    @on(FilterBox.Submitted)
    @on(FilterBox.Dismissed)
    @on(FormField.Changed)
    @on(LineView.Moved)
    def keep(self, message: Message) -> None:
        self.seen.append(message)

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith(("do_memory_", "do_frame_", "do_area_", "do_typing_palette")):
            return lambda: self.asked.append(name.removeprefix("do_"))
        raise AttributeError(name)


class Stage(App[None]):
    """Shows a ``StageScreen`` in one of our themes."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        *widgets: Widget,
        keep: tuple[type[Message], ...] = (),
        refused: Iterable[str] = (),
        look: str = "spark-dark",
    ) -> None:
        super().__init__(ansi_color=theme.look(look).ansi)
        theme.install(self, look)
        self.stage = StageScreen(widgets, refused)

    def on_mount(self) -> None:
        self.push_screen(self.stage)


class CountedSource:
    """``count`` numbered rows made on demand; remembers how many it was asked for, and may leave some out."""

    def __init__(self, count: int, without: Sequence[int] = (), suffix: str = "") -> None:
        self._numbers: Sequence[int] = (
            [number for number in range(count) if number not in set(without)] if without else range(count)
        )
        self._suffix = suffix
        self.made = 0
        self.widest = 0

    def count(self) -> int:
        return len(self._numbers)

    def rows(self, start: int, stop: int) -> list[Row]:
        numbers = self._numbers[start:stop]
        self.made += len(numbers)
        self.widest = max(self.widest, len(numbers))
        return [Row(f"k{number}", (f"name {number}{self._suffix}", f"描述 {number}")) for number in numbers]

    def index_of(self, key: str) -> int | None:
        number = int(key[1:])
        return self._numbers.index(number) if number in self._numbers else None

    def keys(self, start: int, stop: int) -> list[str]:
        return [f"k{number}" for number in self._numbers[start:stop]]


def screen_lines(app: App[None]) -> list[str]:
    """The text of the screen, line by line."""
    width, height = app.size
    return [
        "".join(segment.text for segment in app.screen._compositor.render_strips()[y])[:width] for y in range(height)
    ]


def cursor_line(app: App[None]) -> int:
    """The line of the screen on which the mark of the cursor stands."""
    return next(y for y, line in enumerate(screen_lines(app)) if line.startswith("❯"))
