"""Whatever a memory holds, what reaches the terminal is printable."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from spark_tui.text.safe import many_lines, one_line, same_length

HOSTILE = st.text(st.characters(codec=None), max_size=60) | st.text(
    st.sampled_from("a中\x00\x07\x1b[]\x7f\x9b\u202e\u2066\u200b\ud800\udfff\U000e0041\ufe0f\u200d\r\n\t\u2028\u061c"),
    max_size=60,
)


def steering(text: str) -> set[str]:
    return {
        char
        for char in text
        if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in "\u202d\u202e\u2066\u2067"
    }


@given(HOSTILE)
def test_one_line_holds_nothing_that_steers_a_terminal(text: str) -> None:
    assert steering(one_line(text)) == set()
    one_line(text).encode("utf-8")


@given(HOSTILE)
def test_many_lines_hold_nothing_that_steers_a_terminal_and_no_break(text: str) -> None:
    lines = many_lines(text)
    assert lines != []
    assert all(steering(line) == set() for line in lines)


@given(HOSTILE)
def test_a_field_shows_as_many_characters_as_it_holds(text: str) -> None:
    flat = text.replace("\n", " ").replace("\r", " ")
    shown = same_length(flat)
    assert len(shown) == len(flat)
    assert steering(shown.replace("\t", "")) == set()


@given(st.text(st.sampled_from("abc DEF 中文，。！ÄÖéß123-_/()[]“”…"), max_size=60))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert one_line(text) == text


def test_what_hides_is_said() -> None:
    assert one_line("a\x1b[31mb") == "a^[[31mb"
    assert one_line("\x9b1m") == "<009B>1m"
    assert one_line("user\u202egnp.exe") == "user<202E>gnp.exe"
    assert one_line("\ud800") == "<D800>"
    assert one_line("ok\U000e0048\U000e0069") == "ok<tags:Hi>"
    assert one_line("two\nlines\tand a tab") == "two lines and a tab"
    assert one_line("zero\u200bwidth") == "zerowidth"
    assert many_lines("a\r\nb\rc\n") == ["a", "b", "c", ""]
    assert many_lines("a\tb") == ["a   b"]
