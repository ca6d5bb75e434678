"""Lets a person choose one of some things, typing to narrow a long list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.widget import Widget

from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.highlight import occurrences
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line
from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.rows import Cell, Column, ListSource, Row, Span
from spark_tui.widgets.window_list import WindowList

_LONG = 8
_ROWS = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to choose: what it is called and one dim phrase about it."""

    key: str
    label: str
    note: str = ""


class ChooseDialog(Sheet[str]):
    """Answers the key of the choice, or None; more than eight choices come with a field that narrows them."""

    FIELD_DRIVES_LIST = True

    def __init__(self, title: str, choices: Sequence[Choice], chosen: str | None = None) -> None:
        super().__init__(title)
        self._choices = choices
        self._first = chosen
        self._box = FilterBox(_("type to narrow"), keeps_focus=True)
        columns = (Column("label", "", 12, flex=3, most=48), Column("note", "", 10, flex=4, priority=10))
        self._list = WindowList(columns, self._source(""), empty=_("nothing fits"), show_header=False, driven=True)
        self._list.styles.height = max(1, min(len(choices), _ROWS))

    def body(self) -> Iterable[Widget]:
        """The field when the list is long, and the list."""
        yield self._box
        yield self._list

    def on_mount(self) -> None:
        """Start on the present choice."""
        if self._first is not None:
            self._list.move_to(self._first)
        if len(self._choices) > _LONG:
            self._box.open()
        else:
            self._list.focus()

    def move_target(self) -> object:
        """The list, also while a person types."""
        return self._list

    def on_filter_box_changed(self, event: FilterBox.Changed) -> None:
        """Narrow the list with every key."""
        self._list.set_source(self._source(event.text), from_top=True)

    def on_filter_box_dismissed(self, event: FilterBox.Dismissed) -> None:
        """Esc closes the sheet, typed text or not."""
        self.do_dialog_close()

    def on_window_list_chosen(self, event: WindowList.Chosen) -> None:
        """That is the answer."""
        self.dismiss(event.key)

    def _source(self, typed: str) -> ListSource:
        words = typed.split()
        rows = []
        for choice in self._choices:
            label, note = one_line(choice.label), one_line(choice.note)
            if all(occurrences(f"{label} {note}", [word]) for word in words):
                rows.append(Row(choice.key, (_matched(label, words, "text"), _matched(note, words, "dim"))))
        return ListSource(rows)


def _matched(text: str, words: Sequence[str], style: str) -> Cell:
    return Cell(text, style, tuple(Span(start, end, "match") for start, end in occurrences(text, words)))
