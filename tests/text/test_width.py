"""One measure for every text: what it promises for any string."""

import regex
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from spark_tui.text.width import cells, clusters

# What the running Python does not know yet (unassigned) may be a combining mark to a newer table.
ASSIGNED = st.text(st.characters(codec=None, exclude_categories=("Cn",)), max_size=40)
EVERYTHING = st.text(st.characters(codec=None), max_size=40)
TRICKY = st.text(
    st.sampled_from(
        "a 中，한\u1100\u1161\u11a8e\u0301\u0308\u200d\ufe0f👍🏽👨👩🇨🇳🇩कि्षนำ\u0600\u0d4e⚠1\u20e3\U000e0041#\u0bcd\u0b95"
    ),
    max_size=30,
)


@given(EVERYTHING | TRICKY)
def test_clusters_cover_the_text_in_order_and_add_up_to_its_cells(text: str) -> None:
    pieces = clusters(text)
    assert "".join(text[start:end] for start, end, _cells in pieces) == text
    if not text.startswith(("\u200d", "\ufe0f")):
        assert sum(piece.cells for piece in pieces) == cells(text)


@given(ASSIGNED | TRICKY)
@example("👨‍👩‍👧🇨🇳🇩🇪")
@example("क्षि")
@example("0\u200d🇦🇦")
@example("🇦\u200d🇦🇦🇦")
def test_a_cluster_never_ends_inside_what_unicode_calls_one_character(text: str) -> None:
    ours = {piece.end for piece in clusters(text)}
    theirs = {found.end() for found in regex.finditer(r"\X", text)}
    assert ours <= theirs


@given(EVERYTHING)
def test_cells_are_those_textual_counts(text: str) -> None:
    assert cells(text) == cell_len(text)


def test_samples_of_both_languages_and_emoji_have_the_width_a_terminal_gives_them() -> None:
    samples = {
        "memory": 6,
        "长期记忆": 8,
        "，。": 4,
        "한글": 4,
        "ｶﾅ": 2,
        "e\u0301": 1,
        "👍": 2,
        "👍🏽": 2,
        "🇨🇳": 2,
        "❯": 1,
    }
    assert {text: cells(text) for text in samples} == samples
