"""The Candidates screen, put together: its keys; a yes is bound to the very text that is on the card."""

from textual import on

from engine.memory.candidates.model import Action, Edits
from engine.memory.model import Entry
from spark_tui.presenters.candidate_card import Card
from spark_tui.screens.candidates_deciding import Deciding
from spark_tui.text.i18n import _, ngettext
from spark_tui.widgets.window_list import WindowList


class CandidatesScreen(Deciding):
    """Area 2, its first tab."""

    def do_candidates_confirm(self) -> None:
        """Say yes to what is on the card; what was not shown is shown first."""
        card = self.card_in_sight()
        if card is not None:
            self.say_yes(card)

    def do_candidates_reject(self) -> None:
        """Say no to the marked candidates, else to the one under the cursor."""
        self.say_no(self.list.targets())

    def do_candidates_rename(self) -> None:
        """Ask for another name, then confirm under it."""
        card = self.card_in_sight()
        if card is not None and card.candidate.action is Action.UPDATE:
            self.say(_("an update keeps the name of its target"), "dim")
        elif card is not None and _is_plain_deletion(card):
            self.say(_("there is nothing to name: it only takes a memory out of use"), "dim")
        elif card is not None:
            self.run_worker(self._rename(card), exit_on_error=True)

    def do_candidates_edit(self) -> None:
        """Edit the text, then confirm that."""
        card = self.card_in_sight()
        if card is not None and _is_plain_deletion(card):
            self.say(_("there is nothing to edit: it only takes a memory out of use"), "dim")
        elif card is not None:
            self.run_worker(self._edit(card), exit_on_error=True)

    def do_candidates_source(self) -> None:
        """Open its target or one of its sources in Memory."""
        self.run_worker(self.open_memory(self.linked()), exit_on_error=True)

    def do_candidates_mark(self) -> None:
        """Mark and step down."""
        self.list.toggle_mark()

    def do_candidates_mark_all(self) -> None:
        """All, or none."""
        self.list.mark_all()

    def do_candidates_range(self) -> None:
        """Begin or end a range."""
        self.list.toggle_range()

    def do_candidates_undo(self) -> None:
        """Take back what was confirmed here last; what was confirmed elsewhere only after asking."""
        self.run_worker(self.undo(), exit_on_error=True)

    @on(WindowList.Marked)
    def _marked(self) -> None:
        count = len(self.list.marked)
        if count:
            self.say(
                ngettext("{n} marked: n rejects them", "{n} marked: n rejects them", count).format(n=count), "accent"
            )

    async def _rename(self, card: Card) -> None:
        from spark_tui.screens.dialogs.candidate_name import NameDialog

        key, digest, name = card.candidate.id, card.digest, card.candidate.name
        entry = await self.app.push_screen_wait(
            NameDialog(name, lambda wanted: self.engine.candidates.confirm(key, digest, wanted))
        )
        if entry is not None:
            await self.was_confirmed(key, entry)

    async def _edit(self, card: Card) -> None:
        from spark_tui.screens.candidates_form import edited

        def confirm(name: str, edits: Edits) -> Entry:
            return self.engine.candidates.confirm(card.candidate.id, card.digest, name, edits)

        entry = await edited(self, card, confirm)
        if entry is not None:
            await self.was_confirmed(card.candidate.id, entry)


def _is_plain_deletion(card: Card) -> bool:
    """Whether it brings no text of its own."""
    return card.candidate.action is Action.DELETE and not card.candidate.replaces
