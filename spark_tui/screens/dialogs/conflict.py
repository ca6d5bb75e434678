"""Two people changed the same memory: both texts as a difference, and three ways on of which none loses anything."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from textual.widget import Widget
from textual.widgets import Static

from engine.memory.model import Entry
from spark_tui.presenters.diff_lines import diff_lines
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Column, ListSource, Row
from spark_tui.widgets.window_list import WindowList


class Resolution(StrEnum):
    """What a person decided."""

    MINE = "mine"
    THEIRS = "theirs"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Versions:
    """The entry as it is now with its text, the version the edit was begun on, and the edit's own text."""

    current: Entry
    theirs: str
    base: int
    mine: str


class ConflictDialog(Sheet[Resolution]):
    """Answers a resolution, or None: back to the text as it was typed."""

    DEFAULT_CSS = """
    ConflictDialog > #sheet { height: 100%; }
    ConflictDialog Static { height: auto; padding: 0 1; background: $raised; color: $dim; }
    ConflictDialog WindowList { height: 3; }
    ConflictDialog LineView { padding: 1 1; }
    """

    def __init__(self, versions: Versions) -> None:
        super().__init__(_("changed meanwhile: {name}").format(name=versions.current.name))
        self._versions = versions
        self._list = WindowList(
            (Column("label", "", 14, flex=2, most=30), Column("note", "", 10, flex=5, priority=10)),
            ListSource(_choices(versions)),
            show_header=False,
        )

    def body(self) -> Iterable[Widget]:
        """Which versions meet, the difference, the choices."""
        yield Static(self._sentence(), markup=False)
        yield LineView(diff_lines(self._versions.theirs, self._versions.mine))
        yield self._list

    def on_mount(self) -> None:
        """The choices take the keys; tab goes to the difference."""
        self._list.focus()

    def on_window_list_chosen(self, event: WindowList.Chosen) -> None:
        """That is the decision."""
        self.dismiss(Resolution(event.key))

    def _sentence(self) -> str:
        return _(
            "It is at version {current} now; you began at version {base}. Nothing was written. - is theirs, + is yours."
        ).format(current=self._versions.current.version, base=self._versions.base)


def _choices(versions: Versions) -> list[Row]:
    return [
        Row(
            Resolution.EDIT,
            (_("edit on"), _("back to your text, to be saved over version {n}").format(n=_now(versions))),
        ),
        Row(Resolution.MINE, (_("keep mine"), _("write your text as the next version; theirs stays in the history"))),
        Row(Resolution.THEIRS, (_("take theirs"), _("drop your text"))),
    ]


def _now(versions: Versions) -> int:
    return versions.current.version
