"""Asks for another name for a candidate and confirms under it; what stands in the way is said below the field."""

import asyncio
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.errors import SparkError
from engine.memory.model import Entry
from spark_tui import actions
from spark_tui.presenters.candidate_problems import refusal
from spark_tui.presenters.problems import next_step
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.widgets.form_field import FormField, TextField


class NameDialog(Sheet[Entry]):
    """Answers the memory a confirmation led to, or None; ``confirm(name)`` runs on a thread."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FORM, actions.DIALOG)
    DEFAULT_CSS = """
    NameDialog FormField { margin: 1 0 0 0; }
    NameDialog Static { color: $dim; background: $raised; padding: 0 1; height: auto; margin: 0 0 1 0; }
    """

    def __init__(self, name: str, confirm: Callable[[str], Entry]) -> None:
        super().__init__(_("confirm under another name"))
        self._confirm = confirm
        self._busy = False
        self._field = TextField("name", _("name"), name)

    def body(self) -> Iterable[Widget]:
        """The field, and what happens."""
        yield self._field
        yield Static(_("description and text are remembered as the card shows them"), markup=False)

    def on_mount(self) -> None:
        """Type at once."""
        self._field.focus_control()

    def do_form_save(self) -> None:
        """Confirm, unless that is under way."""
        if not self._busy:
            self._busy = True
            self.run_worker(self._save(self._field.value.strip()), exit_on_error=True)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.do_form_save()

    @on(FormField.Changed)
    def _changed(self) -> None:
        self._field.set_error("")

    async def _save(self, name: str) -> None:
        try:
            self.dismiss(await asyncio.to_thread(self._confirm, name))
        except SparkError as error:
            self._field.set_error(said(error))
        finally:
            self._busy = False


def said(error: SparkError) -> str:
    """What went wrong, and a name that would do where the engine knows one; the field itself is the rest of the advice."""
    step = next_step(error) if "suggestion" in error.details else None
    return ": ".join(filter(None, (refusal(error).sentence, step)))
