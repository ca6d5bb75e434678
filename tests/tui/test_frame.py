"""The frame: areas, palette, help, the way out, and that every action of the table does something."""

import pytest

from spark_tui.actions import ACTIONS, MOVE
from spark_tui.app import SparkApp
from spark_tui.palette import Palette
from spark_tui.screens.candidates import CandidatesScreen
from spark_tui.screens.candidates_changes import ChangesScreen
from spark_tui.screens.candidates_dropped import DroppedScreen
from spark_tui.screens.candidates_learning import LearningScreen
from spark_tui.screens.dialogs.keys_help import KeysHelp
from spark_tui.screens.dialogs.memory_form import MemoryForm
from spark_tui.screens.doctor import DoctorScreen
from spark_tui.screens.memory import MemoryScreen
from spark_tui.screens.settings import SettingsScreen
from tests.support import Place
from tests.tui.desk import furnish, seated


def test_every_action_of_the_table_has_its_method() -> None:
    owners = (SparkApp, MemoryScreen, MemoryForm, CandidatesScreen, DroppedScreen, LearningScreen, ChangesScreen)
    ours = [action for action in ACTIONS if action.where != MOVE]
    assert [action.id for action in ours if not any(hasattr(owner, action.method) for owner in owners)] == []


async def test_digits_and_g_letters_switch_the_areas(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        for keys, area in ((("2",), CandidatesScreen), (("7",), SettingsScreen), (("8",), DoctorScreen), (("1",), MemoryScreen),
                           (("g", "c"), CandidatesScreen),
                           (("g", "o"), SettingsScreen), (("g", "d"), DoctorScreen), (("g", "m"), MemoryScreen)):  # fmt: skip
            await desk.press(*keys)
            assert isinstance(desk.app.screen, area)


async def test_q_leads_back_to_the_memories_and_then_out(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("7", "q")
        assert isinstance(desk.app.screen, MemoryScreen)
        await desk.press("enter")
        await desk.see("about rule", "injected")
        await desk.press("q")
        await desk.see("Scopes")
        await desk.press("q")
        assert desk.app._exit


@pytest.mark.parametrize("key", ["ctrl+p", "colon"])
async def test_the_palette_runs_an_action_by_its_name(place: Place, key: str) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press(key)
        await desk.sheet(Palette)
        await desk.write("archi")
        await desk.press("enter")
        await desk.see("archived rule")


async def test_the_palette_opens_from_the_search_field_too(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("slash", "ctrl+p")
        await desk.sheet(Palette)


async def test_help_lists_what_works_here_and_where_things_belong(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place, size=(100, 60)) as desk:
        await desk.press("question_mark")
        await desk.sheet(KeysHelp)
        await desk.see("Search as you type", "Needed nearly every turn: a memory. Looked up now and then: a wiki page.")
        await desk.press("escape")
        assert desk.app.screen is desk.memory


async def test_a_key_that_means_nothing_does_nothing(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        before = desk.text
        await desk.press("z", "Z", "f9")
        assert desk.text == before


async def test_the_screens_live_through_every_size_down_to_nothing(place: Place) -> None:
    furnish(place, "rule", "other")
    async with seated(place) as desk:
        for width, height in ((160, 50), (40, 12), (20, 6), (100, 30), (1, 1), (80, 24)):
            await desk.pilot.resize_terminal(width, height)
            await desk.press("j", "tab", "tab", "escape")
        await desk.see("about rule")


async def test_the_palette_finds_memories_by_name_whatever_is_filtered(place: Place) -> None:
    furnish(place, "rule", "other")
    async with seated(place) as desk:
        await desk.press("shift+tab", "down", "down", "enter", "escape", "colon")
        await desk.sheet(Palette)
        await desk.write("about rule")
        await desk.press("enter")
        await desk.until(lambda: desk.app.screen is desk.memory and desk.cursor == "rule")


async def test_a_damaged_database_is_set_aside_and_said(place: Place) -> None:
    furnish(place, "rule")
    place.home.database.write_bytes(b"SQLite format 3\x00" + b"garbage" * 400)
    async with seated(place, size=(120, 24)) as desk:
        await desk.see("the database was damaged; it is kept as spark.db.broken-", "about rule")
