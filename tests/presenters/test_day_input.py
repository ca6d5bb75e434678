"""Days as people type them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.errors import ValidationFailed
from spark_tui.presenters.day_input import day_input

TODAY = date(2026, 1, 31)


@pytest.mark.parametrize(
    ("typed", "day"),
    [
        ("2026-10-31", date(2026, 10, 31)),
        (" 2026/10/31 ", date(2026, 10, 31)),
        ("+1d", date(2026, 2, 1)),
        ("-31d", date(2025, 12, 31)),
        ("+2w", date(2026, 2, 14)),
        ("+1m", date(2026, 2, 28)),
        ("-2m", date(2025, 11, 30)),
        ("+1Y", date(2027, 1, 31)),
        ("＋1d", date(2026, 2, 1)),
        ("", None),
        ("  ", None),
    ],
)
def test_a_date_a_distance_or_nothing(typed: str, day: date | None) -> None:
    assert day_input(typed, TODAY) == day


def test_a_month_from_the_29th_of_a_leap_february_is_the_29th() -> None:
    assert day_input("+1m", date(2028, 2, 29)) == date(2028, 3, 29)
    assert day_input("+1y", date(2028, 2, 29)) == date(2029, 2, 28)


@given(some.text(max_size=20))
def test_any_other_text_is_refused_and_never_crashes(typed: str) -> None:
    try:
        found = day_input(typed, TODAY)
    except ValidationFailed:
        return
    assert found is None or isinstance(found, date)


@pytest.mark.parametrize("typed", ["+9999y", "-9999y", "2026-13-01", "31.10.2026", "tomorrow", "+d", "0000-00-00"])
def test_what_is_no_day_says_so(typed: str) -> None:
    with pytest.raises(ValidationFailed):
        day_input(typed, TODAY)
