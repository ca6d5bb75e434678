"""The Doctor screen: what works, what does not and what mends it, looked at anew each time it is opened; mends nothing itself."""

from contextlib import nullcontext
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.screen import Screen

from engine.errors import SparkError
from spark_tui import actions
from spark_tui.presenters.candidate_words import waiting_words
from spark_tui.presenters.doctor_lines import Finding, finding_lines, finding_mark, finding_title, summary, worst_first
from spark_tui.presenters.problems import problem
from spark_tui.screens.dialogs.text_view import TextViewDialog
from spark_tui.screens.host import engine_of
from spark_tui.screens.latest import Latest
from spark_tui.screens.memory_peek import Peek
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line
from spark_tui.widgets.action_keys import ActionKeys
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.rows import Cell, Column, ListSource, Row
from spark_tui.widgets.top_line import TopLine, Word
from spark_tui.widgets.window_list import WindowList


class DoctorScreen(ActionKeys, Screen[None]):
    """Area 8."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.MOVE, actions.FRAME)
    DEFAULT_CSS = "DoctorScreen Peek { height: 5; } DoctorScreen.-low Peek { display: none; }"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-high")]  # noqa: RUF012 – as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self.top_line = TopLine()
        self.list = WindowList(
            (
                Column("state", "", 10, priority=30),
                Column("title", _("what"), 16, flex=1, most=24),
                Column("evidence", _("evidence"), 20, flex=4, priority=10),
            ),
            empty=_("looking"),
            show_position=False,
        )
        self.peek = Peek()
        self._findings: dict[str, Finding] = {}
        self._latest = Latest[object, list[Finding]](self, lambda _question: self._examine(), self._show, self._fail)

    def compose(self) -> ComposeResult:
        """Top line, rows, the whole of one row, key bar."""
        yield self.top_line
        yield self.list
        yield self.peek
        yield KeyBar()

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self.list.focus()
        self.top_line.show([Word(_("doctor"), "strong", 100)], [Word(_("looking"), "dim")])

    def on_screen_resume(self) -> None:
        """Look anew each time the screen is opened."""
        self._latest.ask(object())

    def do_area_doctor(self) -> None:
        """The key of this area looks again."""
        self.top_line.show([Word(_("doctor"), "strong", 100)], [Word(_("looking"), "dim")])
        self._latest.ask(object())

    def _examine(self) -> list[Finding]:
        """On a thread, through the engine that is open already."""
        from engine.doors.doctor import examine

        engine = engine_of(self)
        rows = examine(engine.home, lambda: nullcontext(engine))
        return [Finding(row.id, row.state.value, row.title, row.evidence, row.fix) for row in rows]

    def _show(self, _question: object, findings: list[Finding]) -> None:
        self._findings = {each.id: each for each in findings}
        self.list.set_source(ListSource([_row(each) for each in worst_first(findings)]))
        words, style = summary(findings)
        waiting = Word(waiting_words(engine_of(self).candidates.count()), "accent", 65)
        self.top_line.show([Word(_("doctor"), "strong", 100)], [waiting, Word(words, style, 90)])
        self._peek()

    def _fail(self, _question: object, error: SparkError) -> None:
        self.say(problem(error), "error")

    @on(WindowList.Highlighted)
    def _peek(self) -> None:
        finding = self._findings.get(self.list.cursor_key or "")
        self.peek.show(finding_lines(finding)[1:] if finding else ())

    @on(WindowList.Chosen)
    def _read(self, event: WindowList.Chosen) -> None:
        """All of one row, when it is long."""
        finding = self._findings[event.key]
        self.app.push_screen(TextViewDialog(finding_title(finding), finding_lines(finding)))


def _row(finding: Finding) -> Row:
    mark, style = finding_mark(finding)
    return Row(finding.id, (Cell(mark, style), Cell(finding_title(finding)), Cell(one_line(finding.evidence), "dim")))
