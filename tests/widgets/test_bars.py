"""The top line and the key bar at every width."""

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from spark_tui.text.lines import row_cells
from spark_tui.widgets.key_bar import Hint, KeyBar, fitting_hints, joined
from spark_tui.widgets.top_line import TopLine, Word, fitting_words
from tests.widgets.stage import Stage, screen_lines

LABELS = st.text(st.sampled_from("ab中文 "), min_size=1, max_size=10)
HINTS = st.lists(st.builds(Hint, st.sampled_from(("a", "ctrl+d", "esc")), LABELS, st.integers(1, 99)), max_size=12)


@given(HINTS, st.integers(0, 120))
def test_hints_are_dropped_whole_by_priority_and_keep_their_order(hints: list[Hint], width: int) -> None:
    kept = fitting_hints(hints, width)
    assert row_cells(joined(kept)) <= width
    rest = iter(hints)
    assert all(any(hint is each for each in rest) for hint in kept)
    dropped = [hint.priority for hint in hints if not any(hint is each for each in kept)]
    assert not dropped or not kept or max(dropped) <= min(hint.priority for hint in kept) or len(kept) < len(hints)


@given(HINTS.filter(bool), st.integers(0, 30))
def test_the_way_out_is_never_dropped(tail: list[Hint], width: int) -> None:
    assert fitting_hints(tail, width, keep_last=True)[-1] is tail[-1]


async def test_a_narrow_screen_shows_fewer_hints_but_never_half_a_one() -> None:
    hints = [Hint("/", "search", 80), Hint("a", "add", 70), Hint("e", "edit", 60), Hint("D", "delete", 40)]
    tail = [Hint("?", "help", 100), Hint("esc", "back", 99)]
    bar = KeyBar()
    app = Stage(Static("body"), bar)
    async with app.run_test(size=(80, 24)) as pilot:
        bar.show(hints, tail)
        shown: dict[int, str] = {}
        for width in (80, 60, 40, 24, 20, 12):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            shown[width] = screen_lines(app)[-1]
        assert shown[80].split() == ["/", "search", "a", "add", "e", "edit", "D", "delete", "?", "help", "esc", "back"]
        assert shown[60].split() == shown[80].split()
        assert shown[40].split() == ["/", "search", "a", "add", "?", "help", "esc", "back"]
        assert shown[24].split() == ["?", "help", "esc", "back"]
        assert shown[12].split() == ["esc", "back"]
        assert all(line.endswith("esc back ") for line in shown.values())


async def test_a_notice_stands_in_for_the_hints_and_keeps_the_way_out() -> None:
    bar = KeyBar()
    app = Stage(bar)
    async with app.run_test(size=(40, 12)) as pilot:
        bar.show([Hint("/", "search", 80)], [Hint("?", "help", 100), Hint("esc", "back", 99)])
        bar.say("3 archived; u undoes it")
        await pilot.pause()
        assert screen_lines(app)[-1].split() == ["3", "archived;", "u", "undoes", "it", "esc", "back"]
        bar.clear()
        await pilot.pause()
        assert screen_lines(app)[-1].split()[0] == "/"


WORDS = st.lists(st.builds(Word, LABELS, st.just("dim"), st.integers(1, 99)), max_size=6)


@given(WORDS, WORDS, st.integers(4, 100))
def test_words_of_the_top_line_fit_and_the_first_one_stays(left: list[Word], right: list[Word], width: int) -> None:
    start, end = fitting_words(left, right, width)
    assert row_cells(start) + row_cells(end) <= width
    assert bool(start) == bool(left)


async def test_the_top_line_drops_the_least_important_words_first() -> None:
    line = TopLine()
    app = Stage(line)
    left = [Word("Memory", "strong"), Word("spark-tui", "text", 60), Word("~/work/spark-tui", "dim", 20)]
    right = [Word("claude-sonnet", "dim", 10), Word("2 candidates", "accent", 40), Word("normal 41%", "dim", 90)]
    async with app.run_test(size=(90, 24)) as pilot:
        line.show(left, right)
        await pilot.pause()
        assert screen_lines(app)[0].split(" ∙ ")[-1].strip() == "normal 41%"
        assert "claude-sonnet" in screen_lines(app)[0]
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "claude-sonnet" not in screen_lines(app)[0]
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert screen_lines(app)[0].split() == ["Memory", "∙", "spark-tui", "normal", "41%"]
