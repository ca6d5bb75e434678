"""The Settings screen: what is set, what it may be, and a change that is in the file at once."""

from spark_tui.screens.dialogs.confirm import ConfirmDialog
from spark_tui.screens.dialogs.setting_value import SettingDialog
from spark_tui.screens.settings import SettingsScreen
from tests.support import Place
from tests.tui.desk import Desk, furnish, seated


async def choose(desk: Desk, key: str) -> None:
    screen = desk.app.screen
    assert isinstance(screen, SettingsScreen)
    screen.list.move_to(key)
    await desk.press("enter")


async def test_a_setting_is_explained_with_its_range_and_default(place: Place) -> None:
    async with seated(place, size=(120, 30)) as desk:
        await desk.press("7")
        screen = desk.app.screen
        assert isinstance(screen, SettingsScreen)
        screen.list.move_to("memory.maxInjectTokens")
        await desk.see(
            "The most tokens a memory block may have", "a number from 200 - 32000", "4000", "from the next turn"
        )


async def test_a_number_is_changed_in_one_field_and_is_in_the_file(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("7")
        await choose(desk, "memory.maxInjectTokens")
        await desk.sheet(SettingDialog)
        await desk.fill("value", "900")
        await desk.press("enter")
        await desk.see("memory.maxInjectTokens is 900 now")
        assert "maxInjectTokens = 900" in place.home.config.read_text("utf-8")
        assert desk.engine.memory_settings().max_inject_tokens == 900


async def test_a_value_out_of_range_is_refused_with_the_range(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("7")
        await choose(desk, "memory.maxInjectTokens")
        await desk.sheet(SettingDialog)
        await desk.fill("value", "7")
        await desk.press("enter")
        await desk.see("memory.maxInjectTokens takes a number from 200 to 32000")
        assert desk.engine.memory_settings().max_inject_tokens == 4000


async def test_an_empty_field_brings_the_default_back(place: Place) -> None:
    place.configure(memory__maxInjectTokens="900")
    async with seated(place) as desk:
        await desk.press("7")
        await choose(desk, "memory.maxInjectTokens")
        await desk.sheet(SettingDialog)
        await desk.fill("value", "")
        await desk.press("enter")
        await desk.see("memory.maxInjectTokens is 4000 now")


async def test_a_switch_is_a_choice_and_the_memory_screen_hears_of_it(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("7", "enter")
        await desk.sheet(SettingDialog)
        await desk.press("right", "enter")
        await desk.see("memory.enabled is off now")
        await desk.press("1")
        await desk.see("memory off")


async def test_a_wrong_value_in_the_file_is_counted_and_told(place: Place) -> None:
    place.configure(memory__maxInjectTokens="7")
    async with seated(place, size=(120, 30)) as desk:
        await desk.press("7")
        await desk.see("1 wrong in the file")
        screen = desk.app.screen
        assert isinstance(screen, SettingsScreen)
        screen.list.move_to("memory.maxInjectTokens")
        await desk.see("4000 is used")


async def test_rebuilding_vectors_asks_first_and_tells_how_many(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("7")
        await choose(desk, "rebuild-vectors")
        await desk.sheet(ConfirmDialog)
        await desk.press("r")
        await desk.see("0 of 0 vectors made")


async def test_read_only_changes_no_setting(place: Place) -> None:
    async with seated(place, read_only=True) as desk:
        await desk.press("7", "enter")
        assert isinstance(desk.app.screen, SettingsScreen)
        await desk.see("started with --read-only")


async def test_the_theme_changes_at_once(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("7")
        await choose(desk, "ui.theme")
        await desk.sheet(SettingDialog)
        await desk.fill("value", "spark-light")
        await desk.press("enter")
        await desk.until(lambda: desk.app.theme == "spark-light")
