"""Every action and whatever a screen's providers find, by name, in one sheet; runs nothing itself."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from textual.widget import Widget

from spark_tui.actions import DIALOG, MOVE, TYPING, Action
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.highlight import occurrences
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line
from spark_tui.widgets.action_keys import ActionKeys
from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.rows import Cell, Column, ListSource, Row, Span
from spark_tui.widgets.window_list import WindowList

_ROWS = 12


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """Something to jump to or run: ``key`` is an action's id or a provider's own key, ``keys`` the shortcut."""

    key: str
    title: str
    note: str = ""
    keys: str = ""


Provider = Callable[[str], Sequence[PaletteItem]]
"""Answers a typed text with items in the order to show them; called on every key, so within milliseconds."""


class Palette(Sheet[PaletteItem]):
    """Answers the chosen item or None; actions match on their words in both languages and on their id."""

    FIELD_DRIVES_LIST = True

    def __init__(self, actions: Sequence[Action], providers: Sequence[Provider] = ()) -> None:
        super().__init__(_("palette"))
        self._actions = [_item(action) for action in actions]
        self._searched = [
            f"{_item(action).title} {action.explanation} {action.label} {action.id}" for action in actions
        ]
        self._providers = providers
        self.items: dict[str, PaletteItem] = {}
        """What is offered for the text typed so far, by key."""
        self._box = FilterBox(_("what do you want to do?"), ":", keeps_focus=True)
        columns = (
            Column("title", "", 10, flex=2, most=28),
            Column("note", "", 12, flex=5, priority=10),
            Column("keys", "", 8, priority=20, align="right"),
        )
        self._list = WindowList(columns, self._source(""), empty=_("nothing fits"), show_header=False, driven=True)
        self._list.styles.height = _ROWS

    def body(self) -> Iterable[Widget]:
        """The field and what it finds."""
        yield self._box
        yield self._list

    def on_mount(self) -> None:
        """Type at once."""
        self._list.styles.max_height = max(self.app.size.height - 4, 1)
        self._box.open()

    def move_target(self) -> object:
        """The list, while a person types."""
        return self._list

    def on_filter_box_changed(self, event: FilterBox.Changed) -> None:
        """Find again with every key."""
        self._list.set_source(self._source(event.text), from_top=True)

    def on_filter_box_dismissed(self, event: FilterBox.Dismissed) -> None:
        """Esc closes the palette, typed text or not."""
        self.do_dialog_close()

    def on_window_list_chosen(self, event: WindowList.Chosen) -> None:
        """That is the answer."""
        self.dismiss(self.items[event.key])

    def _source(self, typed: str) -> ListSource:
        words = typed.split()
        found = [
            item
            for item, text in zip(self._actions, self._searched, strict=True)
            if all(occurrences(text, [word]) for word in words)
        ]
        found.sort(key=lambda item: not all(occurrences(item.title, [word]) for word in words))
        for provider in self._providers if words else ():
            found += provider(typed)
        self.items = {item.key: item for item in found}
        return ListSource([_row(item, words) for item in self.items.values()])


def open_palette(
    screen: ActionKeys, providers: Sequence[Provider] = (), found: Callable[[PaletteItem], None] | None = None
) -> None:
    """Show the palette over a screen: a chosen action runs there as its key would, any other item goes to ``found``."""
    offered = [action for action in screen.available_actions() if action.where not in (MOVE, TYPING, DIALOG)]

    async def run(item: PaletteItem | None) -> None:
        if item is None:
            return
        if any(action.id == item.key for action in offered):
            await screen.perform(item.key)
        elif found is not None:
            found(item)

    palette = Palette(offered, providers)
    screen.app.push_screen(palette, run)


def _item(action: Action) -> PaletteItem:
    return PaletteItem(action.id, action.title, action.explanation, " ".join(action.keys[:1]))


def _row(item: PaletteItem, words: Sequence[str]) -> Row:
    title = one_line(item.title)
    spans = tuple(Span(start, end, "match") for start, end in occurrences(title, words))
    return Row(item.key, (Cell(title, "text", spans), Cell(one_line(item.note), "dim"), Cell(item.keys, "key")))
