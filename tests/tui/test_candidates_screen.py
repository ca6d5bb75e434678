"""Deciding on candidates by keys: each one is a row of the store afterwards, and what was shown is what is stored."""

import pytest
from textual.events import Key

from engine.memory.candidates.model import Candidate, CandidateState, Edits
from engine.memory.listing import Filter
from engine.memory.model import Changes, State
from spark_tui.screens.candidates import CandidatesScreen
from spark_tui.screens.dialogs.candidate_form import CandidateForm
from spark_tui.screens.dialogs.candidate_name import NameDialog
from spark_tui.screens.dialogs.choose import ChooseDialog
from spark_tui.screens.dialogs.confirm import ConfirmDialog
from spark_tui.screens.memory import MemoryScreen
from tests.support import Place, complaints
from tests.tui.desk import Desk, furnish, seated
from tests.tui.review_gallery import proposed

WIDE = (120, 40)


async def on(desk: Desk, name: str) -> Candidate:
    """The candidate area with the cursor on the candidate of a name, its card read."""
    if not isinstance(desk.app.screen, CandidatesScreen):
        await desk.press("2")
    screen = desk.app.screen
    assert isinstance(screen, CandidatesScreen)
    found = next(each.candidate for each in screen.items.values() if each.candidate.name == name)
    screen.list.move_to(found.id)
    await desk.until(screen.page_at_cursor, "the card")
    await desk.settled()
    return found


def after(desk: Desk, candidate: Candidate) -> Candidate:
    """The candidate as it is stored now."""
    return desk.engine.candidates.get(candidate.id).candidate


async def test_the_top_line_of_the_memories_says_that_candidates_wait(review: Place) -> None:
    async with seated(review, size=WIDE) as desk:
        await desk.see("6 candidates wait")
        await desk.press("7")
        await desk.see("6 candidates wait")
        await desk.press("8")
        await desk.see("6 candidates wait")


