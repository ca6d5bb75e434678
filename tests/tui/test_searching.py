"""Searching as one types: what is found, why, and the way back."""

from datetime import timedelta

from engine.clock import local_day
from engine.memory.model import MemoryType, Scope
from tests.support import Place
from tests.tui.desk import furnish, remember, seated


def shelf(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "函数式组件", "偏好函数式组件，不写 class 组件")
        remember(engine, "postgres-16", "The database is PostgreSQL 16", scope=Scope.PROJECT, type=MemoryType.PROJECT)
        remember(engine, "tabs", "Tabs in Makefiles only")


async def test_every_key_searches_and_the_last_text_wins(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("makefiles")
        await desk.see("1 of 3", "Tabs in Makefiles only")
        assert "PostgreSQL" not in desk.text
        assert desk.cursor == "tabs"


async def test_chinese_is_found_by_its_words(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("组件写法")
        await desk.see("1 of 3", "偏好函数式组件")


async def test_a_word_that_is_half_typed_is_found_by_its_text(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("postg")
        await desk.see("1 of 3", "postgres-16")


async def test_what_no_longer_applies_is_found_by_its_text_too(place: Place) -> None:
    with place.open() as engine:
        today = local_day(place.clock.now_ms(), place.clock.zone())
        remember(engine, "vacation", "away until monday", valid_until=today - timedelta(days=1))
        remember(engine, "present", "here until friday")
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("away")
        await desk.see("1 of 2", "away until monday")


async def test_typed_letters_never_run_commands(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("Aqx7")
        await desk.see("Aqx7")
        assert desk.names(state="active") == {"函数式组件", "postgres-16", "tabs"}


async def test_esc_ends_the_search_on_the_memory_it_led_to(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("偏好")
        await desk.see("1 of 3")
        await desk.press("escape")
        await desk.see("3 memories")
        assert desk.cursor == "函数式组件"


async def test_x_shows_the_numbers_behind_each_hit(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("makefiles")
        await desk.see("1 of 3")
        await desk.press("enter", "x")
        await desk.see("words", "vector", "rrf", "decay", "conf", "final", "0.0164")
        await desk.press("x")
        await desk.see("description")


async def test_the_page_of_a_hit_says_why_it_was_found(place: Place) -> None:
    shelf(place)
    async with seated(place, size=(120, 30)) as desk:
        await desk.press("slash")
        await desk.write("makefiles")
        await desk.see("found by", "words rank 1, vector rank -")


async def test_x_without_a_search_says_that_it_needs_one(place: Place) -> None:
    furnish(place, "one")
    async with seated(place) as desk:
        await desk.press("x")
        assert "only in a search" in desk.said


async def test_a_search_stays_within_the_facets(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "mine", "the colour is blue")
        remember(engine, "ours", "the colour is green", scope=Scope.PROJECT, type=MemoryType.PROJECT)
    async with seated(place) as desk:
        await desk.press("shift+tab", "enter", "slash")
        await desk.write("colour")
        await desk.see("1 of 2", "blue")
        assert "green" not in desk.text


async def test_nothing_found_is_said_in_words(place: Place) -> None:
    furnish(place, "one")
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("zzz")
        await desk.see("no memory matches", "0 of 1")


async def test_a_memory_that_appears_while_a_search_is_on_joins_it(place: Place) -> None:
    shelf(place)
    async with seated(place) as desk:
        await desk.press("slash")
        await desk.write("makefiles")
        await desk.see("1 of 3")
        remember(desk.engine, "phony", "Makefiles need .PHONY")
        await desk.see("2 of 4", "PHONY")


async def test_a_home_without_a_model_says_words_only(place: Place) -> None:
    furnish(place, "one")
    async with seated(place) as desk:
        await desk.see("words only")
