"""The Dropped tab: what the gates kept out of memory, by name only, and a way to write it by hand all the same."""

from collections.abc import Sequence
from typing import ClassVar

from spark_tui import actions
from spark_tui.presenters.candidate_drops import DropView, drop_cells, drop_lines, gate_counts, gate_word
from spark_tui.presenters.memory_rows import age_width
from spark_tui.screens.candidates_frame import CONTEXTS, ReviewScreen
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank
from spark_tui.widgets.rows import Cell, Column, Row

MOST = 5_000
ALL = ""


class DroppedScreen(ReviewScreen[DropView, DropView]):
    """The gate log, newest first; ``/`` shows what one gate dropped."""

    TAB = "dropped"
    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.DROPPED, *CONTEXTS)

    def __init__(self) -> None:
        super().__init__()
        self.gate = ALL
        self._counts: list[tuple[str, int]] = []

    def columns(self) -> Sequence[Column]:
        """Gate, name, scope, age."""
        return (
            Column("gate", _("gate"), 12, priority=40),
            Column("name", _("name"), 16, flex=3, most=60),
            Column("scope", _("scope"), 8, priority=20),
            Column("age", _("age"), max(4, age_width()), priority=30, align="right"),
        )

    def read_items(self) -> list[tuple[str, DropView, Row]]:
        """On a thread: the latest rows, those of one gate when that is chosen."""
        from engine.memory.gate_log import GateLog

        log, now = GateLog(self.engine.database), self.engine.clock.now_ms()
        total = log.count()
        found = [
            # Rows are only ever added: counted from the oldest, a row keeps its key while others come before it.
            DropView(str(total - at), each.at, each.scope, each.name, each.gate.value, each.reason, each.session)
            for at, each in enumerate(log.recent(MOST))
        ]
        self._counts = gate_counts(found)
        gate = self.gate
        return [(each.key, each, _row(each, now)) for each in found if gate in (ALL, each.gate)]

    def read_page(self, key: str) -> DropView:
        """On a thread: nothing more is known than the row says."""
        return self.items[key]

    def page_lines(self, key: str, page: DropView) -> list[Block]:
        """Why it was dropped, and the counts of the gates."""
        return drop_lines(page, self._counts, self.engine.clock.now_ms(), self.engine.clock.zone())

    def nothing_lines(self) -> list[Block]:
        """What this tab is for."""
        return [
            Line((("strong", _("nothing was dropped")),)),
            blank(),
            Line((("text", _("What a gate keeps out of memory is listed here by its name, with the reason.")),)),
        ]

    def empty_words(self) -> str:
        """No row, or none of this gate."""
        return _("nothing of this gate: esc shows all") if self.gate else _("nothing was dropped")

    def stepped_back(self) -> bool:
        """Out of the page, then out of the filter."""
        if super().stepped_back():
            return True
        if not self.gate:
            return False
        self._show_gate(ALL)
        return True

    def can_row(self) -> bool:
        """Whether a gate dropped anything at all; a filter that leaves nothing can still be changed."""
        return bool(self._counts)

    def can_writable_row(self) -> bool:
        """Whether there is something under the cursor to write by hand."""
        return self.can_writable() and self.item_at_cursor() is not None

    def do_dropped_gate(self) -> None:
        """Choose a gate, or all."""
        self.run_worker(self._choose_gate(), exit_on_error=True)

    def do_dropped_write(self) -> None:
        """The form for a new memory, under this name."""
        drop = self.item_at_cursor()
        if drop is not None:
            self.run_worker(self._write(drop), exit_on_error=True)

    async def _choose_gate(self) -> None:
        from spark_tui.screens.dialogs.choose import Choice, ChooseDialog

        total = sum(count for _gate, count in self._counts)
        choices = [Choice("all", _("all gates"), str(total))]
        choices += [Choice(gate, gate_word(gate), str(count)) for gate, count in self._counts]
        chosen = await self.app.push_screen_wait(
            ChooseDialog(_("show what which gate dropped?"), choices, self.gate or "all")
        )
        if chosen is not None:
            self._show_gate(ALL if chosen == "all" else chosen)

    async def _write(self, drop: DropView) -> None:
        from spark_tui.screens.candidates_form import write_by_hand

        await write_by_hand(self, drop.name, drop.scope)

    def _show_gate(self, gate: str) -> None:
        self.gate = gate
        self.refresh_all()
        if gate:
            self.say(_("only {gate}; esc shows all").format(gate=gate_word(gate)), "accent")


def _row(drop: DropView, now_ms: int) -> Row:
    return Row(drop.key, tuple(Cell(text, style) for text, style in drop_cells(drop, now_ms)))
