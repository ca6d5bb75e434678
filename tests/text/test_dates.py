"""Ages and days in both languages."""

from collections.abc import Iterator
from datetime import date
from zoneinfo import ZoneInfo

import pytest

from spark_tui.text.dates import age, applies_through, moment
from spark_tui.text.i18n import use_language

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOW = 1_767_225_600_000


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


@pytest.mark.parametrize(
    ("passed", "english", "chinese"),
    [
        (-HOUR, "now", "刚刚"),
        (59_999, "now", "刚刚"),
        (3 * MINUTE, "3m", "3分钟"),
        (119 * MINUTE, "1h", "1小时"),
        (5 * DAY, "5d", "5天"),
        (125 * DAY, "4mo", "4个月"),
        (364 * DAY, "12mo", "12个月"),
        (800 * DAY, "2y", "2年"),
    ],
)
def test_an_age_is_one_number_with_its_unit(passed: int, english: str, chinese: str) -> None:
    assert age(NOW - passed, NOW) == english
    use_language("zh_CN")
    assert age(NOW - passed, NOW) == chinese


def test_validity_reads_as_the_last_applicable_day() -> None:
    assert applies_through(date(2026, 10, 31)) == "applies through 2026-10-31"
    use_language("zh_CN")
    assert applies_through(date(2026, 10, 31)) == "最后适用日 2026/10/31（该日内仍适用）"


def test_a_moment_is_shown_in_the_given_zone() -> None:
    assert moment(NOW, ZoneInfo("Asia/Shanghai")) == "2026-01-01 08:00"
