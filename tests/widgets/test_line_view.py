"""A page of prepared lines: laid out where it is looked at, never past its end."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from spark_tui.text.lines import Block, Line, ScreenRow, plain
from spark_tui.text.markdown_lines import markdown_lines
from spark_tui.widgets.line_view import LineView
from tests.widgets.stage import Stage, screen_lines


class Counted:
    """A block of some rows that remembers whether it was laid out."""

    def __init__(self, number: int, height: int = 1) -> None:
        self.number, self.height, self.asked = number, height, 0

    def rows(self, width: int) -> list[ScreenRow]:
        self.asked += 1
        return [(("text", f"block {self.number} row {row}"),) for row in range(self.height)]


def view_lines(app: Stage) -> list[str]:
    return [line.strip("╎ ") for line in screen_lines(app)]


async def shown(pilot: "Pilot[None]", app: Stage, *keys: str) -> list[str]:
    await pilot.press(*keys)
    return view_lines(app)


async def test_only_what_is_looked_at_is_laid_out() -> None:
    blocks = [Counted(number) for number in range(20_000)]
    app = Stage(LineView(blocks))
    async with app.run_test(size=(60, 20)) as pilot:
        assert (await shown(pilot, app))[0] == "block 0 row 0"
        assert (await shown(pilot, app, "pagedown"))[0] == "block 19 row 0"
        assert (await shown(pilot, app, "G"))[-1] == "block 19999 row 0"
        assert sum(1 for block in blocks if block.asked) < 200
        assert max(block.asked for block in blocks) <= 2


@pytest.mark.parametrize(
    ("keys", "top"),
    [
        (["j"], "block 0 row 1"),
        (["j", "j", "j", "k"], "block 0 row 2"),
        (["ctrl+d"], "block 3 row 1"),
        (["pagedown", "pageup"], "block 0 row 0"),
        (["G"], "block 93 row 1"),
        (["G", "j", "pagedown"], "block 93 row 1"),
        (["G", "g", "g"], "block 0 row 0"),
        (["end", "k"], "block 93 row 0"),
    ],
)
async def test_the_movement_keys_scroll_by_rows_and_stop_at_both_ends(keys: list[str], top: str) -> None:
    app = Stage(LineView([Counted(number, 3) for number in range(100)]))
    async with app.run_test(size=(60, 20)) as pilot:
        assert (await shown(pilot, app, *keys))[0] == top


async def test_a_page_that_fits_does_not_scroll_and_says_no_progress() -> None:
    view = LineView(plain("one\ntwo"))
    app = Stage(view)
    async with app.run_test(size=(40, 12)) as pilot:
        assert (await shown(pilot, app, "j", "G", "pagedown"))[:3] == ["one", "two", ""]
        assert view.progress == ""


async def test_progress_goes_from_nothing_to_all() -> None:
    view = LineView([Counted(number) for number in range(100)])
    app = Stage(view)
    async with app.run_test(size=(40, 12)) as pilot:
        seen = [view.progress]
        for key in ("ctrl+d", "pagedown", "pagedown", "G"):
            await pilot.press(key)
            seen.append(view.progress)
        numbers = [int(text.removesuffix("%")) for text in seen]
        assert numbers == sorted(numbers)
        assert (numbers[0], numbers[-1]) == (0, 100)


async def test_a_resize_keeps_the_block_at_the_top() -> None:
    blocks: Sequence[Block] = [Line((("text", f"{number} " + "word " * 30),)) for number in range(200)]
    view = LineView(blocks)
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("pagedown", "pagedown")
        number = next(line.split()[0] for line in view_lines(app) if line.split()[0].isdigit())
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert abs(int(view_lines(app)[0].split()[0]) - int(number)) <= 1


async def test_other_lines_start_at_the_top_unless_the_place_is_kept() -> None:
    view = LineView([Counted(number) for number in range(100)])
    app = Stage(view)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("pagedown")
        view.show([Counted(number) for number in range(100)], keep_place=True)
        await pilot.pause()
        assert view_lines(app)[0] == "block 11 row 0"
        view.show([Counted(7)], keep_place=True)
        await pilot.pause()
        assert view_lines(app)[0] == "block 7 row 0"
        view.show([Counted(number) for number in range(5)])
        await pilot.pause()
        assert view_lines(app)[0] == "block 0 row 0"


async def test_a_long_page_of_markdown_opens_at_its_beginning_and_reaches_its_end() -> None:
    page = "\n\n".join(f"## 第 {number} 节\n\n用户希望默认用中文回答。" * 3 for number in range(700))
    app = Stage(LineView(markdown_lines(page)))
    async with app.run_test(size=(80, 24)) as pilot:
        assert (await shown(pilot, app))[0] == "## 第 0 节"
        assert (await shown(pilot, app, "G"))[-1] == "用户希望默认用中文回答。"


class Watched(LineView):
    """Remembers which rows it painted."""

    painted: ClassVar[list[int]] = []

    def render_line(self, y: int) -> Strip:
        self.painted.append(y)
        return super().render_line(y)


async def test_showing_almost_the_same_page_paints_only_what_changed() -> None:
    view = Watched([Counted(number) for number in range(100)])
    app = Stage(view)
    async with app.run_test(size=(40, 12)) as pilot:
        view.painted.clear()
        view.show([Counted(77 if number == 3 else number) for number in range(100)])
        await pilot.pause()
        assert view.painted == [3]
        assert view_lines(app)[3] == "block 77 row 0"
        view.painted.clear()
        view.show([Counted(0)])
        await pilot.pause()
        assert view.painted == list(range(1, 12))
