"""The three sets of marks."""

import unicodedata
from dataclasses import fields

import pytest

from spark_tui.text.glyphs import ASCII, BLOCKS, SETS, UNICODE, Glyphs, chosen_glyphs
from spark_tui.text.width import cells

STATES = ("active", "expired", "invalid", "archived", "quarantined", "missing")


def marks(glyphs: Glyphs) -> dict[str, str]:
    return {field.name: getattr(glyphs, field.name) for field in fields(glyphs) if field.name != "name"}


@pytest.mark.parametrize("name", SETS)
def test_every_mark_is_one_cell_except_the_ellipsis(name: str) -> None:
    assert {mark for field, mark in marks(SETS[name]).items() if field != "ellipsis" and cells(mark) != 1} == set()


def test_the_unicode_set_has_no_character_that_a_chinese_terminal_may_draw_two_cells_wide() -> None:
    risky = {mark for text in marks(UNICODE).values() for mark in text if unicodedata.east_asian_width(mark) in "AWF"}
    assert risky == set()


def test_the_ascii_set_is_ascii() -> None:
    assert all(mark.isascii() for mark in marks(ASCII).values())


@pytest.mark.parametrize("name", SETS)
def test_every_state_has_a_mark_of_its_own(name: str) -> None:
    assert len({SETS[name].state(state) for state in STATES}) == len(STATES)


@pytest.mark.parametrize("glyphs", [UNICODE, BLOCKS, ASCII])
def test_a_gauge_grows_with_its_fraction_and_keeps_its_width(glyphs: Glyphs) -> None:
    bars = [glyphs.gauge(step / 20, 10) for step in range(-2, 23)]
    assert {cells(bar) for bar in bars} == {10}
    assert len(dict.fromkeys(bars)) == 21
    assert (bars[0], bars[-1]) == (glyphs.empty * 10, glyphs.full * 10)


def test_the_set_follows_the_setting_then_the_terminal() -> None:
    assert chosen_glyphs("blocks", {}) == "blocks"
    assert chosen_glyphs("auto", {"LANG": "de_DE.UTF-8", "TERM": "xterm"}) == "unicode"
    assert chosen_glyphs("auto", {"LANG": "zh_CN.utf8", "TERM": "linux"}) == "blocks"
    assert chosen_glyphs("auto", {"LC_ALL": "C", "LANG": "de_DE.UTF-8"}) == "ascii"
