"""The Changes tab: the feed of what changed in memory, before and after, and undo of a whole step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from engine.errors import NotFound
from engine.memory.model import Change
from spark_tui import actions
from spark_tui.presenters.change_lines import ChangeView, Version, change_cells, change_lines, undo_words
from spark_tui.presenters.memory_rows import age_width
from spark_tui.screens.candidates_frame import CONTEXTS, ReviewScreen
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line
from spark_tui.text.safe import one_line
from spark_tui.widgets.rows import Cell, Column, Row

if TYPE_CHECKING:
    from engine.runtime import Engine

MOST = 500
BESIDE = 20


@dataclass(frozen=True, slots=True)
class Step:
    """A change as its page shows it, with the others of its step; ``is_here``: the memory can be opened."""

    chosen: ChangeView
    others: Sequence[ChangeView]
    is_here: bool


class ChangesScreen(ReviewScreen[Change, Step]):
    """Changes, newest first, also those that happened by themselves."""

    TAB = "changes"
    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.CHANGES, *CONTEXTS)

    def columns(self) -> Sequence[Column]:
        """What was done, name, by whom, fields, age."""
        return (
            Column("action", _("change"), 15, flex=1, most=20),
            Column("name", _("name"), 18, flex=3, most=40),
            Column("author", _("by"), 10, priority=20),
            Column("fields", _("fields"), 10, flex=2, priority=10),
            Column("age", _("age"), max(4, age_width()), priority=30, align="right"),
        )

    def read_items(self) -> list[tuple[str, Change, Row]]:
        """On a thread: the latest changes."""
        now = self.engine.clock.now_ms()
        return [(_key(each), each, _row(each, now)) for each in self.engine.history.changes(MOST)]

    def read_page(self, key: str) -> Step:
        """On a thread: the texts around a change, and around the others of its step."""
        change = self.items[key]
        group = self.engine.history.changes(MOST, change.group)
        others = [_viewed(self.engine, each) for each in group if each.id != change.id][:BESIDE]
        return Step(_viewed(self.engine, change), others, _version(self.engine, change.id, None) is not None)

    def page_lines(self, key: str, page: Step) -> list[Block]:
        """The difference, and what else was done with it."""
        clock = self.engine.clock
        return change_lines(page.chosen, page.others, clock.now_ms(), clock.zone())

    def nothing_lines(self) -> list[Block]:
        """What this tab is for."""
        return [Line((("text", _("Every change to a memory is listed here, with what it was before.")),))]

    def empty_words(self) -> str:
        """No change was made."""
        return _("nothing has changed yet")

    def can_undo(self) -> bool:
        """Whether the step under the cursor can be taken back."""
        change = self.item_at_cursor()
        return self.can_writable() and change is not None and not change.undone and change.action != "delete"

    def can_source(self) -> bool:
        """Whether the memory is still here."""
        page = self.page_at_cursor()
        return page is not None and page.is_here

    def do_changes_undo(self) -> None:
        """Ask, then take the whole step back."""
        change = self.item_at_cursor()
        if change is not None:
            self.run_worker(self._undo(change.group), exit_on_error=True)

    def do_changes_source(self) -> None:
        """Open the memory."""
        change = self.item_at_cursor()
        if change is not None:
            self.host.show_memory(change.id)

    async def _undo(self, group: str) -> None:
        from spark_tui.screens.dialogs.confirm import ConfirmDialog

        changes = await self.in_thread(lambda: self.engine.history.changes(MOST, group))
        if not changes or not await self.app.push_screen_wait(
            ConfirmDialog(_("take this step back?"), undo_words(changes), _("undo"), "u")
        ):
            return
        stored = await self.in_thread(lambda: self.engine.history.undo(group))
        if stored is not None:
            self.say(_("undone: {what}").format(what=", ".join(one_line(each.name) for each in changes[:3])), "good")
        self.refresh_all()


def _key(change: Change) -> str:
    return f"{change.group} {change.id} {change.after}"


def _row(change: Change, now_ms: int) -> Row:
    return Row(_key(change), tuple(Cell(text, style) for text, style in change_cells(change, now_ms)))


def _viewed(engine: "Engine", change: Change) -> ChangeView:
    return ChangeView(
        change,
        None if change.before is None else _version(engine, change.id, change.before),
        None if change.after is None else _version(engine, change.id, change.after),
    )


def _version(engine: "Engine", entry_id: str, number: int | None) -> Version | None:
    """One version of a memory (None: the present one); None when it is not kept."""
    try:
        entry = engine.listing.entry(entry_id)
        if number in (None, entry.version):
            return Version(entry, engine.listing.body(entry_id))
    except NotFound:
        return None
    kept = next((each for each in engine.history.revisions(entry_id) if each.entry.version == number), None)
    return Version(kept.entry, kept.body) if kept else None
