"""One field for one setting; what the engine refuses is said below it with the allowed range."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.errors import SparkError
from spark_tui import actions
from spark_tui.presenters.problems import problem
from spark_tui.presenters.settings_lines import SettingView, allowed_words, meaning_words
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.widgets.form_field import ChoiceField, FormField, TextField

Store = Callable[[str | None], None]


class SettingDialog(Sheet[bool]):
    """Answers True once the value was stored; ``store`` runs on a thread, None means "back to the default"."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FORM, actions.DIALOG)
    DEFAULT_CSS = """
    SettingDialog Static.meaning { color: $dim; padding: 1 1 0 1; height: auto; }
    SettingDialog FormField { margin: 1 0; }
    """

    def __init__(self, view: SettingView, field: FormField, store: Store) -> None:
        super().__init__(view.key)
        self._meaning = Static(meaning_words(view), classes="meaning", markup=False)
        self._field = field
        self._store = store

    def body(self) -> Iterable[Widget]:
        """What it does, and the field."""
        yield self._meaning
        yield self._field

    def on_mount(self) -> None:
        """Type at once."""
        self._field.focus_control()

    async def on_key(self, event: events.Key) -> None:
        """Enter stores a choice too."""
        if event.key == "enter" and isinstance(self._field, ChoiceField):
            event.stop()
            event.prevent_default()
            self.do_form_save()

    def do_form_save(self) -> None:
        """Store the value; an empty text brings the default back."""
        self.run_worker(self._save(), exit_on_error=True)

    async def _save(self) -> None:
        try:
            await asyncio.to_thread(self._store, self._field.value.strip() or None)
        except SparkError as error:
            self._field.set_error(problem(error))
        else:
            self.dismiss(True)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.do_form_save()

    @on(FormField.Changed)
    def _changed(self) -> None:
        self._field.set_error("")


def setting_dialog(view: SettingView, kind: str, choices: Sequence[str], value: str, store: Store) -> SettingDialog:
    """The dialog for a setting: choices for a switch or a list of words, a line for everything else."""
    if kind == "switch":
        switch = [("true", _("on")), ("false", _("off"))]
        field: FormField = ChoiceField("value", _("value"), switch, value.lower())
    elif choices:
        field = ChoiceField("value", _("value"), [(each, each) for each in choices], value)
    else:
        allowed = _("{allowed}; empty: the default, {default}").format(
            allowed=allowed_words(view.allowed), default=view.default
        )
        field = TextField("value", _("value"), value, help=allowed)
    return SettingDialog(view, field, store)
