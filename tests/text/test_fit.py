"""Cutting, padding and wrapping by cells, for any text."""

from itertools import pairwise

import regex
from hypothesis import given
from hypothesis import strategies as st

from spark_tui.text.fit import breaks, fit, truncate, truncate_middle, wrap
from spark_tui.text.glyphs import SETS, glyphs, use_glyphs
from spark_tui.text.width import cells, clusters

TEXT = st.text(max_size=60) | st.text(st.sampled_from("ab c中文，。（）👍🏽e\u0301🇨🇳\u200d-/"), max_size=60)
WIDTH = st.integers(0, 40)


@given(TEXT, WIDTH, st.sampled_from(("left", "right", "center")))
def test_fit_fills_exactly_the_cells_it_was_given(text: str, width: int, align: str) -> None:
    assert cells(fit(text, width, align)) == width  # type: ignore[arg-type]


@given(TEXT, WIDTH)
def test_truncate_keeps_what_fits_and_marks_what_was_cut(text: str, width: int) -> None:
    cut = truncate(text, width)
    assert cells(cut) <= width
    if cells(text) <= width:
        assert cut == text
    elif width >= 1:
        assert cut.endswith(glyphs().ellipsis)


@given(TEXT, WIDTH)
def test_truncate_never_cuts_through_a_character(text: str, width: int) -> None:
    kept = truncate(text, width, mark="")
    ends = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    assert text.startswith(kept)
    trimmed = text[len(kept) :]
    assert any(len(kept) + spaces in ends for spaces in range(len(trimmed) - len(trimmed.lstrip(" \u200d")) + 1))


@given(TEXT, WIDTH)
def test_truncate_middle_keeps_both_ends_of_a_path(text: str, width: int) -> None:
    assert cells(truncate_middle(text, width)) <= width
    assert truncate_middle("/home/me/work/spark-tui/memory/usr_00000001.md", 24).endswith("usr_00000001.md")


@given(TEXT, st.integers(2, 40))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces_at_their_edges(text: str, width: int) -> None:
    cuts = breaks(text, width)
    widest = max((piece.cells for piece in clusters(text)), default=0)
    assert all(cells(text[start:end]) <= max(width, widest) for start, end in cuts)
    lost = text[: cuts[0][0]] + "".join(text[a[1] : b[0]] for a, b in pairwise(cuts)) + text[cuts[-1][1] :]
    assert lost.strip(" ") == ""


@given(TEXT, st.integers(2, 40))
def test_verbatim_rows_keep_every_character(text: str, width: int) -> None:
    assert "".join(text[start:end] for start, end in breaks(text, width, verbatim=True)) == text


def test_english_breaks_at_spaces_and_chinese_anywhere_but_before_its_punctuation() -> None:
    assert wrap("never commit on my behalf", 12) == ["never commit", "on my behalf"]
    assert wrap("用户希望默认用中文，不要英文", 10) == ["用户希望默", "认用中文，", "不要英文"]
    assert wrap("用户希望默认，用中文", 12) == ["用户希望默", "认，用中文"]
    assert wrap("前缀（括号里）后缀", 6) == ["前缀", "（括号", "里）后", "缀"]


def test_a_word_longer_than_the_line_is_broken_where_the_line_is_full() -> None:
    assert wrap("a " + "x" * 9, 4) == ["a", "xxxx", "xxxx", "x"]


def test_every_glyph_set_has_an_ellipsis_that_truncate_uses() -> None:
    try:
        for name, marks in SETS.items():
            use_glyphs(name)
            assert truncate("a long description", 8).endswith(marks.ellipsis)
            assert cells(truncate("a long description", 8)) <= 8
    finally:
        use_glyphs("unicode")
