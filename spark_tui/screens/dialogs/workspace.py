"""Chooses the workspace to stand in: one this home has met, or any folder by its path."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from spark_tui import actions
from spark_tui.screens.dialogs.choose import Choice, ChooseDialog
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.dates import age
from spark_tui.text.fit import truncate_middle
from spark_tui.text.i18n import _
from spark_tui.widgets.form_field import FormField, TextField

ELSEWHERE = "elsewhere"


def workspace_dialog(known: Sequence[tuple[str, Path, int]], here: Path | None, now_ms: int) -> ChooseDialog:
    """The list of known workspaces; answers a path, or ``ELSEWHERE`` for one that has to be typed."""
    choices = [
        Choice(
            str(root),
            root.name,
            f"{truncate_middle(str(root), 44)}, {_('seen {age} ago').format(age=age(seen, now_ms))}",
        )
        for _id, root, seen in known
    ]
    choices.append(Choice(ELSEWHERE, _("another folder"), _("type its path")))
    return ChooseDialog(_("workspace"), choices, str(here) if here else None)


class FolderDialog(Sheet[Path]):
    """Answers an existing folder, or None."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FORM, actions.DIALOG)
    DEFAULT_CSS = "FolderDialog FormField { margin: 1 0; }"

    def __init__(self, start: Path) -> None:
        super().__init__(_("another folder"))
        self._field = TextField("folder", _("path of the project folder"), str(start))

    def body(self) -> Iterable[Widget]:
        """The field."""
        yield self._field

    def on_mount(self) -> None:
        """Type at once."""
        self._field.focus_control()

    def do_form_save(self) -> None:
        """Answer, when there is such a folder."""
        folder = Path(self._field.value.strip()).expanduser()
        if not self._field.value.strip() or not folder.is_dir():
            self._field.set_error(_("there is no such folder"))
            return
        self.dismiss(folder.resolve())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.do_form_save()

    @on(FormField.Changed)
    def _changed(self) -> None:
        self._field.set_error("")
