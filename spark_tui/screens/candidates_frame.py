"""What the tabs of the Candidates area share: a list with a page about its row, true to the store; it writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from engine.errors import SparkError
from engine.events import CandidatesChanged, Fact, JobsChanged, MemoryChanged, SettingsChanged
from spark_tui import actions
from spark_tui.presenters.memory_detail import failure_lines
from spark_tui.presenters.problems import next_step, problem, sentence
from spark_tui.screens.candidates_lines import RuleLine, TabLine
from spark_tui.screens.candidates_standing import TABS, Review, left_words, read_review, right_words, tabs
from spark_tui.screens.engine_screen import EngineScreen
from spark_tui.screens.latest import Latest
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block
from spark_tui.widgets.divider import Divider
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Column, ListSource, Row
from spark_tui.widgets.top_line import TopLine
from spark_tui.widgets.window_list import WindowList

Item = TypeVar("Item")
Page = TypeVar("Page")
TICK_S = 60.0
LOAD_S = 3.0


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item]):
    """One look at the store: the area as a whole, and what this tab lists, by key."""

    review: Review
    items: dict[str, Item]
    rows: Sequence[Row]


class ReviewScreen(EngineScreen, Generic[Item, Page]):
    """One tab. The page follows the cursor; the cursor stays on its row whatever changes around it."""

    TAB: ClassVar[str]
    CSS_PATH = "candidates.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 – as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 – as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, Item] = {}
        self.review: Review | None = None
        self.page: tuple[str, Page] | None = None
        self.top_line = TopLine()
        self.tab_line = TabLine(self.TAB)
        self.list = WindowList(self.columns(), id="list")
        self.view = LineView(id="page")
        self.lists = Latest[object, Listed[Item]](self, lambda _asked: self._read(), self._listed, self._failed)
        self.pages = Latest[str, Page](self, self.read_page, self._read_page, self._page_failed, LOAD_S)

    def columns(self) -> Sequence[Column]:
        """The columns of the list."""
        raise NotImplementedError

    def read_items(self) -> list[tuple[str, Item, Row]]:
        """On a thread: what is listed, each with its key and row."""
        raise NotImplementedError

    def read_page(self, key: str) -> Page:
        """On a thread: everything the page about a row shows. Raises ``SparkError``."""
        raise NotImplementedError

    def page_lines(self, key: str, page: Page) -> list[Block]:
        """The page as lines."""
        raise NotImplementedError

    def nothing_lines(self) -> list[Block]:
        """In place of a page while nothing is listed."""
        return []

    def empty_words(self) -> str:
        """Why nothing is listed."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Top line, tabs, list, page, key bar."""
        yield self.top_line
        yield self.tab_line
        yield Container(self.list, Divider(), Vertical(RuleLine(), self.view, id="reading"), id="panes")
        yield KeyBar()

    def on_mount(self) -> None:
        """Hear of changes from now on."""
        self.list.focus()
        self.host.follow(self.hear)
        self.set_interval(TICK_S, self.refresh_all)

    def on_screen_resume(self) -> None:
        """Look anew each time the tab is opened."""
        self.refresh_all()

    def hear(self, facts: Sequence[Fact]) -> None:
        """What the engine announced; a tab nobody looks at is read when it is opened."""
        if any(isinstance(fact, CandidatesChanged | JobsChanged | MemoryChanged | SettingsChanged) for fact in facts):
            self.refresh_all()

    def refresh_all(self) -> None:
        """Read list, numbers and page again, off this thread."""
        if self in self.app.screen_stack:
            self.lists.ask(object())

    @property
    def is_asking(self) -> bool:
        """Whether the list or the page waits for an answer."""
        return self.lists.is_asking or self.pages.is_asking

    @property
    def is_page_in_sight(self) -> bool:
        """Whether a person can read the page now."""
        return self.view.display and self.query_one("#reading").display and self.view.size.height > 0

    def item_at_cursor(self) -> Item | None:
        """What is under the cursor."""
        return self.items.get(self.list.cursor_key or "")

    def page_at_cursor(self) -> Page | None:
        """The page of the row under the cursor, once it is shown."""
        if self.page is None or self.page[0] != self.list.cursor_key or self.pages.is_asking:
            return None
        return self.page[1]

    def can_row(self) -> bool:
        """Whether something is listed under the cursor."""
        return bool(self.list.targets())

    def can_writable_row(self) -> bool:
        """Whether there is something to write about."""
        return self.can_writable() and self.can_row()

    def do_review_next(self) -> None:
        """The tab to the right."""
        self._turn(1)

    def do_review_previous(self) -> None:
        """The tab to the left."""
        self._turn(-1)

    def do_frame_pane_next(self) -> None:
        """List or page; where only one has room the other takes its place."""
        if self.has_class("-reading"):
            self.leave_page()
        elif self.is_page_in_sight:
            self.focus_next()
        else:
            self.open_page()

    do_frame_pane_previous = do_frame_pane_next

    def do_frame_back(self) -> None:
        """One step back, at last to the memories."""
        if not self.stepped_back():
            self.host.go_to("memory")

    def do_frame_quit(self) -> None:
        """Out of the page, then out of the area."""
        if not self.leave_page():
            self.host.leave()

    def stepped_back(self) -> bool:
        """Out of the page, the range, the marks; False when there was none of it."""
        return self.leave_page() or self.list.clear_marks()

    def open_page(self) -> None:
        """Read the page: beside the list when there is room, in its place when not."""
        self.set_class(not self.has_class("-wide"), "-reading")
        self.view.focus()
        self.show_page()

    def leave_page(self) -> bool:
        """Back to the list; False when it had the focus already."""
        was_away = self.has_class("-reading") or not self.list.has_focus
        self.remove_class("-reading")
        self.list.focus()
        return was_away

    def show_page(self) -> None:
        """Ask for the page of the row under the cursor."""
        key = self.list.cursor_key
        if key is None or key not in self.items:
            self.page = None
            self.pages.drop()
            self.view.show(self.nothing_lines() if not self.items else [])
        else:
            self.pages.ask(key)

    def repaint_page(self) -> None:
        """Lay the page out again from what was read."""
        if self.page is not None:
            self.view.show(self.page_lines(*self.page), keep_place=True)

    @on(TabLine.Chosen)
    def _clicked(self, event: TabLine.Chosen) -> None:
        self.host.go_to(event.area)

    @on(WindowList.Highlighted)
    def _follow_cursor(self) -> None:
        self.show_page()
        self.refresh_keys()

    @on(WindowList.Chosen)
    def _opened(self) -> None:
        self.open_page()

    def _turn(self, step: int) -> None:
        self.leave_page()
        self.host.go_to(TABS[(TABS.index(self.TAB) + step) % len(TABS)])

    def _read(self) -> Listed[Item]:
        found = self.read_items()
        return Listed(
            read_review(self.engine), {key: item for key, item, _row in found}, [row for _key, _item, row in found]
        )

    def _listed(self, _asked: object, listed: Listed[Item]) -> None:
        self.items, self.review = listed.items, listed.review
        self.list.set_empty(self.empty_words())
        self.list.set_source(ListSource(listed.rows))
        if self.has_class("-reading") and not self.items:
            self.leave_page()
        self.tab_line.show(tabs(listed.review))
        self.top_line.show(left_words(listed.review), right_words(listed.review, self.host.refusal))
        self.show_page()
        self.refresh_keys()

    def _read_page(self, key: str, page: Page) -> None:
        again = self.page is not None and self.page[0] == key
        self.page = (key, page)
        self.view.show(self.page_lines(key, page), keep_place=again)
        self.refresh_keys()

    def _page_failed(self, _key: str, error: SparkError) -> None:
        self.page = None
        self.leave_page()  # enter in the list asks again
        self.view.show(failure_lines(sentence(error), next_step(error)))

    def _failed(self, _asked: object, error: SparkError) -> None:
        self.say(problem(error), "error")

    async def open_memory(self, ids: Sequence[tuple[str, str]]) -> None:
        """Go to a memory; which one is asked when there are several (id, name)."""
        from spark_tui.screens.dialogs.choose import Choice, ChooseDialog

        chosen: str | None = ids[0][0] if len(ids) == 1 else None
        if len(ids) > 1:
            choices = [Choice(key, name or key, key) for key, name in ids]
            chosen = await self.app.push_screen_wait(ChooseDialog(_("open which memory?"), choices))
        if chosen is not None:
            self.host.show_memory(chosen)


CONTEXTS = (actions.REVIEW, actions.MOVE, actions.FRAME)
"""Contexts every tab listens to, after its own."""
