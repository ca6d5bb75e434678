"""Changing memories by keys: each one is a row and a file afterwards, and each can be taken back or asks first."""

from datetime import date

import pytest

from engine.memory.model import Changes, MemoryType, Scope
from spark_tui.screens.dialogs.confirm import ConfirmDialog
from spark_tui.screens.dialogs.history import HistoryDialog
from spark_tui.screens.dialogs.memory_form import MemoryForm
from spark_tui.screens.dialogs.text_view import TextViewDialog
from tests.support import Place
from tests.tui.desk import Desk, furnish, remember, seated


async def test_a_adds_a_memory_that_is_a_file_and_in_the_list_at_once(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("a")
        await desk.sheet(MemoryForm)
        await desk.write("Prefers tabs")
        await desk.fill("entities", "Makefile, 缩进")
        await desk.press("enter")
        await desk.see("1 memory", "Prefers tabs", "added prefers-tabs")
        entry = desk.entry("prefers-tabs")
        assert (entry.scope, entry.type, entry.entities) == (Scope.USER, MemoryType.FEEDBACK, ("Makefile", "缩进"))
        assert "Prefers tabs" in place.path(entry).read_text("utf-8")


async def test_a_memory_for_an_agent_asks_which_and_the_form_starts_where_one_is(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("a")
        form = await desk.sheet(MemoryForm)
        assert not form.query_one("#field-agent").display
        await desk.paste("Runs without network")
        await desk.press("tab", "tab", "tab", "right", "right")
        await desk.see("known: main, claude-code, codex")
        await desk.press("enter")
        await desk.see("not an agent id")
        await desk.fill("agent", "codex")
        await desk.press("enter")
        await desk.see("codex", "added runs-without-network")
        assert desk.entry("runs-without-network").scope_ref == "codex"


@pytest.mark.parametrize(
    ("field", "text", "complaint"),
    [
        ("description", "", "the description is empty"),
        ("name", "Not A Slug", "use not-a-slug"),
        ("validity", "next week", "not a day"),
        ("description", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789", "something secret or private"),
        ("name", "taken", "an active memory of that name exists already"),
    ],
)
async def test_what_cannot_be_stored_is_said_below_its_field_and_nothing_is_lost(
    place: Place, field: str, text: str, complaint: str
) -> None:
    furnish(place, "taken")
    async with seated(place) as desk:
        await desk.press("a")
        form = await desk.sheet(MemoryForm)
        await desk.paste("a fine description")
        await desk.fill("entities", "kept")
        await desk.fill(field, text)
        await desk.press("enter")
        await desk.see(complaint)
        assert form.values["entities"] == "kept"
        assert desk.names() == {"taken"}


async def test_the_long_field_takes_enter_and_ctrl_g_saves_from_it(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("a")
        form = await desk.sheet(MemoryForm)
        await desk.paste("two lines")
        form.query_one("#field-body").control_widget.focus()  # type: ignore[attr-defined]
        await desk.write("one")
        await desk.press("enter")
        await desk.write("two")
        await desk.press("ctrl+g")
        await desk.see("added two-lines")
        assert desk.engine.listing.body(desk.entry("two-lines").id) == "one\ntwo"


async def test_e_edits_and_only_what_was_changed(place: Place) -> None:
    with place.open() as engine:
        remember(engine, "rule", "be brief", "body\r\nwith odd ends  ", confidence=1.0)
    async with seated(place) as desk:
        await desk.press("e")
        await desk.sheet(MemoryForm)
        await desk.fill("description", "be very brief")
        await desk.press("enter")
        await desk.see("saved rule", "be very brief")
        assert desk.entry("rule").version == 2
        assert desk.engine.listing.body(desk.entry("rule").id) == "body\r\nwith odd ends  "


async def test_v_sets_and_clears_the_last_day(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("v")
        await desk.paste("2026-10-31")
        await desk.see("applies through 2026-10-31")
        await desk.press("enter")
        await desk.see("validity of rule set")
        validity = desk.entry("rule").valid_until
        assert validity is not None
        assert validity.day == date(2026, 10, 31)
        await desk.press("v", "end", "ctrl+u", "enter")
        await desk.until(lambda: desk.entry("rule").valid_until is None)


async def test_capital_a_archives_and_brings_back(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("A")
        await desk.see("archived rule")
        assert desk.entry("rule").archived
        assert "archived: true" in place.path(desk.entry("rule")).read_text("utf-8")
        await desk.press("A")
        await desk.see("brought back rule")
        assert not desk.entry("rule").archived


async def test_capital_d_names_it_and_deletes_only_after_its_letter(place: Place) -> None:
    furnish(place, "kept", "doomed")
    async with seated(place) as desk:
        path = place.path(desk.entry("doomed"))
        for refusal in ("enter", "escape", "q"):
            await desk.press("D")
            await desk.sheet(ConfirmDialog)
            assert "doomed" in desk.text
            await desk.press(refusal)
            assert desk.names() == {"kept", "doomed"}
        await desk.press("D", "d")
        await desk.see("deleted doomed", "1 memory")
        assert desk.names() == {"kept"}
        assert not path.exists()


async def test_u_takes_back_what_was_done_last(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("A")
        await desk.see("archived rule")
        await desk.press("u")
        await desk.see("undone: archived rule")
        assert desk.names(state="active") == {"rule"}


async def test_u_takes_back_a_bulk_change_as_one(place: Place) -> None:
    furnish(place, "a", "b", "c")
    async with seated(place) as desk:
        await desk.press("asterisk", "A")
        await desk.see("archived 3 memories")
        assert desk.names(state="archived") == {"a", "b", "c"}
        await desk.press("u")
        await desk.see("undone: archived 3 memories")
        assert desk.names(state="active") == {"a", "b", "c"}


async def test_u_asks_before_it_takes_back_what_was_not_done_here(place: Place) -> None:
    furnish(place, "rule")
    with place.open() as engine:
        engine.store.edit(engine.listing.window(_all())[0].id, Changes(description="changed by a script"))
    async with seated(place) as desk:
        await desk.press("u")
        await desk.sheet(ConfirmDialog)
        assert "edited rule" in desk.text
        await desk.press("escape")
        assert desk.entry("rule").description == "changed by a script"
        await desk.press("u", "u")
        await desk.see("about rule")


async def test_space_and_a_range_mark_what_a_verb_then_acts_on(place: Place) -> None:
    furnish(place, "a", "b", "c", "d", "e")
    async with seated(place) as desk:
        await desk.press("space", "j", "V", "j", "A")
        await desk.see("archived 3 memories")
        assert desk.names(state="archived") == {"e", "c", "b"}


async def test_esc_drops_marks_before_anything_else(place: Place) -> None:
    furnish(place, "a", "b")
    async with seated(place) as desk:
        await desk.press("space")
        assert "1 marked" in desk.said
        await desk.press("escape", "A")
        await desk.see("archived a")
        assert desk.names(state="archived") == {"a"}


async def test_a_bulk_change_reports_each_refusal(place: Place) -> None:
    furnish(place, "fine", "broken")
    async with seated(place) as desk:
        path = place.path(desk.entry("broken"))
        path.write_text("<<<<<<< mine\n", "utf-8")
        await desk.press("asterisk", "A")
        await desk.sheet(TextViewDialog)
        await desk.see("archived fine, 1 was refused", "broken", "VALIDATION_FAILED")
        assert desk.names(state="archived") == {"fine"}


async def test_h_shows_what_changed_since_and_enter_restores_it(place: Place) -> None:
    with place.open() as engine:
        entry = remember(engine, "rule", "be brief", "first text")
        engine.store.edit(entry.id, Changes(body="second text", description="be very brief"))
    async with seated(place) as desk:
        await desk.press("h")
        await desk.sheet(HistoryDialog)
        await desk.see("v2 now", "- be brief", "+ be very brief", "- first text", "+ second text")
        await desk.press("enter")
        await desk.see("restored rule as version 3")
        assert desk.engine.listing.body(desk.entry("rule").id) == "first text"


async def test_a_broken_file_is_restored_from_its_history(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        path = place.path(desk.entry("rule"))
        path.write_text("<<<<<<< mine\n", "utf-8")
        desk.engine.refresh()
        await desk.see("quarantined")
        await desk.press("h")
        await desk.sheet(HistoryDialog)
        await desk.see("last good text; enter restores it", "about rule")
        await desk.press("enter")
        await desk.see("restored rule as version 2")
        assert "about rule" in path.read_text("utf-8")


async def test_read_only_refuses_every_write_and_says_so(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place, read_only=True) as desk:
        await desk.see("read-only")
        for key in ("a", "e", "E", "v", "A", "D", "u"):
            await desk.press(key)
            assert isinstance(desk.app.screen, type(desk.memory))
            assert "read-only" in desk.said or "nothing" in desk.said
        assert _untouched(desk)


def _untouched(desk: Desk) -> bool:
    return desk.entry("rule").version == 1 and not desk.entry("rule").archived


def _all() -> object:
    from engine.memory.listing import Filter

    return Filter(state=None)
