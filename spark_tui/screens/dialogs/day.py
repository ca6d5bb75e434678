"""Asks for one day, checked as it is typed; what the day is for is said by whoever asks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.errors import ValidationFailed
from spark_tui import actions
from spark_tui.presenters.day_input import day_input
from spark_tui.presenters.problems import problem
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.widgets.form_field import FormField, TextField


@dataclass(frozen=True, slots=True)
class DayAnswer:
    """The day, or None for none."""

    day: date | None


class DayDialog(Sheet[DayAnswer]):
    """Answers a ``DayAnswer``, or None when it was closed; ``meaning`` says below the field what a day would do."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FORM, actions.DIALOG)
    DEFAULT_CSS = """
    DayDialog FormField { margin: 1 0 0 0; }
    DayDialog #meaning { color: $dim; padding: 0 1; height: 1; margin: 0 0 1 0; }
    """

    def __init__(self, title: str, label: str, value: str, today: date, meaning: Callable[[date | None], str]) -> None:
        super().__init__(title)
        self._today = today
        self._meaning = meaning
        self._field = TextField("day", label, value)
        self._note = Static("", markup=False, id="meaning")

    def body(self) -> Iterable[Widget]:
        """The field, and what its text means."""
        yield self._field
        yield self._note

    def on_mount(self) -> None:
        """Type at once."""
        self._field.focus_control()
        self._explain()

    def do_form_save(self) -> None:
        """Answer, when it is a day."""
        try:
            self.dismiss(DayAnswer(day_input(self._field.value, self._today)))
        except ValidationFailed as error:
            self._field.set_error(problem(error))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.do_form_save()

    @on(FormField.Changed)
    def _explain(self) -> None:
        """Say what the text means so far; half a date is no error yet."""
        self._field.set_error("")
        try:
            day = day_input(self._field.value, self._today)
        except ValidationFailed:
            day = None
        self._note.update(self._meaning(day))
