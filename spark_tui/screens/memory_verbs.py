"""Changing memories from the list: archive, delete, validity, restore, undo; each on a thread, each reported per item."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from engine.errors import SparkError
from engine.memory.model import Change, Changes, Entry, ItemResult, State
from spark_tui.presenters.words import action_word
from spark_tui.screens.memory_looks import MemoryLooks
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.safe import one_line

if TYPE_CHECKING:
    from spark_tui.screens.dialogs.confirm import ConfirmDialog
    from spark_tui.screens.dialogs.history import Past

NAMED = 8
_NO_UNDO = ("undo", "delete")


@dataclass(frozen=True, slots=True)
class Done:
    """Something a person did here: its words and the operation groups it took, the latest first."""

    words: str
    groups: tuple[str, ...]


class MemoryVerbs(MemoryLooks):
    """The actions that write; every one of them leaves the cursor where the person put it."""

    def __init__(self) -> None:
        super().__init__()
        self.done_here: list[Done] = []

    def can_writable_row(self) -> bool:
        """Whether there is a memory to write to."""
        return self.can_writable() and self.can_row()

    def can_undo(self) -> bool:
        """Whether there is something to take back."""
        return self.can_writable() and (bool(self.done_here) or self._undoable() is not None)

    def do_memory_archive(self) -> None:
        """Archive the marked memories, or bring them back when all of them are archived."""
        entries = self.target_entries()
        verb = "unarchive" if entries and all(entry.archived for entry in entries) else "archive"
        self.run_worker(self._archive(verb, entries), exit_on_error=True)

    def do_memory_delete(self) -> None:
        """Ask, then delete for good."""
        self.run_worker(self._delete(self.target_entries()), exit_on_error=True)

    def do_memory_validity(self) -> None:
        """Ask for the last day."""
        self.run_worker(self._set_validity(self.target_entries()), exit_on_error=True)

    def do_memory_history(self) -> None:
        """Show the versions of the memory under the cursor."""
        if self.list.cursor_key is not None:
            self.run_worker(self._show_history(self.list.cursor_key), exit_on_error=True)

    def do_memory_undo(self) -> None:
        """Take back what was done here last; what was done elsewhere only after asking."""
        self.run_worker(self._undo(), exit_on_error=True)

    def target_entries(self) -> list[Entry]:
        """The marked memories, else the one under the cursor, as they are now."""
        found = []
        for key in self.list.targets():
            try:
                found.append(self.engine.listing.entry(key))
            except SparkError:
                self.say(_("this memory is not here any more"), "warning")
        return found

    def show_stored(self, key: str) -> None:
        """Show what was just stored, the cursor on it."""
        self.wanted_key = key
        self.refresh_all()
        self.pane.reload()

    def remember_done(self, words: str, stored: Sequence[tuple[str, int | None]]) -> None:
        """Note what was done, so that ``u`` takes back exactly this."""
        wanted = set(stored)
        changes = self.engine.history.changes(limit=2 * len(stored) + 20)
        groups = dict.fromkeys(change.group for change in changes if (change.id, change.after) in wanted)
        if groups:
            self.done_here.append(Done(words, tuple(groups)))

    async def report(self, verb: str, results: Sequence[ItemResult] | None, entries: Sequence[Entry]) -> None:
        """One line at the bottom; a page when something among several was refused."""
        from spark_tui.presenters.outcomes import outcome_line, outcome_page
        from spark_tui.screens.dialogs.text_view import TextViewDialog

        if results is None:
            return
        names = {entry.id: entry.name for entry in entries}
        said = outcome_line(verb, results, names)
        if verb != "delete":
            self.remember_done(said, [(each.id, each.version) for each in results if each.outcome == "done"])
        while self.list.clear_marks():  # an open range first, then the marks
            continue
        self.refresh_all()
        failed = [each for each in results if not each.ok]
        if not failed:
            self.say(said, "good")
        elif len(results) == 1:
            self.tell(f"{said}: {one_line(failed[0].message)}")
        else:
            self.say(said, "error")
            await self.app.push_screen_wait(TextViewDialog(said, outcome_page(results, names)))

    async def _archive(self, verb: str, entries: Sequence[Entry]) -> None:
        act = self.engine.store.archive if verb == "archive" else self.engine.store.unarchive
        await self.report(verb, await self.in_thread(lambda: act([entry.id for entry in entries])), entries)

    async def _delete(self, entries: Sequence[Entry]) -> None:
        if not entries or not await self.app.push_screen_wait(_delete_question(entries)):
            return
        ids = [entry.id for entry in entries]
        await self.report("delete", await self.in_thread(lambda: self.engine.store.delete(ids)), entries)

    async def _set_validity(self, entries: Sequence[Entry]) -> None:
        from spark_tui.screens.dialogs.validity import validity_dialog

        if not entries:
            return
        present = entries[0].valid_until.day if entries[0].valid_until else None
        answer = await self.app.push_screen_wait(validity_dialog([each.name for each in entries], present, self.today))
        if answer is not None:
            await self.report("validity", await self.in_thread(lambda: self._valid(entries, answer.day)), entries)

    def _valid(self, entries: Sequence[Entry], day: date | None) -> list[ItemResult]:
        """On a thread: one result per entry; the version a person saw is the one that is changed."""
        results = []
        for entry in entries:
            try:
                after = self.engine.store.edit(entry.id, Changes(valid_until=day), entry.version)
            except SparkError as error:
                results.append(ItemResult(entry.id, error.code, error.message))
            else:
                outcome = "unchanged" if after.version == entry.version else "done"
                results.append(ItemResult(entry.id, outcome, version=after.version))
        return results

    async def _show_history(self, key: str) -> None:
        from spark_tui.screens.dialogs.history import HistoryDialog

        past = await self.in_thread(lambda: self._past(key))
        if past is None:
            return
        chosen = await self.app.push_screen_wait(HistoryDialog(past, self.can_writable()))
        if chosen is None:
            return
        entry = await self.in_thread(lambda: self.engine.history.restore(key, chosen.version))
        if entry is not None:
            said = _("restored {name} as version {n}").format(name=one_line(entry.name), n=entry.version)
            self.remember_done(said, [(entry.id, entry.version)])
            self.refresh_all()
            self.say(said, "good")

    def _past(self, key: str) -> "Past":
        from spark_tui.screens.dialogs.history import Past

        engine = self.engine
        entry, body = engine.listing.entry(key), engine.listing.body(key)
        return Past(entry, body, engine.history.revisions(key), engine.clock.now_ms(), engine.clock.zone())

    async def _undo(self) -> None:
        done = self.done_here[-1] if self.done_here else await self._done_elsewhere()
        if done is None:
            return
        stored = await self.in_thread(lambda: [self.engine.history.undo(group) for group in done.groups])
        if done in self.done_here:
            self.done_here.remove(done)
        self.refresh_all()
        if stored is not None:
            self.say(_("undone: {what}").format(what=done.words), "good")

    async def _done_elsewhere(self) -> Done | None:
        """The newest change of the feed, when the person says so."""
        from spark_tui.screens.dialogs.confirm import ConfirmDialog

        change = self._undoable()
        if change is None:
            return None
        words = f"{action_word(change.action)} {one_line(change.name)}"
        lines = [_("This was not done on this screen:"), words]
        if await self.app.push_screen_wait(ConfirmDialog(_("undo?"), lines, _("undo"), "u")):
            return Done(words, (change.group,))
        return None

    def _undoable(self) -> Change | None:
        change = self.overview.last_change if self.overview else None
        return None if change is None or change.undone or change.action in _NO_UNDO else change


def _delete_question(entries: Sequence[Entry]) -> "ConfirmDialog":
    """Names what would go, and says that archiving keeps it."""
    from spark_tui.screens.dialogs.confirm import ConfirmDialog

    names = [f"{one_line(entry.name)}  {entry.id}" for entry in entries[:NAMED]]
    if len(entries) > NAMED:
        names.append(_("and {n} more").format(n=len(entries) - NAMED))
    title = ngettext("delete {n} memory?", "delete {n} memories?", len(entries)).format(n=len(entries))
    advice = _("File, history and vectors go for good. Archiving (A) keeps them out of the way instead.")
    if all(entry.state(entry.updated_at) is State.ARCHIVED for entry in entries):
        advice = _("File, history and vectors go for good.")
    return ConfirmDialog(title, [*names, "", advice], _("delete"), "d")
