"""Sheets: the safe default of a question, choosing, reading, the palette."""

import pytest
from textual.pilot import Pilot

from spark_tui.actions import get, in_context
from spark_tui.palette import PaletteItem, open_palette
from spark_tui.screens.dialogs.choose import Choice, ChooseDialog
from spark_tui.screens.dialogs.confirm import ConfirmDialog
from spark_tui.screens.dialogs.keys_help import KeysHelp
from spark_tui.screens.dialogs.text_view import TextViewDialog
from spark_tui.text.i18n import use_language
from spark_tui.text.lines import plain
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.rows import Column
from spark_tui.widgets.window_list import WindowList
from tests.widgets.stage import CountedSource, Stage, screen_lines


def stage() -> Stage:
    return Stage(WindowList((Column("name", "name", 12),), CountedSource(100)), KeyBar())


async def ask(pilot: "Pilot[None]", app: Stage, *keys: str) -> list[bool | None]:
    answers: list[bool | None] = []
    app.push_screen(
        ConfirmDialog("Delete memory", ["answer-in-chinese", "its file goes too"], "delete", "d"), answers.append
    )
    await pilot.pause()
    assert "answer-in-chinese" in "".join(screen_lines(app))
    await pilot.press(*keys)
    return answers


@pytest.mark.parametrize("key", ["enter", "escape", "q"])
async def test_every_way_out_of_a_question_but_its_letter_cancels(key: str) -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        assert await ask(pilot, app, key) == [False]


@pytest.mark.parametrize("key", ["y", "D", "space", "tab", "j", "ctrl+d", "x"])
async def test_a_key_that_is_neither_answers_nothing(key: str) -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        assert await ask(pilot, app, key) == []
        await pilot.press("enter")
        assert app.screen is app.stage


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_only_the_letter_confirms_and_the_screen_says_which(size: tuple[int, int]) -> None:
    app = stage()
    async with app.run_test(size=size) as pilot:
        await ask(pilot, app)
        assert screen_lines(app)[-1].split() == ["d", "delete", "enter", "esc", "cancel"]
        await pilot.press("d")
        assert app.screen is app.stage
        assert await ask(pilot, app, "d") == [True]


async def choose(pilot: "Pilot[None]", app: Stage, count: int, *keys: str) -> str | None:
    answers: list[str | None] = []
    choices = [Choice(f"w{number}", f"workspace {number}", f"/home/{number}") for number in range(count)]
    app.push_screen(ChooseDialog("workspace", choices, "w2"), answers.append)
    await pilot.pause()
    await pilot.press(*keys)
    return answers[0]


async def test_a_short_choice_is_made_with_the_movement_keys() -> None:
    app = stage()
    async with app.run_test(size=(60, 20)) as pilot:
        assert await choose(pilot, app, 4, "enter") == "w2"
        assert await choose(pilot, app, 4, "j", "enter") == "w3"
        assert await choose(pilot, app, 4, "q") is None


async def test_a_long_choice_is_narrowed_by_typing() -> None:
    app = stage()
    async with app.run_test(size=(60, 20)) as pilot:
        assert await choose(pilot, app, 40, "enter") == "w2"
        assert await choose(pilot, app, 40, "1", "9", "enter") == "w19"
        assert await choose(pilot, app, 40, "3", "down", "down", "up", "enter") == "w13"
        assert await choose(pilot, app, 40, "q", "escape") is None


async def test_a_page_scrolls_says_how_far_it_is_and_closes() -> None:
    app = stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.push_screen(TextViewDialog("preview", plain("\n".join(f"line {number}" for number in range(100)))))
        await pilot.pause()
        assert "preview" in screen_lines(app)[0]
        await pilot.press("G")
        assert "100%" in screen_lines(app)[0]
        assert "line 99" in screen_lines(app)[-2]
        await pilot.press("escape")
        assert app.screen is app.stage


async def test_help_shows_the_keys_that_work_on_the_screen_it_was_opened_from() -> None:
    app = stage()
    async with app.run_test(size=(80, 60)) as pilot:
        app.push_screen(KeysHelp(app.stage.available_actions()))
        await pilot.pause()
        text = "\n".join(screen_lines(app))
        assert [action.id for action in app.stage.available_actions() if action.explanation not in text] == []


async def test_the_palette_runs_an_action_on_the_screen_below() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        open_palette(app.stage)
        await pilot.pause()
        await pilot.press(*"last day")
        assert "validity" in "".join(screen_lines(app))
        await pilot.press("enter")
        assert app.screen is app.stage
        assert app.stage.asked == ["memory_validity"]


async def test_the_palette_finds_actions_by_english_words_in_chinese_and_never_offers_what_cannot_be_done() -> None:
    use_language("zh_CN")
    try:
        app = Stage(WindowList((Column("name", "name", 12),), CountedSource(5)), refused=("undo",))
        async with app.run_test(size=(80, 24)) as pilot:
            open_palette(app.stage)
            await pilot.press(*"archive")
            assert get("memory.archive").title == "归档"
            assert "归档" in "".join(screen_lines(app))
            await pilot.press(*["backspace"] * 7, *"undo")
            assert "没有符合的项" in "".join(screen_lines(app))
    finally:
        use_language("en")


async def test_what_providers_find_comes_after_the_actions_and_goes_to_the_caller() -> None:
    app = stage()
    found: list[PaletteItem] = []

    def memories(typed: str) -> list[PaletteItem]:
        return [PaletteItem("usr_1", f"about {typed}", "a memory")]

    async with app.run_test(size=(80, 24)) as pilot:
        open_palette(app.stage, [memories], found.append)
        await pilot.press(*"undo", "down", "enter")
        assert [item.key for item in found] == ["usr_1"]
        open_palette(app.stage, [memories], found.append)
        await pilot.press("escape")
        assert app.screen is app.stage
        assert app.stage.asked == []


async def test_the_palette_fits_the_smallest_screen() -> None:
    app = stage()
    async with app.run_test(size=(40, 12)) as pilot:
        open_palette(app.stage)
        await pilot.pause()
        lines = screen_lines(app)
        assert lines[-1].split()[-1] == "leave"
        assert any(line.startswith("❯") for line in lines)


async def test_a_sheet_does_not_open_another_palette() -> None:
    app = stage()
    async with app.run_test(size=(60, 20)) as pilot:
        open_palette(app.stage)
        await pilot.pause()
        before = app.screen
        await pilot.press("ctrl+p")
        assert app.screen is before
        assert in_context(["typing"])
