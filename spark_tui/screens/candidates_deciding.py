"""Deciding on candidates: yes, no and taking a yes back; each on a thread, whatever stands in the way is said on the card."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from engine.errors import SparkError
from engine.memory.candidates.model import CandidateState
from engine.memory.model import Entry, ItemResult
from spark_tui.presenters.candidate_card import Card
from spark_tui.presenters.candidate_problems import refusal
from spark_tui.screens.candidates_base import CandidatesBase
from spark_tui.screens.engine_screen import BESIDE
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.safe import one_line
from spark_tui.text.width import cells
from spark_tui.widgets.motion import Motion

if TYPE_CHECKING:
    from spark_tui.screens.dialogs.confirm import ConfirmDialog

NAMED = 8
PAUSE_S = 0.7
"""After a decision the next card comes up by itself: a key held down, or pressed twice, must not decide that one too."""


class Deciding(CandidatesBase):
    """The flows behind the keys."""

    def __init__(self) -> None:
        super().__init__()
        self.confirmed_here: list[tuple[str, str]] = []
        """Steps of confirmations made on this screen, each with the name it is known by, the latest last."""
        self._busy = False
        self._decided_at = -PAUSE_S

    def can_undo(self) -> bool:
        """Whether a confirmation could be taken back."""
        return self.can_writable() and (bool(self.confirmed_here) or self.any_confirmed)

    def say_yes(self, card: Card) -> None:
        """Confirm what is on the card, by the digest of that text."""
        if not self._busy and not self._is_too_soon():
            self._busy = True
            confirm = self.engine.candidates.confirm
            self.run_worker(self._confirm(lambda: confirm(card.candidate.id, card.digest), card), exit_on_error=True)

    def _is_too_soon(self) -> bool:
        """Whether the card under this key has only just come up; each key that comes too soon begins the pause anew."""
        soon = monotonic() - self._decided_at < PAUSE_S
        if soon:
            self._decided_at = monotonic()
            self.say(_("the next one has just come up: read it first"), "dim")
        return soon

    async def _confirm(self, confirm: Callable[[], Entry], card: Card) -> None:
        try:
            entry = await asyncio.to_thread(confirm)
        except SparkError as error:
            self._refuse(card, error)
        else:
            await self.was_confirmed(card.candidate.id, entry)
        finally:
            self._busy = False

    def _refuse(self, card: Card, error: SparkError) -> None:
        """The candidate stays; why is said on its card and at the bottom."""
        told = refusal(error)
        self.refused = (card, told)
        self.repaint_page()
        self.view.move(Motion.TOP)
        fits = cells(told.sentence) + BESIDE <= self.size.width
        self.say(told.sentence if fits else _("not confirmed: the card says why"), "error")
        self.refresh_all()

    async def was_confirmed(self, key: str, entry: Entry) -> None:
        """Note the step for undo, and go on to the next card."""
        self.refused = None
        self._decided_at = monotonic()
        self.page = None
        self.leave_page()
        decided = await self.in_thread(lambda: self.engine.candidates.get(key).candidate)
        name = one_line(entry.name)
        if decided is not None and decided.operation is not None:
            self.confirmed_here.append((decided.operation, name))
            self.say(_("confirmed {name} ({id})").format(name=name, id=entry.id), "good")
        else:
            self.say(_("{name} says it already ({id}); nothing was written").format(name=name, id=entry.id), "good")
        self.refresh_all()

    def say_no(self, keys: Sequence[str]) -> None:
        """Reject these candidates; several are named and asked about first, since a rejected text never comes back."""
        names = {key: one_line(self.items[key].candidate.name) for key in keys if key in self.items}
        if names and not self._busy and not self._is_too_soon():
            self._busy = True
            self.run_worker(self._reject(names), exit_on_error=True)

    async def _reject(self, names: Mapping[str, str]) -> None:
        try:
            if len(names) > 1 and not await self.app.push_screen_wait(_rejection(list(names.values()))):
                return
            results = await self.in_thread(lambda: [self._rejected(key) for key in names])
        finally:
            self._busy = False
        if results is not None:
            self._tell_rejected(results, names)

    def _rejected(self, key: str) -> ItemResult:
        try:
            self.engine.candidates.reject(key)
        except SparkError as error:
            return ItemResult(key, error.code, refusal(error).sentence)
        return ItemResult(key, "done")

    def _tell_rejected(self, results: Sequence[ItemResult], names: Mapping[str, str]) -> None:
        from spark_tui.presenters.outcomes import outcome_page
        from spark_tui.screens.dialogs.text_view import TextViewDialog

        while self.list.clear_marks():  # an open range first, then the marks
            continue
        self.leave_page()
        self.refresh_all()
        self._decided_at = monotonic()
        done = [each for each in results if each.ok]
        for each in done:
            self.items.pop(each.id, None)  # the same key again must not reach it before the list is read anew
        if len(done) == 1:
            said = _("rejected {name}").format(name=names[done[0].id])
        else:
            said = ngettext("rejected {n} candidate", "rejected {n} candidates", len(done)).format(n=len(done))
        if len(done) == len(results):
            self.say(said, "good")
        else:
            self.app.push_screen(TextViewDialog(said, outcome_page(results, names)))

    async def undo(self) -> None:
        """Take the latest confirmation back: the candidate waits again, with the text that was confirmed."""
        step = self.confirmed_here.pop() if self.confirmed_here else await self._confirmed_elsewhere()
        if step is None:
            return
        group, name = step
        stored = await self.in_thread(lambda: self.engine.history.undo(group))
        if stored is not None:
            self.say(_("undone: {name} waits again").format(name=name), "good")
        self.refresh_all()

    async def _confirmed_elsewhere(self) -> tuple[str, str] | None:
        """The latest confirmation that is still in force, when the person says so."""
        from spark_tui.screens.dialogs.confirm import ConfirmDialog

        found = await self.in_thread(lambda: self.engine.candidates.window(states=(CandidateState.CONFIRMED,)))
        decided = [each.candidate for each in found or () if each.candidate.operation is not None]
        if not decided:
            self.say(_("nothing to undo"), "dim")
            return None
        latest = max(decided, key=lambda each: each.decided_at or 0)
        lines = [_("This was not confirmed just now:"), one_line(latest.name)]
        if not await self.app.push_screen_wait(ConfirmDialog(_("undo?"), lines, _("undo"), "u")):
            return None
        return str(latest.operation), one_line(latest.name)


def _rejection(names: Sequence[str]) -> "ConfirmDialog":
    """Names what would go."""
    from spark_tui.screens.dialogs.confirm import ConfirmDialog

    lines = [*names[:NAMED]]
    if len(names) > NAMED:
        lines.append(_("and {n} more").format(n=len(names) - NAMED))
    lines += ["", _("Their text goes and is never asked again. Memories stay as they are.")]
    title = ngettext("reject {n} candidate?", "reject {n} candidates?", len(names)).format(n=len(names))
    return ConfirmDialog(title, lines, _("reject"), "n")
