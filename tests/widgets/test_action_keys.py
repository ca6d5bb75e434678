"""From keys to actions: sequences, refusals, fields, input methods, and keys at random."""

import random

import pytest
from textual import events

from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Column
from spark_tui.widgets.window_list import WindowList
from tests.widgets.stage import CountedSource, Stage, screen_lines


def stage(*refused: str) -> Stage:
    rows = WindowList((Column("name", "name", 12),), CountedSource(100))
    return Stage(FilterBox("search"), rows, KeyBar(), refused=refused)


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        (["a"], ["memory_add"]),
        (["A"], ["memory_archive"]),
        (["slash"], ["memory_search"]),
        (["full_stop"], ["memory_valid_only"]),
        (["asterisk"], ["memory_mark_all"]),
        (["space"], ["memory_mark"]),
        (["question_mark"], ["frame_help"]),
        (["ctrl+p"], ["frame_palette"]),
        (["colon"], ["frame_palette"]),
        (["g", "m"], ["area_memory"]),
        (["1", "8"], ["area_memory", "area_doctor"]),
        (["g", "D"], []),
        (["g", "escape", "a"], ["memory_add"]),
        (["F", "0"], []),
    ],
)
async def test_keys_run_the_actions_of_the_table(keys: list[str], asked: list[str]) -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.stage.query_one(WindowList).focus()
        await pilot.press(*keys)
        assert app.stage.asked == asked


async def test_punctuation_of_a_chinese_input_method_works_too() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.stage.query_one(WindowList).focus()
        for character in "？：、。":
            app.post_message(events.Key(f"key-{ord(character)}", character))
        await pilot.pause()
        assert app.stage.asked == ["frame_help", "frame_palette", "memory_search", "memory_valid_only"]


async def test_an_action_that_cannot_be_done_says_why_until_the_next_key() -> None:
    app = stage("undo")
    async with app.run_test(size=(80, 24)) as pilot:
        app.stage.query_one(WindowList).focus()
        assert "undo" not in screen_lines(app)[-1]
        await pilot.press("u")
        assert app.stage.asked == []
        assert "nothing to undo" in screen_lines(app)[-1]
        await pilot.press("j")
        assert "nothing to undo" not in screen_lines(app)[-1]


async def test_the_first_key_of_a_sequence_shows_what_may_follow() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.stage.query_one(WindowList).focus()
        await pilot.press("g")
        assert screen_lines(app)[-1].split()[:3] == ["g", "g", "top"]
        await pilot.press("x")
        assert "search" in screen_lines(app)[-1]
        assert app.stage.asked == []


async def test_while_typing_letters_are_letters_and_only_the_field_keys_act() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        box = app.stage.query_one(FilterBox)
        box.open()
        await pilot.press(*"aDq1g", "ctrl+u", *"xA")
        assert box.value == "xA"
        assert app.stage.asked == []


async def test_keys_that_open_nothing_are_not_offered_on_a_page() -> None:
    app = Stage(LineView(), KeyBar())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j")
        assert "open" not in screen_lines(app)[-1]


async def test_tab_goes_through_the_panes_and_the_key_bar_follows() -> None:
    rows = WindowList((Column("name", "name", 12),), CountedSource(9))
    app = Stage(rows, LineView(), KeyBar())
    async with app.run_test(size=(120, 24)) as pilot:
        rows.focus()
        await pilot.pause()
        assert "enter open" in screen_lines(app)[-1]
        app.stage.focus_next()
        await pilot.pause()
        assert isinstance(app.focused, LineView)
        assert "enter open" not in screen_lines(app)[-1]


KEYS = [*"jkgGvxaAeEDhiotwuV/.*?:q128", "down", "up", "left", "right", "home", "end", "pageup", "pagedown"]
KEYS += ["enter", "escape", "space", "tab", "shift+tab", "ctrl+d", "ctrl+u", "ctrl+p", "backspace", "ctrl+g", "f2"]


@pytest.mark.parametrize("seed", [1, 2])
async def test_keys_at_random_never_break_a_screen(seed: int) -> None:
    chance = random.Random(seed)
    app = stage()
    async with app.run_test(size=(60, 20)) as pilot:
        for step in range(300):
            key = chance.choice(KEYS)
            app.post_message(events.Key(key, key if len(key) == 1 else None))
            if step % 50 == 49:
                await pilot.resize_terminal(chance.randrange(20, 130), chance.randrange(5, 45))
        await pilot.pause()
        assert app.stage.query_one(WindowList).cursor_key is not None
