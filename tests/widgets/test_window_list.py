"""The list over a window of rows: 100,000 rows, the cursor's place, marks, narrow screens."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.strip import Strip

from spark_tui.text.lines import row_cells
from spark_tui.widgets.motion import Motion
from spark_tui.widgets.row_paint import header_pieces, row_pieces
from spark_tui.widgets.rows import KEEP, Cell, Column, ListSource, Row, RowSource, Span, column_gap, column_widths
from spark_tui.widgets.window_list import WindowList
from tests.widgets.stage import CountedSource, Stage, cursor_line, screen_lines

COLUMNS = (Column("name", "name", 12, flex=1), Column("description", "description", 10, flex=2, priority=5))
MANY = 100_000


class Watched(WindowList):
    """Remembers which lines it painted."""

    def __init__(self, columns: Sequence[Column], source: RowSource) -> None:
        super().__init__(columns, source)
        self.painted: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.painted.append(y)
        return super().render_line(y)


async def test_a_hundred_thousand_rows_are_read_by_window_only() -> None:
    source = CountedSource(MANY)
    app = Stage(WindowList(COLUMNS, source))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("j", "ctrl+d", "pagedown", "G", "k", "g", "g")
        assert source.widest <= 3 * 20
        assert source.made <= 6 * 3 * 20
        assert app.stage.query_one(WindowList).cursor_key == "k0"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["j", "down", "k"], "k1"),
        (["G"], "k99999"),
        (["end", "up"], "k99998"),
        (["G", "home"], "k0"),
        (["G", "g", "g"], "k0"),
        (["ctrl+d", "ctrl+d", "ctrl+u"], "k9"),
        (["pagedown", "pagedown", "pageup"], "k19"),
        (["k"], "k0"),
        (["g", "j", "j"], "k1"),
    ],
)
async def test_the_keys_of_vim_and_the_arrows_move_the_cursor(keys: list[str], expected: str) -> None:
    app = Stage(WindowList(COLUMNS, CountedSource(MANY)))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*keys)
        assert app.stage.query_one(WindowList).cursor_key == expected
        assert "❯" in "".join(line[0] for line in screen_lines(app))


async def test_the_cursor_keeps_its_row_and_its_line_when_rows_above_it_go() -> None:
    app = Stage(WindowList(COLUMNS, CountedSource(MANY)))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = app.stage.query_one(WindowList)
        assert rows.move_to("k500")
        await pilot.press("k", "k")
        before = cursor_line(app)
        rows.set_source(CountedSource(MANY, without=range(100)))
        await pilot.pause()
        assert rows.cursor_key == "k498"
        assert cursor_line(app) == before
        assert screen_lines(app)[before].startswith("❯  name 498")


async def test_when_the_row_under_the_cursor_goes_the_next_one_takes_its_place() -> None:
    app = Stage(WindowList(COLUMNS, CountedSource(10)))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = app.stage.query_one(WindowList)
        await pilot.press("G")
        rows.set_source(CountedSource(10, without=[9]))
        await pilot.pause()
        assert rows.cursor_key == "k8"
        assert [message.key for message in app.stage.heard(WindowList.Highlighted)][-1] == "k8"


async def test_rows_that_answer_a_new_question_start_at_the_top() -> None:
    app = Stage(WindowList(COLUMNS, CountedSource(100)))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = app.stage.query_one(WindowList)
        await pilot.press("G")
        rows.set_source(CountedSource(100), from_top=True)
        await pilot.pause()
        assert (rows.cursor_key, cursor_line(app)) == ("k0", 1)


async def test_a_resize_keeps_the_cursor_on_its_row_and_in_view() -> None:
    app = Stage(WindowList(COLUMNS, CountedSource(MANY)))
    async with app.run_test(size=(120, 40)) as pilot:
        rows = app.stage.query_one(WindowList)
        await pilot.press("pagedown", "pagedown", "j")
        key = rows.cursor_key
        for size in ((40, 12), (60, 20), (20, 4), (160, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert rows.cursor_key == key
            assert f"name {key[1:]}" in screen_lines(app)[cursor_line(app)]


async def test_a_reload_paints_only_the_lines_that_changed() -> None:
    app = Stage(Watched(COLUMNS, ListSource([Row(f"k{n}", (f"n{n}", "same")) for n in range(50)])))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = app.stage.query_one(Watched)
        rows.painted.clear()
        rows.set_source(ListSource([Row(f"k{n}", (f"n{n}", "other" if n == 5 else "same")) for n in range(50)]))
        await pilot.pause()
        assert rows.painted == [6]
        rows.painted.clear()
        rows.reload()
        await pilot.pause()
        assert rows.painted == []


async def test_a_cursor_move_paints_two_rows_and_the_header() -> None:
    app = Stage(Watched(COLUMNS, CountedSource(MANY)))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = app.stage.query_one(Watched)
        rows.painted.clear()
        await pilot.press("j")
        assert sorted(rows.painted) == [0, 1, 2]


async def test_a_mark_paints_its_row_and_the_two_of_the_cursor() -> None:
    app = Stage(Watched(COLUMNS, CountedSource(MANY)))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = app.stage.query_one(Watched)
        await pilot.press("j", "j")
        rows.painted.clear()
        rows.toggle_mark()
        await pilot.pause()
        assert sorted(set(rows.painted)) == [0, 3, 4]


async def test_space_marks_and_steps_down_and_verbs_get_the_marked_rows_in_order() -> None:
    rows = WindowList(COLUMNS, CountedSource(100))
    app = Stage(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        assert rows.targets() == ("k0",)
        await pilot.press("j", "j")
        rows.toggle_mark()
        rows.move(Motion.TOP)
        rows.toggle_mark()
        await pilot.pause()
        assert rows.targets() == ("k0", "k2")
        assert rows.cursor_key == "k1"
        assert [message.count for message in app.stage.heard(WindowList.Marked)] == [1, 2]
        assert [y for y, line in enumerate(screen_lines(app)) if "✓" in line] == [1, 3]


async def test_a_range_follows_the_cursor_until_it_is_closed() -> None:
    rows = WindowList(COLUMNS, CountedSource(1000))
    app = Stage(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("j", "j", "j")
        rows.toggle_range()
        await pilot.press("k", "k")
        assert rows.targets() == ("k1", "k2", "k3")
        await pilot.press("G")
        assert len(rows.marked) == 997
        assert rows.clear_marks()
        assert rows.targets() == ("k999",)
        rows.toggle_range()
        await pilot.press("k")
        rows.toggle_range()
        await pilot.press("g", "g")
        assert rows.targets() == ("k998", "k999")
        assert rows.clear_marks()
        assert not rows.clear_marks()


async def test_marking_all_marks_what_is_listed_and_a_filter_drops_marks_that_left() -> None:
    rows = WindowList(COLUMNS, CountedSource(300))
    app = Stage(rows)
    async with app.run_test(size=(60, 20)):
        rows.mark_all()
        assert len(rows.targets()) == 300
        rows.set_source(CountedSource(300, without=range(10, 300)))
        assert rows.marked == {f"k{number}" for number in range(10)}
        rows.mark_all()
        assert rows.marked == frozenset()


async def test_enter_and_a_second_click_choose_the_row() -> None:
    rows = WindowList(COLUMNS, CountedSource(100))
    app = Stage(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("j", "enter")
        await pilot.click(WindowList, offset=(10, 4))
        await pilot.click(WindowList, offset=(10, 4))
        await pilot.click(WindowList, offset=(10, 0))
        assert [message.key for message in app.stage.heard(WindowList.Chosen)] == ["k1", "k3"]


async def test_an_empty_list_says_so_and_survives_every_key() -> None:
    rows = WindowList(COLUMNS, ListSource(), empty="no memories yet")
    app = Stage(rows)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("j", "k", "G", "g", "g", "pagedown", "enter", "ctrl+d")
        rows.toggle_mark()
        rows.toggle_range()
        rows.mark_all()
        assert "no memories yet" in screen_lines(app)[1]
        assert rows.targets() == ()
        rows.set_source(CountedSource(3))
        await pilot.pause()
        assert rows.cursor_key == "k0"
        rows.set_source(ListSource())
        await pilot.pause()
        assert rows.cursor_key is None
        assert [message.key for message in app.stage.heard(WindowList.Highlighted)][-1] is None


async def test_columns_can_change_while_the_cursor_stays() -> None:
    rows = WindowList(COLUMNS, CountedSource(100))
    app = Stage(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("j", "j")
        rows.set_columns(COLUMNS[:1])
        await pilot.pause()
        assert "描述" not in "".join(screen_lines(app))
        assert screen_lines(app)[3].startswith("❯  name 2")


COLUMN = st.builds(
    Column,
    id=st.just("c"),
    title=st.just("title"),
    width=st.integers(1, 30),
    flex=st.integers(0, 3),
    most=st.integers(30, 60),
    priority=st.integers(0, 9) | st.just(KEEP),
)


@given(st.lists(COLUMN, min_size=1, max_size=8), st.integers(4, 200))
def test_columns_never_take_more_than_the_width_and_the_least_important_go_first(
    columns: list[Column], room: int
) -> None:
    widths = column_widths(columns, room)
    assert widths
    assert sum(widths.values()) + column_gap(room) * (len(widths) - 1) <= max(room, 2 * len(columns))
    dropped = [column.priority for at, column in enumerate(columns) if at not in widths]
    kept = [columns[at].priority for at in widths]
    assert not dropped or max(dropped) <= min(kept)


@given(
    st.lists(st.text(st.sampled_from("ab 中文，👍e\u0301"), max_size=30), min_size=1, max_size=4),
    st.integers(10, 90),
    st.booleans(),
    st.booleans(),
)
def test_a_row_is_as_wide_as_its_columns_whatever_it_says(
    texts: Sequence[str], room: int, cursor: bool, marked: bool
) -> None:
    columns = [Column(str(at), text, 6, flex=1, align="right" if at % 2 else "left") for at, text in enumerate(texts)]
    widths = column_widths(columns, room)
    gap = column_gap(room)
    row = Row("k", tuple(Cell(text, spans=(Span(1, 4, "match"), Span(2, 9, "match"))) for text in texts))
    expected = 3 + sum(widths.values()) + gap * (len(widths) - 1)
    assert row_cells(row_pieces(row, columns, widths, gap, cursor, marked)) == expected
    assert row_cells(header_pieces(columns, widths, gap, "12/340")) == expected


def test_a_match_keeps_its_style_up_to_the_cut() -> None:
    columns = (Column("name", "", 8),)
    row = Row("k", (Cell("searching", spans=(Span(0, 3, "match"), Span(6, 9, "match"))),), "dim")
    pieces = [piece for piece in row_pieces(row, columns, {0: 8}, 2, False, False) if piece[1].strip()]
    assert pieces == [("match", "sea"), ("dim", "rch"), ("match", "i"), ("dim", "⋯")]
