"""Prepared lines, tables and markdown at any width."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_tui.text.highlight import occurrences
from spark_tui.text.lines import Block, Line, Rule, pair, plain, row_cells
from spark_tui.text.markdown_lines import markdown_lines
from spark_tui.text.table import Table

WORDS = st.text(st.sampled_from("ab c中文，。x- "), max_size=40)
WIDTHS = st.integers(12, 80)


def shown(blocks: list[Block], width: int = 60) -> list[str]:
    return ["".join(text for _style, text in row).rstrip() for block in blocks for row in block.rows(width)]


def styled(blocks: list[Block], style: str, width: int = 60) -> str:
    rows = [row for block in blocks for row in block.rows(width)]
    return "".join(text for row in rows for name, text in row if name == style)


@given(st.lists(st.tuples(st.sampled_from(("text", "match", "code")), WORDS), max_size=6), WIDTHS)
def test_a_line_keeps_its_words_and_their_styles_at_every_width(pieces: list[tuple[str, str]], width: int) -> None:
    rows = Line(tuple(pieces), lead=(("faint", "> "),), first=(("dim", "- "),)).rows(width)
    assert all(row_cells(row) <= width for row in rows)
    assert all(row[0] == ("faint", "> ") for row in rows)
    for style in ("match", "code"):
        kept = "".join(text for row in rows for name, text in row if name == style)
        assert kept.replace(" ", "") == "".join(text for name, text in pieces if name == style).replace(" ", "")


def test_the_rows_after_the_first_are_indented_below_its_words() -> None:
    line = Line((("text", "one two three"),), first=(("dim", "12. "),))
    assert shown([line], 12) == ["12. one two", "    three"]


def test_a_pair_lines_its_value_up() -> None:
    assert shown([pair("scope", "project"), pair("有效期", "x")], 40) == ["scope       project", "有效期      x"]


def test_plain_text_keeps_its_lines_and_loses_its_escapes() -> None:
    assert shown(plain("a\n\x1b]0;b\x07")) == ["a", "^[]0;b^G"]


CELL = WORDS.map(lambda text: (("text", text),))


@given(st.lists(CELL, min_size=1, max_size=5), st.lists(st.lists(CELL, max_size=6), max_size=5), WIDTHS)
def test_a_table_fits_its_width_and_shows_every_cell(header: list, body: list, width: int) -> None:  # type: ignore[type-arg]
    table = Table(tuple(header), tuple(tuple(row) for row in body))
    rows = table.rows(width)
    assert rows
    assert all(row_cells(row) <= width for row in rows)
    letters = "".join(sorted("".join(text for row in rows for _style, text in row)))
    for row in body:
        for cell in row[: len(header)]:
            assert letters.count("文") >= cell[0][1].count("文")


def test_a_table_without_room_becomes_labelled_lines() -> None:
    header = tuple((("strong", title),) for title in ("scene", "language", "remark"))
    table = Table(header, (tuple((("text", text),) for text in ("talking", "Chinese", "the default")),))
    assert shown([table], 40)[0].split() == ["scene", "language", "remark"]
    assert shown([table], 16) == ["scene: talking", "language:", "Chinese", "remark: the", "default"]


MARKDOWN = """# Title 标题

para with **bold**, *em*, `code` and [a link](docs/x.md)
第二行
接着写

- one
  - nested
- two

3. three
4. four

> quoted
> text

```python
def f():
    return   1
```

| a | 列 |
|---|---|
| 1 | 值 |

---
<b>raw</b>
"""


def test_markdown_reads_as_a_page() -> None:
    assert shown(markdown_lines(MARKDOWN)) == [
        "# Title 标题",
        "",
        "para with bold, em, code and a link (docs/x.md) 第二行接着写",
        "",
        "∙ one",
        "  ∙ nested",
        "∙ two",
        "",
        "3. three",
        "4. four",
        "",
        "╎ quoted text",
        "",
        "  def f():",
        "      return   1",
        "",
        "a  列",
        "╌  ╌╌",
        "1  值",
        "",
        "╌" * 60,
        "",
        "<b>raw</b>",
    ]


def test_markdown_names_the_styles_of_its_parts() -> None:
    blocks = markdown_lines(MARKDOWN)
    assert styled(blocks, "heading") == "Title 标题"
    assert styled(blocks, "strong") == "bolda列"
    assert styled(blocks, "code") == "codedef f():    return   1"
    assert styled(blocks, "link") == "a link"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "|", "```", "- ", "> ", "#", "[x](", "\x1b[2J", "\ud800", "<!--", "1. " * 50]
)
def test_odd_markdown_is_shown_not_refused(text: str) -> None:
    assert all(isinstance(row, str) for row in shown(markdown_lines(text)))


@given(st.text(st.sampled_from("#*_`-> |\n[]()!ab中\t~1."), max_size=80), WIDTHS)
def test_any_markdown_fits_any_width(text: str, width: int) -> None:
    for block in markdown_lines(text):
        rows = block.rows(width)
        assert rows
        assert all(row_cells(row) <= width for row in rows)


def test_a_rule_spans_the_view() -> None:
    assert row_cells(Rule().rows(33)[0]) == 33


@given(WORDS, st.lists(st.text(st.sampled_from("abcß中文SS"), max_size=3), max_size=3))
def test_occurrences_are_ordered_apart_and_say_the_word(text: str, words: list[str]) -> None:
    spans = occurrences(text, words)
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_occurrences_ignore_case_and_keep_their_place_when_folding_changes_the_length() -> None:
    assert occurrences("Straße and STRASSE", ["strasse"]) == ((0, 6), (11, 18))
    assert occurrences("记忆库里的记忆", ["记忆"]) == ((0, 2), (5, 7))
    assert occurrences("abcabc", ["ab", "bc"]) == ((0, 6),)
    assert occurrences("abc", ["", "z"]) == ()
