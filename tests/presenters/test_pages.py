"""Pages about one memory, its history, an injection: the words a person must be able to rely on."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date
from pathlib import Path

import pytest

from engine.clock import DAY_MS
from engine.memory.model import Derivation, Entry, EvidenceStatus, MemoryType, Revision, Scope, Source, State, Validity
from spark_tui.presenters.diff_lines import diff_lines, entry_diff, entry_text, values_text
from spark_tui.presenters.form_values import values_of
from spark_tui.presenters.history_lines import version_lines
from spark_tui.presenters.injection_lines import Preview, injection_lines
from spark_tui.presenters.memory_detail import Detail, detail_lines, failure_lines, peek_lines
from spark_tui.presenters.memory_rows import Reasons
from spark_tui.text.i18n import use_language
from tests.presenters.entries import START_MS, an_entry, texts

LAST_DAY = Validity(date(2026, 10, 31), "UTC", START_MS + 304 * DAY_MS)


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    use_language(request.param)
    yield request.param
    use_language("en")


def page(entry: Entry, now_ms: int = START_MS, reasons: Reasons | None = None, **facts: object) -> str:
    detail = Detail(entry=entry, body="", project="alpha", path=Path("/data/usr_00000001.md"), revisions=0,
                    derivations=(), names={})  # fmt: skip
    return "\n".join(texts(detail_lines(replace(detail, **facts), now_ms, UTC, reasons)))  # type: ignore[arg-type]


def test_the_validity_line_says_that_the_day_itself_still_counts(language: str) -> None:
    words = {"en": "applies through 2026-10-31", "zh_CN": "最后适用日 2026/10/31（该日内仍适用）"}
    assert words[language] in page(an_entry(valid_until=LAST_DAY)).splitlines()


def test_without_a_last_day_there_is_no_such_line(language: str) -> None:
    assert "2026-10-31" not in page(an_entry())
    assert "最后适用日" not in page(an_entry())


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"valid_until": replace(LAST_DAY, until_ms=START_MS)}, "expired"),
        ({"archived": True}, "archived"),
        ({"invalid_at": START_MS}, "invalid since 2026-01-01 00:00"),
        (
            {"file_state": State.QUARANTINED, "file_reason": "line 3: conflict markers"},
            "quarantined: line 3: conflict markers",
        ),
        ({"file_state": State.MISSING, "file_reason": "the file is gone"}, "missing: the file is gone"),
    ],
)
def test_every_state_but_active_is_a_word_on_the_page_and_below_the_list(fields: dict[str, object], word: str) -> None:
    entry = an_entry(**fields)
    assert word in page(entry)
    assert f"no: {word.split(' ')[0].rstrip(':')}" in page(entry)
    assert word.split(" ")[0].rstrip(":") in "\n".join(texts(peek_lines(entry, "alpha", START_MS)))


def test_an_active_memory_needs_no_word_for_it() -> None:
    assert "active" not in page(an_entry())


def test_what_superseded_it_is_named_once() -> None:
    edge = Derivation("usr_00000001", "usr_00000002", "supersede", START_MS)
    told = page(
        an_entry(invalid_at=START_MS, superseded_by="usr_00000002"), derivations=(edge,), names={"usr_00000002": "next"}
    )
    assert told.count("usr_00000002") == 1
    assert "superseded by next (usr_00000002)" in told


def test_feedback_is_injected_always_and_the_rest_when_relevant() -> None:
    assert "in every turn, as all feedback" in page(an_entry(type=MemoryType.FEEDBACK))
    assert "when relevant" in page(an_entry(type=MemoryType.PROJECT))


def test_where_it_comes_from_is_told_in_full() -> None:
    told = page(
        an_entry(
            source=Source.EXTRACTION, extraction_model="qwen3-14b", source_session_id="s_1", evidence="we moved to vite",
            evidence_status=EvidenceStatus.UNVERIFIED, confidence=0.82, entities=("vite", "webpack"), hit_count=3,
            last_hit_at=START_MS - DAY_MS, scope=Scope.PROJECT, version=3,
        ),
        revisions=2,
    )  # fmt: skip
    for words in (
        "extracted from a turn, qwen3-14b, this version by you, session s_1", "we moved to vite (unverified)", "0.82",
        "vite, webpack", "3, last 1d ago", "alpha", "3, 2 earlier versions", "/data/usr_00000001.md",
    ):  # fmt: skip
        assert words in told, told


def test_why_it_was_found_is_the_whole_sum() -> None:
    told = page(an_entry(), reasons=Reasons(1, None, 0.0164, 0.5, 1.0, 0.0082))
    assert "words rank 1, vector rank -: rrf 0.0164 x decay 0.50 x confidence 1.00 = 0.0082" in " ".join(told.split())


def test_a_page_that_cannot_be_read_says_why_and_how_to_try_again() -> None:
    assert texts(failure_lines("it is gone", "look elsewhere")) == [
        "it is gone",
        "look elsewhere",
        "",
        "enter try again",
    ]


def test_a_difference_has_a_sign_before_every_changed_line() -> None:
    assert texts(diff_lines("one\ntwo\nthree", "one\n2\nthree")) == ["  one", "- two", "+ 2", "  three"]
    assert texts(diff_lines("same", "same")) == ["no difference"]


def test_far_changes_are_parted() -> None:
    old = [str(number) for number in range(40)]
    new = [*old[:2], "x", *old[3:38], "y", old[39]]
    assert "..." in texts(diff_lines("\n".join(old), "\n".join(new)))


def test_a_version_is_compared_field_by_field() -> None:
    before = an_entry()
    after = replace(before, description="be kind", valid_until=LAST_DAY, entities=("tone",))
    told = texts(entry_diff(before, "body", after, "body"))
    assert [line for line in told if line[:1] in "+-" and line] == [
        "- be brief", "+ be kind", "+ applies through 2026-10-31", "+ tone",
    ]  # fmt: skip


def test_a_form_and_a_stored_entry_with_the_same_content_read_the_same() -> None:
    entry = an_entry(entities=("a", "b"), valid_until=LAST_DAY)
    assert values_text(values_of(entry, "body")) == entry_text(entry, "body")


def test_versions_are_listed_newest_first_with_their_author() -> None:
    entry = an_entry(version=2, updated_at=START_MS + DAY_MS)
    past = Revision(an_entry(), "old", START_MS + DAY_MS, "op_1")
    lines = version_lines(entry, [past], START_MS, UTC)
    assert [(line.label, line.moment, line.author, line.version) for line in lines] == [
        ("v2 now", "2026-01-02 00:00", "you", None),
        ("v1", "2026-01-01 00:00", "you", 1),
    ]


BLOCK = "<user-memory>\n- [usr_00000001] rule (user): be brief\n</user-memory>\n\nhow to search\n"


def preview(**fields: object) -> str:
    entry = an_entry()
    values: dict[str, object] = {
        "status": "matched", "block": BLOCK, "tokens": 40, "budget": 4000, "lines": [(entry.id, 15)],
        "dropped": [("usr_00000002", "budget")], "entries": {entry.id: entry, "usr_00000002": an_entry(name="other")},
    }  # fmt: skip
    return "\n".join(texts(injection_lines(Preview(**(values | fields)))))  # type: ignore[arg-type]


def test_the_block_is_shown_line_for_line_with_what_each_line_costs() -> None:
    told = preview()
    assert BLOCK.rstrip("\n") in told
    assert "40 of 4000 tokens, 1 entry, 1 left out" in told
    assert "15" in told
    assert "25" in told.split("the fixed text")[0].splitlines()[-1]
    assert "over the budget" in told


@pytest.mark.parametrize("status", ["empty", "disabled", "expired"])
def test_without_a_block_the_page_says_why(status: str) -> None:
    told = preview(status=status, block="", tokens=0, lines=[], dropped=[])
    words = {"empty": "no active memory", "disabled": "switched off", "expired": "has expired"}
    assert words[status] in told
    assert "tokens" not in told


def test_days_of_a_page_follow_the_persons_zone() -> None:
    from zoneinfo import ZoneInfo

    detail = Detail(an_entry(updated_at=START_MS - 60_000), "", "", Path("/x"), 0, (), {})
    told = "\n".join(texts(detail_lines(detail, START_MS, ZoneInfo("Asia/Shanghai"))))
    assert "2026-01-01 07:59 (1m)" in told
