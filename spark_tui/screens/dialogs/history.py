"""Earlier versions of one memory beside what has changed since; enter brings one back as a new version."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual.containers import Container
from textual.widget import Widget

from engine.memory.model import Entry, Revision
from spark_tui.presenters.diff_lines import entry_diff
from spark_tui.presenters.history_lines import VersionLine, version_lines
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, plain
from spark_tui.widgets.divider import Divider
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Cell, Column, ListSource, Row
from spark_tui.widgets.window_list import WindowList


@dataclass(frozen=True, slots=True)
class Past:
    """A memory as it is now with its text, its superseded versions newest first, the time and zone to show them in."""

    entry: Entry
    body: str
    revisions: Sequence[Revision]
    now_ms: int
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Restore:
    """The version to bring back; None is the last good text of a broken or vanished file."""

    version: int | None


class HistoryDialog(Sheet[Restore]):
    """Answers what to restore, or None."""

    CSS_PATH = "history.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012 – as Textual declares it

    def __init__(self, past: Past, writable: bool) -> None:
        super().__init__(_("history of {name}").format(name=past.entry.name))
        self._past = past
        self._writable = writable
        self._lines = version_lines(past.entry, past.revisions, past.now_ms, past.zone)
        columns = (
            Column("version", _("version"), 9),
            Column("moment", _("since"), 16, priority=20),
            Column("author", _("by"), 8, priority=10),
        )
        self._list = WindowList(columns, ListSource([_row(line) for line in self._lines]))
        self._view = LineView()

    def body(self) -> Iterable[Widget]:
        """Versions, and the difference to the present one."""
        yield Container(self._list, Divider(), self._view, id="history")

    def on_mount(self) -> None:
        """The versions take the keys; start on the newest one that can be restored."""
        self._list.focus()
        first = 0 if self._past.entry.file_state is not None or len(self._lines) == 1 else 1
        self._list.move_to(self._lines[first].key)

    def on_window_list_highlighted(self, event: WindowList.Highlighted) -> None:
        """Show what has changed since."""
        self._view.show(self._difference(event.key))

    def on_window_list_chosen(self, event: WindowList.Chosen) -> None:
        """Restore, unless it is the present version or nothing may be written."""
        line = next(line for line in self._lines if line.key == event.key)
        if not self._writable:
            self.say(_("read-only: nothing is written"), "warning")
        elif line.version is None and self._past.entry.file_state is None:
            self.say(_("this is the present version"), "dim")
        else:
            self.dismiss(Restore(line.version))

    def _difference(self, key: str | None) -> list[Block]:
        found = next((each for each in self._past.revisions if str(each.entry.version) == key), None)
        if found is None:
            lead = _("last good text; enter restores it") if self._past.entry.file_state else _("the present version")
            return [
                Line((("dim", lead),)),
                Line(),
                *plain(self._past.entry.description),
                Line(),
                *plain(self._past.body),
            ]
        lead = _("from version {n} to now; enter brings version {n} back").format(n=found.entry.version)
        changed = entry_diff(found.entry, found.body, self._past.entry, self._past.body)
        return [Line((("dim", lead),)), Line(), *changed]


def _row(line: VersionLine) -> Row:
    return Row(line.key, (Cell(line.label, line.style), Cell(line.moment, "dim"), Cell(line.author, "dim")))
