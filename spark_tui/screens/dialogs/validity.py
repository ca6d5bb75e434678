"""Sets the last day on which memories apply; an empty field lets them apply without end."""

from datetime import date

from spark_tui.screens.dialogs.day import DayDialog
from spark_tui.text.dates import applies_through
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line


def validity_dialog(names: list[str], present: date | None, today: date) -> DayDialog:
    """The question for one named memory, or for several."""
    what = one_line(names[0]) if len(names) == 1 else _("{n} memories").format(n=len(names))
    title = _("validity of {what}").format(what=what)
    return DayDialog(title, _("last day it applies"), present.isoformat() if present else "", today, _meaning)


def _meaning(day: date | None) -> str:
    if day is None:
        return _("2026-10-31, +30d, +3m, +1y; empty: no end")
    return applies_through(day)
