"""The Doctor screen: the same findings as the command, with words for how each thing stands."""

from spark_tui.screens.doctor import DoctorScreen
from tests.support import Place
from tests.tui.desk import furnish, seated


async def test_a_sound_home_shows_what_works(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place, size=(120, 40)) as desk:
        await desk.press("8")
        await desk.see("Database", "works", "Layer user", "1 of 100 active")


async def test_a_broken_file_is_found_named_and_has_a_remedy(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place, size=(120, 40)) as desk:
        path = place.path(desk.entry("rule"))
        path.write_text("<<<<<<< mine\n", "utf-8")
        await desk.press("8")
        await desk.see("Quarantined files", "limited")
        screen = desk.app.screen
        assert isinstance(screen, DoctorScreen)
        screen.list.move_to("quarantined")
        await desk.see("what to do", "spark-tui memory restore")


async def test_it_looks_anew_each_time_it_is_opened(place: Place) -> None:
    async with seated(place, size=(120, 40)) as desk:
        await desk.press("8")
        await desk.see("Layer user", "0 of 100 active")
        await desk.press("1")
        furnish_here(desk.engine)
        await desk.press("8")
        await desk.see("1 of 100 active")


def furnish_here(engine: object) -> None:
    from engine.runtime import Engine
    from tests.tui.desk import remember

    assert isinstance(engine, Engine)
    remember(engine, "new")