async def test_nothing_is_said_while_none_waits(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        assert "candidate" not in desk.lines[0]
        await desk.press("2")
        await desk.see("no candidate waits", "nothing waits for you")


async def test_the_list_marks_what_stands_in_the_way(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2")
        rows = {name: next(line for line in desk.lines if name in line) for name in (
            "conclusion-first", "tabs-not-spaces", "answers-first", "registry", "build-with-vite")}  # fmt: skip
        assert "elevate" in rows["conclusion-first"]
        assert "sources changed" in rows["conclusion-first"]
        assert "name taken" in rows["tabs-not-spaces"]
        assert "target changed" in rows["answers-first"]
        assert "northstar" in rows["build-with-vite"]
        assert "changed" not in rows["registry"]


async def test_a_card_shows_sources_with_their_text_an_update_its_difference_a_deletion_what_would_go(
    review: Place,
) -> None:
    async with seated(review, size=WIDE) as desk:
        await on(desk, "conclusion-first")
        await desk.see(
            "a general rule drawn from 3 memories", "不要铺垫，直接给结论", "file:line first", "changed since"
        )
        await on(desk, "build-with-vite")
        await desk.see(
            "would change build-with-vite", "- **Why:** 冷启动从 48 秒降到 1.3 秒。", "降到 0.9 秒", "(verified)"
        )
        await on(desk, "printer-on-floor-3")
        await desk.see("would take printer-on-floor-3 out of use", "session s_77ab")
        await on(desk, "registry")
        await desk.see("would take the place of old-registry", "Packages come from the registry in the basement")


async def test_y_remembers_what_the_card_shows_and_u_takes_it_back(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "conclusion-first")
        await desk.press("y")
        await desk.see("confirmed conclusion-first")
        entry = desk.entry("conclusion-first")
        assert after(desk, candidate).result_id == entry.id
        assert entry.description == candidate.description
        await desk.press("u")
        await desk.see("undone: conclusion-first waits again")
        assert after(desk, candidate).state is CandidateState.PENDING
        assert desk.entry("conclusion-first").state(review.clock.now_ms()) is State.ARCHIVED
        assert complaints(review, desk.engine) == []


@pytest.mark.parametrize("key", ["y", "n"])
async def test_a_key_held_down_decides_one_candidate_and_not_those_that_come_up(review: Place, key: str) -> None:
    async with seated(review) as desk:
        await on(desk, "printer-on-floor-3")
        for _repeat in range(12):
            desk.app.post_message(Key(key, key))
        await desk.until(lambda: desk.engine.candidates.count() == 5)
        await desk.settled()
        assert desk.engine.candidates.count() == 5


async def test_a_deletion_with_a_replacement_puts_the_new_text_in_its_place(review: Place) -> None:
    async with seated(review) as desk:
        await on(desk, "registry")
        await desk.press("y")
        await desk.see("confirmed registry")
        assert desk.entry("old-registry").superseded_by == desk.entry("registry").id


async def test_where_no_card_fits_the_first_y_shows_it_and_the_second_confirms(review: Place) -> None:
    async with seated(review, size=(40, 12)) as desk:
        candidate = await on(desk, "conclusion-first")
        await desk.press("y")
        await desk.see("drawn from 3", "read it first")
        assert after(desk, candidate).state is CandidateState.PENDING
        await desk.press("y")
        await desk.until(lambda: after(desk, candidate).state is CandidateState.CONFIRMED)


async def test_a_taken_name_is_refused_on_the_card_which_stays_and_r_confirms_under_another(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "tabs-not-spaces")
        await desk.press("y")
        await desk.see("! a memory of that name exists already with other content", "the candidate still waits")
        assert after(desk, candidate).state is CandidateState.PENDING
        await desk.press("r")
        await desk.sheet(NameDialog)
        await desk.fill("name", "Tabs Everywhere")
        await desk.press("enter")
        await desk.see("use tabs-everywhere")
        await desk.fill("name", "tabs-everywhere")
        await desk.press("enter")
        await desk.see("confirmed tabs-everywhere")
        assert desk.entry("tabs-everywhere").description == "Indent with tabs everywhere"
        assert desk.entry("tabs-not-spaces").description == "Makefiles are indented with tabs"


async def test_an_update_cannot_be_renamed_nor_a_deletion_edited(review: Place) -> None:
    async with seated(review) as desk:
        await on(desk, "build-with-vite")
        await desk.press("r")
        await desk.see("an update keeps the name of its target")
        await on(desk, "printer-on-floor-3")
        await desk.press("e")
        await desk.see("there is nothing to edit")


async def test_a_target_that_has_moved_on_is_said_and_a_yes_makes_the_difference_that_is_shown(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "answers-first")
        await desk.see("! its target has changed since it was proposed", "- Conclusions before reasons, always")
        await desk.press("y")
        await desk.see("confirmed answers-first")
        assert after(desk, candidate).state is CandidateState.CONFIRMED
        assert desk.entry("answers-first").description == "Answers shall start with the conclusion"


async def test_a_target_that_moves_on_beneath_the_card_is_shown_first(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "build-with-vite")
        with review.open() as elsewhere:  # another process: this screen hears of it only later
            elsewhere.store.edit(desk.entry("build-with-vite").id, Changes(description="vite, what else"))
        await desk.press("y")
        await desk.see("- vite, what else", "its target has changed since it was proposed")
        assert after(desk, candidate).state is CandidateState.PENDING
        assert desk.entry("build-with-vite").description == "vite, what else"
        await desk.press("y")
        await desk.until(lambda: after(desk, candidate).state is CandidateState.CONFIRMED)


async def test_a_target_that_is_out_of_use_can_only_be_rejected(review: Place) -> None:
    with review.open() as engine:
        engine.store.archive([next(each for each in engine.listing.window(Filter()) if each.name == "old-registry").id])
    async with seated(review) as desk:
        candidate = await on(desk, "registry")
        await desk.see("target gone", "it can only be rejected")
        await desk.press("y")
        await desk.see("n rejects it")
        assert after(desk, candidate).state is CandidateState.PENDING
        await desk.press("n")
        await desk.until(lambda: after(desk, candidate).state is CandidateState.REJECTED)


async def test_text_that_is_exchanged_beneath_the_card_is_never_what_a_yes_stores(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "conclusion-first")
        screen = desk.app.screen
        assert isinstance(screen, CandidatesScreen)
        shown = screen.page_at_cursor()
        with review.open() as elsewhere:  # another process: this screen hears of it only later
            elsewhere.candidates.confirm(candidate.id, candidate.digest, None, Edits(description="something else"))
            elsewhere.history.undo(elsewhere.history.changes(limit=1)[0].group)
        assert screen.page_at_cursor() == shown
        await desk.press("y")
        await desk.see("something else", "this text is another one than you were looking at")
        assert after(desk, candidate).state is CandidateState.PENDING
        await desk.press("y")
        await desk.until(lambda: after(desk, candidate).state is CandidateState.CONFIRMED)
        assert desk.entry("conclusion-first").description == "something else"


async def test_e_confirms_the_edited_text_and_shows_its_digest(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "conclusion-first")
        await desk.press("e")
        await desk.sheet(CandidateForm)
        await desk.see(f"{candidate.digest[:12]}, as on the card")
        await desk.fill("description", "The result first")
        await desk.see(f"the card had {candidate.digest[:12]}")
        await desk.press("ctrl+g")
        await desk.see("confirmed conclusion-first")
        assert desk.entry("conclusion-first").description == "The result first"
        assert not list((review.home.root / "drafts").glob("*.json"))


async def test_an_edit_that_is_left_or_refused_is_kept_as_a_draft(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "conclusion-first")
        await desk.press("e")
        await desk.sheet(CandidateForm)
        await desk.fill("description", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        await desk.press("enter")
        await desk.see("something secret or private")
        await desk.fill("description", "half a thou")
        await desk.press("escape")
        await desk.see("the draft is kept")
        assert after(desk, candidate).state is CandidateState.PENDING
    async with seated(review) as desk:
        await on(desk, "conclusion-first")
        await desk.press("e")
        await desk.sheet(ChooseDialog)
        await desk.press("enter")
        form = await desk.sheet(CandidateForm)
        assert form.values["description"] == "half a thou"


async def test_n_rejects_the_candidate_under_the_cursor_only(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "registry")
        await desk.press("n")
        await desk.see("rejected registry")
        assert after(desk, candidate).state is CandidateState.REJECTED
        assert desk.engine.candidates.count() == 5
        assert "registry" not in desk.names()


@pytest.mark.parametrize("keys", [("space", "space"), ("V", "j")])
async def test_marked_candidates_are_rejected_together_after_asking(review: Place, keys: tuple[str, ...]) -> None:
    async with seated(review) as desk:
        await desk.press("2", *keys)
        screen = desk.app.screen
        assert isinstance(screen, CandidatesScreen)
        assert len(screen.list.marked) == 2
        await desk.press("n")
        await desk.sheet(ConfirmDialog)
        await desk.see("reject 2 candidates?", "printer-on-floor-3", "registry")
        await desk.press("enter")
        assert desk.engine.candidates.count() == 6
        await desk.press("n", "n")
        await desk.see("rejected 2 candidates")
        assert desk.engine.candidates.count() == 4


async def test_a_star_marks_all_and_esc_none(review: Place) -> None:
    async with seated(review) as desk:
        await desk.press("2", "asterisk")
        await desk.see("6 marked")
        screen = desk.app.screen
        assert isinstance(screen, CandidatesScreen)
        await desk.press("escape")
        assert screen.list.marked == frozenset()
        await desk.press("escape")
        assert isinstance(desk.app.screen, MemoryScreen)


async def test_s_opens_a_source_in_the_memories(review: Place) -> None:
    async with seated(review) as desk:
        await on(desk, "conclusion-first")
        await desk.press("s")
        await desk.sheet(ChooseDialog)
        await desk.press("j", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, MemoryScreen))
        await desk.until(lambda: desk.cursor == "short-reviews")
        await on(desk, "build-with-vite")
        await desk.press("s")
        await desk.until(lambda: desk.app.screen is desk.memory and desk.cursor == "build-with-vite")


async def test_s_says_so_where_there_is_no_memory(review: Place) -> None:
    async with seated(review) as desk:
        await on(desk, "tabs-not-spaces")
        await desk.press("s")
        await desk.see("there is no memory to open")


async def test_u_takes_back_an_earlier_confirmation_only_after_asking(review: Place) -> None:
    with review.open() as engine:
        candidate = proposed(engine, "be-kind", "Be kind")
        engine.candidates.confirm(candidate.id, candidate.digest)
    async with seated(review) as desk:
        await desk.press("2", "u")
        await desk.sheet(ConfirmDialog)
        await desk.see("be-kind")
        await desk.press("u")
        await desk.see("undone: be-kind waits again", "Candidates 7")
        assert after(desk, candidate).state is CandidateState.PENDING


async def test_what_changes_elsewhere_is_shown_without_a_key_and_the_cursor_stays(review: Place) -> None:
    async with seated(review) as desk:
        candidate = await on(desk, "build-with-vite")
        proposed(desk.engine, "brand-new", "Something new")
        await desk.see("brand-new", "Candidates 7")
        screen = desk.app.screen
        assert isinstance(screen, CandidatesScreen)
        assert screen.list.cursor_key == candidate.id
        desk.engine.store.edit(desk.entry("old-registry").id, Changes(description="gone"))
        await desk.until(lambda: sum("target changed" in line for line in desk.lines) == 2)
        await desk.settled()


async def test_read_only_shows_everything_and_decides_nothing(review: Place) -> None:
    async with seated(review, read_only=True) as desk:
        candidate = await on(desk, "conclusion-first")
        for key in ("y", "n", "r", "e", "u"):
            await desk.press(key)
        assert after(desk, candidate).state is CandidateState.PENDING
        assert desk.engine.candidates.count() == 6
        await desk.see("read-only")
