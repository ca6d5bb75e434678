"""What the Candidates tab shows: the list of what waits and the card of one; it decides nothing."""

from collections.abc import Sequence
from typing import ClassVar

from engine.memory.candidates.model import CandidateState
from spark_tui import actions
from spark_tui.presenters.candidate_card import Card, card_lines
from spark_tui.presenters.candidate_problems import Refusal
from spark_tui.presenters.candidate_rows import candidate_cells
from spark_tui.presenters.memory_rows import age_width
from spark_tui.screens.candidates_frame import CONTEXTS, ReviewScreen
from spark_tui.screens.candidates_reading import Waiting, linked, read_card, read_waiting
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank
from spark_tui.widgets.rows import Cell, Column, Row


class CandidatesBase(ReviewScreen[Waiting, Card]):
    """The first tab of the area, without its verbs."""

    TAB = "candidates"
    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.CANDIDATES, *CONTEXTS)

    def __init__(self) -> None:
        super().__init__()
        self.refused: tuple[Card, Refusal] | None = None
        """The last yes that did not go through: said on that card as long as it is the same."""
        self.any_confirmed = False
        self._begun: tuple[str, str] | None = None

    def columns(self) -> Sequence[Column]:
        """Mark, action, name, scope, note, age, days left."""
        age = max(4, age_width())
        return (
            Column("mark", "", 1),
            Column("action", _("action"), 7, priority=60),
            Column("name", _("name"), 18, flex=3, most=40),
            Column("scope", _("scope"), 8, flex=1, most=14, priority=10),
            Column("note", "", 15, flex=3, most=34, priority=50),
            Column("age", _("age"), age, priority=20, align="right"),
            Column("left", _("ends"), age, priority=30, align="right"),
        )

    def read_items(self) -> list[tuple[str, Waiting, Row]]:
        """On a thread: everything that waits."""
        engine = self.engine
        self.any_confirmed = engine.candidates.count(states=(CandidateState.CONFIRMED,)) > 0
        project, now = engine.layers.project(), engine.clock.now_ms()
        label = project.label if project else ""
        return [(each.candidate.id, each, _row(each, label, now)) for each in read_waiting(engine)]

    def read_page(self, key: str) -> Card:
        """On a thread: the whole card."""
        return read_card(self.engine, key)

    def page_lines(self, key: str, page: Card) -> list[Block]:
        """The card, with what became of the last yes; one whose text was exchanged says so."""
        if self._begun is None or self._begun[0] != key:
            self._begun = (key, page.digest)
        changed = self._begun[1] != page.digest
        clock = self.engine.clock
        told = self.refused[1] if self.refused is not None and self.refused[0] == page else None
        return card_lines(page, clock.now_ms(), clock.zone(), told, changed)

    def nothing_lines(self) -> list[Block]:
        """Where candidates come from, while there are none."""
        return [
            Line((("strong", _("nothing waits for you")),)),
            blank(),
            Line((("text", _("Changes to your own words, general rules and imports wait here until you say yes.")),)),
            Line((("dim", _("] shows what was dropped, what was learned and what changed.")),)),
        ]

    def empty_words(self) -> str:
        """Nothing to decide."""
        return _("no candidate waits")

    def can_source(self) -> bool:
        """Whether the candidate rests on a memory that is still here."""
        return bool(self.linked())

    def card_in_sight(self) -> Card | None:
        """The card a person can read now; one that is out of sight is opened instead."""
        if not self.is_page_in_sight:
            self.open_page()
            self.say(_("read it first; the same key again decides"), "accent")
            return None
        card = self.page_at_cursor()
        if card is None:
            self.say(_("the card is still being read"), "dim")
        return card

    def linked(self) -> list[tuple[str, str]]:
        card = self.page_at_cursor()
        if card is None:
            return []
        texts = [card.target, *(text for _state, text in card.sources)]
        return linked(card.shown, {text.entry.id: text.entry.name for text in texts if text is not None})


def _row(each: Waiting, project: str, now_ms: int) -> Row:
    cells = candidate_cells(each.shown, each.name_taken, project, now_ms)
    return Row(each.candidate.id, tuple(Cell(text, style) for text, style in cells))
