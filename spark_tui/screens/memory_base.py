"""What the Memory screen shows: facets, list and page over one home, true to the store at every moment; it writes nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from engine.errors import SparkError
from engine.events import CandidatesChanged, EmbeddingProgress, Fact, MemoryChanged, SearchDegraded, SettingsChanged
from engine.memory.model import Entry
from spark_tui import actions
from spark_tui.presenters.first_steps import first_steps
from spark_tui.presenters.memory_detail import peek_lines
from spark_tui.presenters.problems import problem
from spark_tui.screens.engine_screen import EngineScreen
from spark_tui.screens.latest import Latest
from spark_tui.screens.memory_columns import columns
from spark_tui.screens.memory_filter import Shown
from spark_tui.screens.memory_overview import Glance, Overview, read_overview
from spark_tui.screens.memory_pane import MemoryPane
from spark_tui.screens.memory_peek import Peek
from spark_tui.screens.memory_search import Asked, Found, find
from spark_tui.screens.memory_source import FoundSource, MemorySource, StoreSource
from spark_tui.screens.memory_words import Standing, empty_words, left_words, right_words
from spark_tui.text.i18n import _
from spark_tui.widgets.divider import Divider
from spark_tui.widgets.facet_bar import Facet, FacetBar
from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Column
from spark_tui.widgets.top_line import TopLine
from spark_tui.widgets.window_list import WindowList

TICK_S = 60.0


class MemoryBase(EngineScreen):
    """Every memory a person sees here; the cursor stays on its memory whatever changes around it."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.MEMORY, actions.MOVE, actions.FRAME)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (76, "-facets"), (100, "-wide"), (140, "-broad")]  # noqa: RUF012 – as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 – as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self.shown = Shown()
        self.query_text = ""
        self.found: Found | None = None
        self.with_reasons = False
        self._answered: Asked | None = None
        self.overview: Overview | None = None
        self.wanted_key: str | None = None
        self.top_line = TopLine()
        self.facet_bar = FacetBar(id="facets")
        self.filter_box = FilterBox(_("search by words or by meaning"))
        self.list = WindowList(columns(self.shown.order), id="list")
        self.steps = LineView(id="steps")
        self.steps.can_focus = False
        self.peek = Peek()
        self.pane = MemoryPane(lambda: self.engine, id="detail")
        self.search = Latest[Asked, Found](self, lambda asked: find(self.engine, asked), self._found, self._failed)
        self.looks = Latest[Glance, Overview](
            self, lambda glance: read_overview(self.engine, glance), self._look, self._failed
        )

    def compose(self) -> ComposeResult:
        """Top line, panes, key bar."""
        yield self.top_line
        with Horizontal(id="panes"):
            yield self.facet_bar
            yield Divider(classes="facet-edge")
            with Vertical(id="middle"):
                yield self.filter_box
                yield self.list
                yield self.steps
                yield self.peek
            yield Divider(classes="detail-edge")
            yield self.pane
        yield KeyBar()

    @property
    def source(self) -> MemorySource | None:
        """Where the rows come from, once there are any."""
        source = self.list.source
        return source if isinstance(source, StoreSource | FoundSource) else None

    @property
    def is_asking(self) -> bool:
        """Whether the list or the page waits for an answer."""
        return self.looks.is_asking or self.search.is_asking or self.pane.is_asking

    @property
    def is_wide(self) -> bool:
        """Whether list and page stand side by side."""
        return self.has_class("-wide") or self.has_class("-broad")

    def on_mount(self) -> None:
        """List the home, and hear of changes from now on."""
        self.list.focus()
        self.refresh_all()
        self.host.follow(self.hear)
        self.set_interval(TICK_S, self.refresh_all)

    def hear(self, facts: Sequence[Fact]) -> None:
        """What the engine announced, from whatever process."""
        for fact in facts:
            match fact:
                case MemoryChanged():
                    self.refresh_all()
                    if not fact.ids or self.pane.key in fact.ids:
                        self.pane.reload()
                case EmbeddingProgress():
                    self._show_progress(fact)
                case SettingsChanged() | SearchDegraded() | CandidatesChanged():
                    self.refresh_all()

    def refresh_all(self) -> None:
        """Read list, facets and top line again, off this thread; a search that is on is asked again."""
        searching = bool(self.query_text.strip())
        key = self.wanted_key or self.list.cursor_key
        self.looks.ask(Glance(self.shown, self.list.cursor_index, key, listed=not searching))
        if searching:
            self.search.ask(Asked(self.query_text, self.shown))

    def show_found(self, from_top: bool = False) -> None:
        """The last answer of the search, with or without reasons."""
        if self.found is None:
            return
        found = FoundSource(self.query_text, self.found.result, self.found.others, self.now_ms, self.with_reasons)
        self.list.set_empty(empty_words(self.found, self.shown))
        self._show_columns()
        self.list.set_source(found, from_top=from_top)
        self._settled()

    def _look(self, glance: Glance, overview: Overview) -> None:
        """What was read is shown, unless a search took the list meanwhile."""
        self.overview = overview
        self.facet_bar.show([
            Facet(each.key, each.label, each.count, each.depth, each.heading, each.selected, each.folded, each.style)
            for each in overview.facets
        ])  # fmt: skip
        if overview.source is not None and not self.query_text.strip():
            self.search.drop()
            self.found = None
            self.list.set_empty(empty_words(None, self.shown))
            self._show_columns()
            self.list.set_source(overview.source)
            if self.wanted_key is not None:
                self.list.move_to(self.wanted_key)
            if overview.source.failure is not None:
                self._failed(glance, overview.source.failure)
        self.wanted_key = None
        self._show_first_steps(overview)
        self._settled()
        self.host.shown()

    def _failed(self, question: object, error: SparkError) -> None:
        """Something could not be read; what is shown stays."""
        self.say(problem(error), "error")
        self.host.shown()

    def _settled(self) -> None:
        """After the list was filled anew: page, words and keys follow."""
        self._follow_cursor()
        self._show_words()
        self.refresh_keys()

    @property
    def now_ms(self) -> int:
        """The instant the list looks at."""
        as_of = self.shown.as_of_ms(self.engine.clock.zone())
        return self.engine.clock.now_ms() if as_of is None else as_of

    def entry_at_cursor(self) -> Entry | None:
        """The memory under the cursor."""
        key = self.list.cursor_key
        return self.source.entry(key) if self.source and key else None

    def _found(self, asked: Asked, found: Found) -> None:
        new_question = self.found is None or asked != self._answered
        self.found, self._answered = found, asked
        self.show_found(from_top=new_question)

    def _show_first_steps(self, overview: Overview) -> None:
        """The checklist in place of the list while there is nothing at all."""
        fresh = not overview.total and self.shown.day is None and not self.query_text
        if fresh:
            self.steps.show(first_steps(overview.readiness))
        if fresh != self.has_class("-first"):
            self.set_class(fresh, "-first")
            self.list.focus()

    def _show_progress(self, fact: EmbeddingProgress) -> None:
        """Vectors were made; the word at the top counts them without asking the store."""
        if self.overview is not None:
            search = replace(self.overview.search, done=fact.done, total=fact.total)
            self.overview = replace(self.overview, search=search)
            self._show_words()

    def _show_words(self) -> None:
        if self.overview is None:
            return
        narrow = self.has_class("-narrow")
        standing = Standing(self.list.count, self.shown, self.query_text, self.host.refusal, not narrow)
        self.top_line.show(left_words(self.overview, standing), right_words(self.overview, standing))

    def _show_columns(self) -> None:
        """Columns for the present width; the numbers behind hits need the room of the facets."""
        self.set_class(self.with_reasons and self.found is not None, "-reasons")
        wanted = self._columns()
        if tuple(wanted) != self.list.columns:
            self.list.set_columns(wanted)

    def _columns(self) -> list[Column]:
        """What there is room for; a page beside a list that is not broad says the description instead."""
        order = self.shown.order if self.found is None else None
        return columns(order, self.with_reasons and self.found is not None, described=not self.has_class("-wide"))

    def on_resize(self) -> None:
        """Another width may show or hide columns and facets, whose words then move to the top line."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        self._show_columns()
        self._show_words()

    @on(WindowList.Highlighted)
    def _follow_cursor(self) -> None:
        """Peek and page follow the cursor, unless a person is reading the page."""
        entry = self.entry_at_cursor()
        project = self.overview.project if self.overview else ""
        self.peek.show(peek_lines(entry, project, self.now_ms) if entry else [])
        if not self.pane.has_focus:
            self.show_page()

    def show_page(self) -> None:
        """Show the page of the memory under the cursor, where a page is in sight."""
        key = self.list.cursor_key
        if self.is_wide or self.has_class("-reading"):
            self.pane.show_memory(key, self.source.reasons(key) if self.source and key else None)
