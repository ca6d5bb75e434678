"""The exact block an agent would get here and now, or on another day: chosen at the left, read at the right, counts no hit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from textual.containers import Container
from textual.widget import Widget

from engine.errors import SparkError
from spark_tui.presenters.injection_lines import Preview, injection_lines
from spark_tui.presenters.problems import problem
from spark_tui.screens.dialogs.as_of import as_of_dialog
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.screens.latest import Latest
from spark_tui.text.dates import day as day_word
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line
from spark_tui.text.safe import one_line
from spark_tui.widgets.divider import Divider
from spark_tui.widgets.facet_bar import Facet, FacetBar
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.motion import Motion


@dataclass(frozen=True, slots=True)
class Wish:
    """For which agent (None: for none), as of which day (None: now)."""

    agent: str | None = None
    day: date | None = None


class InjectionPreview(Sheet[None]):
    """Shows the block for each agent that is known; ``find`` is called on a thread."""

    CSS_PATH = "injection_preview.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]  # noqa: RUF012 – as Textual declares it

    def __init__(
        self, workspace: str, agents: Sequence[str], wish: Wish, today: date, find: Callable[[Wish], Preview]
    ) -> None:
        super().__init__(_("injection preview: {workspace}").format(workspace=workspace))
        self._agents = agents
        self._wish = wish
        self._today = today
        self._bar = FacetBar()
        self._view = LineView([Line((("dim", _("counting tokens")),))])
        self._latest = Latest[Wish, Sequence[Block]](
            self, lambda wish: injection_lines(find(wish)), self._show, self._fail
        )

    def body(self) -> Iterable[Widget]:
        """Agents and day, and the page."""
        yield Container(self._bar, Divider(), self._view, id="preview")

    def on_mount(self) -> None:
        """The choices take the keys; tab goes to the page."""
        self._bar.focus()
        self._ask()
        for _step in range(self._agents.index(self._wish.agent) + 1 if self._wish.agent in self._agents else 0):
            self._bar.move(Motion.DOWN)

    def on_facet_bar_chosen(self, event: FacetBar.Chosen) -> None:
        """Another agent or another day."""
        kind, _colon, value = event.key.partition(":")
        if kind == "agent":
            self._wish = replace(self._wish, agent=value or None)
            self._ask()
        elif event.key == "day:now":
            self._wish = replace(self._wish, day=None)
            self._ask()
        else:
            self.run_worker(self._choose_day(), exit_on_error=True)

    async def _choose_day(self) -> None:
        answer = await self.app.push_screen_wait(as_of_dialog(self._wish.day, self._today))
        if answer is not None:
            self._wish = replace(self._wish, day=answer.day)
            self._ask()

    def _ask(self) -> None:
        self._bar.show(self._facets())
        self._latest.ask(replace(self._wish))

    def _show(self, wish: Wish, blocks: Sequence[Block]) -> None:
        self._view.show(blocks)

    def _fail(self, wish: Wish, error: SparkError) -> None:
        self._view.show([Line((("error", problem(error)),))])

    def _facets(self) -> list[Facet]:
        chosen = self._wish.agent or ""
        agents = [("", _("no agent")), *((agent, one_line(agent)) for agent in self._agents)]
        day = self._wish.day
        return [
            Facet("heading:agent", " " + _("Agent"), heading=True),
            *(Facet(f"agent:{key}", label, selected=key == chosen) for key, label in agents),
            Facet("gap:day", "", heading=True),
            Facet("heading:day", " " + _("As of"), heading=True),
            Facet("day:now", _("today"), selected=day is None),
            Facet("day:other", day_word(day) if day else _("another day"), selected=day is not None),
        ]
