"""Looking at what is there: the list, the facets, the page, other days, other places."""

from datetime import date, timedelta

from engine.clock import local_day
from engine.memory.model import Changes, MemoryType, Scope
from spark_tui.screens.dialogs.injection_preview import InjectionPreview
from spark_tui.screens.dialogs.workspace import FolderDialog
from tests.support import Place
from tests.tui.desk import furnish, remember, seated


async def test_a_fresh_home_shows_what_to_do_first_instead_of_an_empty_list(place: Place) -> None:
    async with seated(place) as desk:
        await desk.see("No memories yet", "memory is on", "project memories go to alpha", "write the first memory")
        remember(desk.engine, "first")
        await desk.see("about first", "1 memory")
        assert "No memories yet" not in desk.text


async def test_the_newest_memory_stands_first_and_the_whole_description_below(place: Place) -> None:
    furnish(place, "older", "newer")
    with place.open() as engine:
        remember(engine, "long", "a description that is longer than its column and wraps to a second line of the peek")
    async with seated(place) as desk:
        assert desk.cursor == "long"
        await desk.see("wraps to a second line of the peek")


async def test_facets_narrow_the_list_and_esc_shows_everything_again(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "mine")
        remember(engine, "ours", scope=Scope.PROJECT, type=MemoryType.PROJECT, entities=("vite",))
        remember(engine, "theirs", scope=Scope.AGENT, agent="codex")
    async with seated(place) as desk:
        await desk.press("shift+tab", "down", "down", "enter")
        await desk.see("1 of 3", "ours")
        assert "about mine" not in desk.text
        await desk.press("escape", "escape")
        await desk.see("3 memories", "about mine", "about theirs")


async def test_scopes_count_against_their_quota(place: Place) -> None:
    place.configure(memory__quota__user="7")
    furnish(place, "one", "two")
    async with seated(place) as desk:
        await desk.see("2/7")


async def test_expired_memories_stay_listed_and_one_key_hides_them(place: Place) -> None:
    furnish(place, "lasting")
    with place.open() as engine:
        today = local_day(place.clock.now_ms(), place.clock.zone())
        remember(engine, "passing", valid_until=today)
        place.clock.advance(days=2)
    async with seated(place) as desk:
        await desk.see("expired", "about passing", "2 memories")
        await desk.press(".")
        await desk.see("1 of 2")
        assert "about passing" not in desk.text
        await desk.press(".")
        await desk.see("about passing")


async def test_each_press_of_o_sorts_by_another_column(place: Place) -> None:
    furnish(place, "banana", "cherry", "apple")
    async with seated(place) as desk:
        assert desk.cursor == "apple"
        await desk.press("o", "o", "g", "g")
        assert desk.cursor == "apple"
        await desk.press("j")
        assert desk.cursor == "banana"


async def test_enter_reads_the_memory_in_place_of_the_list_and_esc_returns(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "rule", "be brief", "# Why\n\nbecause of the phone", valid_until=date(2026, 10, 31))
    async with seated(place) as desk:
        await desk.press("enter")
        await desk.see("be brief", "applies through 2026-10-31", "because of the phone", "usr_00000001.md")
        assert "Scopes" not in desk.text
        await desk.press("escape")
        await desk.see("Scopes")


async def test_a_memory_without_a_last_day_has_no_validity_line(place: Place) -> None:
    furnish(place, "lasting")
    async with seated(place, size=(120, 30)) as desk:
        await desk.see("in every turn, as all feedback")
        assert "applies through" not in desk.text


async def test_an_invalid_memory_says_since_when_and_by_what_it_was_superseded(place: Place) -> None:
    with place.open() as engine:
        today = local_day(place.clock.now_ms(), place.clock.zone())
        old = remember(engine, "bundler", "webpack", valid_until=today)
        place.clock.advance(days=3)
        new = remember(engine, "bundler", "vite")
    async with seated(place, size=(120, 30)) as desk:
        desk.memory.list.move_to(old.id)
        await desk.see("invalid since 2026-01-04", f"superseded by bundler ({new.id})")


async def test_a_memory_deleted_elsewhere_while_it_is_read_says_so_and_enter_tries_again(place: Place) -> None:
    furnish(place, "kept", "doomed")
    async with seated(place) as desk:
        await desk.press("enter")
        await desk.see("about doomed")
        desk.engine.store.delete([desk.entry("doomed").id])
        await desk.see("this memory is not here any more", "try again")
        await desk.press("enter", "escape")
        await desk.see("about kept")


