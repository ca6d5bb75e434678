"""Days as people type them: a date, a distance from today, or nothing."""

import re
from datetime import date, timedelta

from engine.clock import parse_day
from engine.errors import ValidationFailed
from spark_tui.text.i18n import _

_DISTANCE = re.compile(r"([+-])(\d{1,4})([dwmy])")


def day_input(text: str, today: date) -> date | None:
    """``2026-10-31``, ``2026/10/31``, ``+30d``, ``+2w``, ``+3m``, ``-1y``; None for nothing. Raises ``ValidationFailed``."""
    typed = text.strip().replace("/", "-").replace("＋", "+").lower()
    if not typed:
        return None
    found = _DISTANCE.fullmatch(typed)
    if found is None:
        return parse_day(typed)
    sign, amount, unit = found.groups()
    count = int(amount) * (1 if sign == "+" else -1)
    try:
        return _moved(today, count, unit)
    except (ValueError, OverflowError):
        raise ValidationFailed(_("that day is too far away")) from None


def _moved(today: date, count: int, unit: str) -> date:
    """A month or year further is the same day of the month, or its last one."""
    if unit in "dw":
        return today + timedelta(days=count * (7 if unit == "w" else 1))
    months = today.year * 12 + today.month - 1 + count * (12 if unit == "y" else 1)
    first = date(months // 12, months % 12 + 1, 1)
    last = (date((months + 1) // 12, (months + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return first.replace(day=min(today.day, last))
