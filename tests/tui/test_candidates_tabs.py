"""The tabs beside the candidates: what was dropped, what was learned, what changed; each key changes a row or the screen."""

from engine.jobs import JobState
from engine.memory.model import Scope, State
from spark_tui.screens.candidates import CandidatesScreen
from spark_tui.screens.candidates_changes import ChangesScreen
from spark_tui.screens.candidates_dropped import DroppedScreen
from spark_tui.screens.candidates_learning import LearningScreen
from spark_tui.screens.dialogs.choose import ChooseDialog
from spark_tui.screens.dialogs.confirm import ConfirmDialog
from spark_tui.screens.dialogs.memory_form import MemoryForm
from spark_tui.screens.memory import MemoryScreen
from tests.support import Place, complaints
from tests.tui.desk import furnish, seated

WIDE = (120, 40)
TABS = (CandidatesScreen, DroppedScreen, LearningScreen, ChangesScreen)


async def test_brackets_turn_the_tabs_round_and_esc_leads_out(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2")
        for tab in (*TABS[1:], TABS[0]):
            await desk.press("]")
            assert isinstance(desk.app.screen, tab)
        for tab in reversed(TABS):
            await desk.press("[")
            assert isinstance(desk.app.screen, tab)
        await desk.press("]", "escape")
        assert isinstance(desk.app.screen, MemoryScreen)


async def test_the_tabs_say_how_much_is_behind_them(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2")
        await desk.see("Candidates 6   Dropped 2   Learning 2   Changes", "no model: nothing is learned")


async def test_a_dropped_row_names_its_gate_and_the_counts_and_never_the_text(review: Place) -> None:
    async with seated(review, size=WIDE) as desk:
        await desk.press("2", "]", "j")
        await desk.see("今天在修登录", "passing", "something that holds for the moment only", "1  unsure", "session")
        assert "正在修登录页面" not in desk.text


async def test_a_slash_shows_what_one_gate_dropped_and_esc_all_again(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "]", "/")
        await desk.sheet(ChooseDialog)
        await desk.press("G", "enter")
        await desk.until(lambda: "maybe-uses-fish" not in desk.text)
        await desk.see("今天在修登录", "1/1")
        await desk.press("escape")
        await desk.see("maybe-uses-fish", "今天在修登录")


async def test_a_writes_what_was_dropped_by_hand_through_the_gates(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "]", "a")
        form = await desk.sheet(MemoryForm)
        assert form.values["name"] == "maybe-uses-fish"
        await desk.fill("description", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        await desk.press("enter")
        await desk.see("something secret or private")
        await desk.fill("description", "Uses the fish shell")
        await desk.press("enter")
        await desk.see("added maybe-uses-fish")
        entry = desk.entry("maybe-uses-fish")
        assert (entry.scope, entry.description) == (Scope.USER, "Uses the fish shell")
        await desk.press("a")
        await desk.sheet(MemoryForm)
        await desk.fill("description", "half")
        await desk.press("escape")
        await desk.see("the draft is kept")
        await desk.press("a")
        await desk.sheet(ChooseDialog)


async def test_a_turn_shows_what_came_of_each_of_its_items(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "]", "]", "G", "enter")
        await desk.see(
            "prefers-small-pull-requests", "added", "dropped", "今天在修登录", "unsure", "asks you", "you wrote"
        )
        await desk.press("q", "s")
        await desk.until(lambda: isinstance(desk.app.screen, MemoryScreen))
        await desk.until(lambda: desk.cursor == "prefers-small-pull-requests")


async def test_without_a_model_it_says_so_and_what_mends_it_and_r_runs_again(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "]", "]")
        await desk.see("no model", "failed", "1 added, 2 dropped, 1 asks you")
        await desk.press("j")
        await desk.see("spark-tui provider offers", "memory.extractionProviderId", "What mends it")
        job = next(each for each in desk.engine.jobs.recent() if each.state is JobState.NO_MODEL)
        await desk.press("r")
        await desk.see("queued again", "Learning 1")
        assert desk.engine.jobs.get(job.id).state is JobState.QUEUED
        await desk.press("G", "r")
        await desk.see("only failed jobs and those without a model run again")


async def test_no_turn_at_all_says_who_would_learn(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("2", "]", "]")
        await desk.see("no turn was handed over yet", "nothing was learned yet", "No model can be asked")


async def test_a_change_shows_its_difference_and_u_takes_the_step_back_after_asking(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "[")
        await desk.see("- Conclusions before reasons", "+ Conclusions before reasons, always", "version 1 > 2")
        await desk.press("u")
        await desk.sheet(ConfirmDialog)
        await desk.see("answers-first: back to version 1")
        await desk.press("enter")
        assert desk.entry("answers-first").version == 2
        await desk.press("u", "u")
        await desk.see("undone: answers-first")
        assert desk.entry("answers-first").description == "Conclusions before reasons"
        await desk.see("edited (undone)")
        assert complaints(review, desk.engine) == []


async def test_a_step_of_several_memories_comes_back_whole(review: Place) -> None:
    with review.open() as engine:
        found = next(each for each in engine.candidates.window() if each.candidate.replaces).candidate
        engine.candidates.confirm(found.id, found.digest)
    async with seated(review, size=WIDE) as desk:
        await desk.press("2", "[")
        await desk.see("in the same step:", "old-registry", "registry")
        await desk.press("u")
        await desk.see("registry: would be archived", "old-registry: back to version 1")
        await desk.press("u")
        await desk.see("undone: ")
        assert desk.entry("old-registry").state(review.clock.now_ms()) is State.ACTIVE
        assert desk.engine.candidates.get(found.id).candidate.state == "pending"


async def test_s_opens_the_memory_that_changed(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "[", "j", "s")
        await desk.until(lambda: isinstance(desk.app.screen, MemoryScreen))
        await desk.until(lambda: desk.cursor == "no-recap")


async def test_an_undone_step_cannot_be_undone_again(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "[", "u", "u")
        await desk.see("edited (undone)")
        screen = desk.app.screen
        assert isinstance(screen, ChangesScreen)
        undone = next(key for key, each in screen.items.items() if each.undone)
        screen.list.move_to(undone)
        await desk.settled()
        await desk.press("u")
        await desk.see("nothing to undo")


async def test_the_tabs_live_through_every_size(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2")
        for width, height in ((160, 50), (40, 12), (20, 6), (100, 14), (1, 1), (80, 24)):
            await desk.pilot.resize_terminal(width, height)
            for _tab in TABS:
                await desk.press("j", "tab", "j", "tab", "enter", "escape", "]")
        await desk.until(lambda: isinstance(desk.app.screen, CandidatesScreen))
        await desk.settled()


async def test_a_click_opens_a_tab(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2")
        await desk.pilot.click(offset=(desk.lines[1].index("Learning") + 1, 1))
        await desk.until(lambda: isinstance(desk.app.screen, LearningScreen))
        await desk.settled()
