"""Chooses the day whose memories are shown; an empty field is now."""

from datetime import date

from spark_tui.screens.dialogs.day import DayDialog
from spark_tui.text.dates import day as day_word
from spark_tui.text.i18n import _


def as_of_dialog(present: date | None, today: date) -> DayDialog:
    """The question."""
    return DayDialog(_("as of another day"), _("day"), present.isoformat() if present else "", today, _meaning)


def _meaning(day: date | None) -> str:
    if day is None:
        return _("2026-03-01, -30d, -1y, +3m; empty: now")
    return _("what applied on {day}").format(day=day_word(day))