async def test_what_another_process_writes_appears_without_a_key_and_the_cursor_stays(place: Place) -> None:
    furnish(place, "first", "second")
    async with seated(place) as desk:
        await desk.press("j")
        assert desk.cursor == "first"
        with place.open() as other:
            place.clock.advance(days=1)
            remember(other, "from-elsewhere")
        desk.engine.bus.announce(_changed_elsewhere())
        await desk.see("from-elsewhere", "3 memories")
        assert desk.cursor == "first"


async def test_a_file_changed_by_hand_shows_its_new_text_after_a_refresh(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        path = place.path(desk.entry("rule"))
        path.write_text(path.read_text("utf-8").replace("about rule", "changed by hand"), "utf-8")
        desk.engine.refresh()
        await desk.see("changed by hand")


async def test_t_shows_the_memories_of_another_day(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "early")
        place.clock.advance(days=30)
        remember(engine, "late")
    async with seated(place) as desk:
        await desk.press("t")
        await desk.write("-20d")
        await desk.see("what applied on 2026-01-11")
        await desk.press("enter")
        await desk.see("as of 2026-01-11", "about early")
        assert "about late" not in desk.text
        await desk.press("escape")
        await desk.see("about late")


async def test_w_goes_to_another_workspace_by_its_path(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    with place.open(other) as engine:
        remember(engine, "betas-own", scope=Scope.PROJECT, type=MemoryType.PROJECT)
    with place.open() as engine:
        remember(engine, "alphas-own", scope=Scope.PROJECT, type=MemoryType.PROJECT)
    async with seated(place) as desk:
        await desk.see("about alphas-own", "beta")
        await desk.press("w", "G", "enter")
        await desk.sheet(FolderDialog)
        await desk.fill("folder", str(other))
        await desk.press("enter")
        await desk.see("about betas-own")
        assert "about alphas-own" not in desk.text


async def test_a_known_project_in_the_facets_is_gone_to_when_chosen(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    with place.open(other) as engine:
        remember(engine, "betas-own", scope=Scope.PROJECT, type=MemoryType.PROJECT)
        remember(engine, "mine")
    async with seated(place) as desk:
        await desk.see("about mine", "beta")
        await desk.press("shift+tab", "down", "down", "enter")
        await desk.see("about betas-own")


async def test_i_shows_the_exact_block_its_tokens_and_what_was_left_out(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "always", "be brief")
        today = local_day(place.clock.now_ms(), place.clock.zone())
        remember(engine, "gone", "no more", valid_until=today - timedelta(days=1))
    async with seated(place, size=(120, 40)) as desk:
        await desk.press("i")
        await desk.sheet(InjectionPreview)
        await desk.see("<user-memory>", "[usr_00000001] always (feedback): be brief", "Tokens per entry", "expired")
        assert "of 4000 tokens, 1 entry, 1 left out" in desk.text
        assert desk.engine.listing.entry("usr_00000001").hit_count == 0


async def test_on_a_narrow_screen_tab_shows_the_facets_in_place_of_the_list(place: Place) -> None:
    furnish(place, "one", "two")
    async with seated(place, size=(40, 12)) as desk:
        assert "Scopes" not in desk.text
        await desk.press("tab")
        await desk.see("Scopes", "user")
        await desk.press("enter", "escape")
        await desk.see("one", "user")


async def test_a_body_is_rendered_and_hostile_text_cannot_reach_the_terminal(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "evil", "esc \x1b[31m here", "**bold** \x1b]0;title\x07 and \u202e turned")
    async with seated(place, size=(120, 30)) as desk:
        await desk.see("esc ^[[31m here", "<202E>")
        assert "\x1b" not in desk.text
        assert "\u202e" not in desk.text


async def test_changing_a_memory_keeps_its_place_under_the_cursor(place: Place) -> None:
    furnish(place, "a", "b", "c", "d")
    async with seated(place) as desk:
        await desk.press("j", "j")
        assert desk.cursor == "b"
        desk.engine.store.edit(desk.entry("b").id, Changes(description="touched"))
        await desk.see("touched")
        assert desk.cursor == "b"


def _changed_elsewhere() -> object:
    from engine.events import MemoryChanged

    return MemoryChanged(origin="elsewhere")
