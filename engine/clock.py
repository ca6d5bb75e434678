"""Time as the engine sees it: epoch milliseconds and the person's zone, both handed in so that tests can move them."""

import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

from engine.errors import ValidationFailed

DAY_MS = 86_400_000
# A day inside what any zone can write back.
_EARLIEST = datetime(1, 1, 3, tzinfo=UTC)
_LATEST = datetime(9999, 12, 29, tzinfo=UTC)


class Clock(Protocol):
    """Where now and the local zone come from."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        ...

    def zone(self) -> ZoneInfo:
        """The person's time zone."""
        ...


class SystemClock:
    """The machine's own clock and zone."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC, from the system clock."""
        return time.time_ns() // 1_000_000

    def zone(self) -> ZoneInfo:
        """The zone of TZ or of the system; where it has no name, the whole-hour zone of the same offset, else UTC."""
        import tzlocal

        try:
            key = str(getattr(tzlocal.get_localzone(), "key", ""))
        except Exception:  # a broken TZ or zone file must never stop a memory from being read
            key = ""
        offset = time.localtime().tm_gmtoff
        named = _zone(key)
        if named is not None and datetime.now(named).utcoffset() == timedelta(seconds=offset):
            return named
        hours, odd = divmod(offset, 3600)
        return (None if odd or not hours else _zone(f"Etc/GMT{-hours:+d}")) or ZoneInfo("UTC")


def _zone(key: str) -> ZoneInfo | None:
    """A zone that can be read back by its name; a zone file of the machine's own has none."""
    try:
        return ZoneInfo(key) if key else None
    except (OSError, ValueError, LookupError):
        return None


class ManualClock:
    """A clock that stands still until it is moved; for tests and replays."""

    def __init__(self, now_ms: int = 1_767_225_600_000, zone: str = "UTC") -> None:
        self.ms = now_ms
        self._zone = ZoneInfo(zone)

    def now_ms(self) -> int:
        """The time it was last set to."""
        return self.ms

    def zone(self) -> ZoneInfo:
        """The zone it was made with."""
        return self._zone

    def advance(self, *, ms: int = 0, days: float = 0) -> None:
        """Move time forward (or back, with a negative value)."""
        self.ms += ms + round(days * DAY_MS)


def iso(ms: int, zone: tzinfo = UTC) -> str:
    """ISO-8601 with milliseconds and zone offset: ``2026-10-31T08:00:00.000+08:00``."""
    return datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone(zone).isoformat(timespec="milliseconds")


def parse_iso(text: str) -> int:
    """Milliseconds of an ISO-8601 time; one without a zone is taken as UTC. Raises ``ValidationFailed``."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValidationFailed(f"not an ISO-8601 time: {text[:40]!r}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _EARLIEST <= moment <= _LATEST:
        raise ValidationFailed(f"the year {moment.year} is out of range")
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return delta // timedelta(milliseconds=1)


def parse_day(text: str) -> date:
    """A calendar day written ``YYYY-MM-DD``. Raises ``ValidationFailed`` for anything else."""
    try:
        if len(text) != 10:
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ValidationFailed(f"not a day: {text[:40]!r}", "write it as YYYY-MM-DD") from None


def day_start_ms(day: date, zone: ZoneInfo) -> int:
    """The first instant of a local day."""
    return round(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() * 1000)


def day_end_ms(day: date, zone: ZoneInfo) -> int:
    """The first instant after a local day: the next local midnight (02 §1, "last applicable day", half-open)."""
    try:
        return day_start_ms(day + timedelta(days=1), zone)
    except OverflowError:
        raise ValidationFailed(f"the day {day.isoformat()} is too far away") from None


def local_day(ms: int, zone: ZoneInfo) -> date:
    """The local calendar day of an instant."""
    return datetime.fromtimestamp(ms / 1000, tz=zone).date()
