"""Days and ages in the words of the person's language; never reads a clock."""

from datetime import UTC, date, datetime, tzinfo

from spark_tui.text.i18n import N_, _

_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_MONTH = 30 * _DAY
_YEAR = 365 * _DAY
_STEPS = (
    (_YEAR, N_("{n}y")),
    (_MONTH, N_("{n}mo")),
    (_DAY, N_("{n}d")),
    (_HOUR, N_("{n}h")),
    (_MINUTE, N_("{n}m")),
)


def age(then_ms: int, now_ms: int) -> str:
    """How long ago, in one unit: ``3m 2h 5d 4mo 1y``, ``now`` under a minute or when the clock went back."""
    passed = now_ms - then_ms
    for size, words in _STEPS:
        if passed >= size:
            return _(words).format(n=passed // size)
    return _("now")


def day(value: date) -> str:
    """A calendar day as lists show it, ``2026-10-31``."""
    return value.isoformat()


def moment(ms: int, zone: tzinfo = UTC) -> str:
    """A point in time to the minute in ``zone``: ``2026-10-31 08:00``."""
    return datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M")


def applies_through(last_day: date) -> str:
    """The validity line of a memory (02 §1): the last day on which it still applies."""
    return _("applies through {day}").format(day=last_day.isoformat(), slashed=f"{last_day:%Y/%m/%d}")
