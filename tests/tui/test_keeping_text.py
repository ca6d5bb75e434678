"""Nothing a person typed is lost: drafts, conflicts, the editor, and what happens when saving fails."""

import stat
from pathlib import Path

import pytest

from engine.memory.model import Changes
from spark_tui.screens.dialogs.choose import ChooseDialog
from spark_tui.screens.dialogs.conflict import ConflictDialog
from spark_tui.screens.dialogs.memory_form import MemoryForm
from spark_tui.screens.dialogs.text_view import TextViewDialog
from spark_tui.widgets.window_list import WindowList
from tests.support import Place
from tests.tui.desk import Desk, furnish, remember, seated


def drafts(place: Place) -> list[str]:
    folder = place.home.root / "drafts"
    return sorted(path.name for path in folder.glob("*.json")) if folder.is_dir() else []


async def test_esc_on_a_changed_form_keeps_a_draft_that_the_next_form_offers(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("a")
        await desk.sheet(MemoryForm)
        await desk.paste("half a thought")
        await desk.press("escape")
        await desk.see("the draft is kept")
        assert drafts(place) == ["new.json"]
        await desk.press("a")
        await desk.sheet(ChooseDialog)
        await desk.see("half a thought")
        await desk.press("enter")
        form = await desk.sheet(MemoryForm)
        assert form.values["description"] == "half a thought"
        await desk.press("enter")
        await desk.see("added half-a-thought")
        assert drafts(place) == []


async def test_esc_on_an_untouched_form_leaves_no_draft(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await desk.press("e")
        await desk.sheet(MemoryForm)
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.memory)
        assert drafts(place) == []


async def test_what_is_typed_is_on_disk_before_anything_is_saved(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("a")
        await desk.sheet(MemoryForm)
        await desk.paste("the line may drop any moment")
        await desk.until(lambda: drafts(place) == ["new.json"])
        path = place.home.root / "drafts" / "new.json"
        assert "the line may drop" in path.read_text("utf-8")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_draft_can_be_dropped(place: Place) -> None:
    async with seated(place) as desk:
        await desk.press("a")
        await desk.sheet(MemoryForm)
        await desk.paste("rubbish")
        await desk.press("escape")
        await desk.see("the draft is kept")
        await desk.press("a")
        await desk.sheet(ChooseDialog)
        await desk.press("j", "enter")
        form = await desk.sheet(MemoryForm)
        assert form.values["description"] == ""
        assert drafts(place) == []


async def collide(desk: Desk) -> None:
    """Edit in the form, while somebody else edits the same memory."""
    await desk.press("e")
    await desk.sheet(MemoryForm)
    await desk.fill("description", "my words")
    desk.engine.store.edit(desk.entry("rule").id, Changes(description="their words", body="their body"))
    await desk.press("enter")
    await desk.sheet(ConflictDialog)
    await desk.see(
        "It is at version 2 now; you began at version 1", "- description: their words", "+ description: my words"
    )
    assert desk.entry("rule").description == "their words"


async def resolve(desk: Desk, choice: str) -> None:
    desk.app.screen.query_one(WindowList).move_to(choice)
    await desk.press("enter")


async def test_keep_mine_writes_my_text_as_the_next_version(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await collide(desk)
        await resolve(desk, "mine")
        await desk.see("saved rule")
        assert (desk.entry("rule").version, desk.entry("rule").description) == (3, "my words")
        assert [each.entry.description for each in desk.engine.history.revisions(desk.entry("rule").id)] == [
            "their words",
            "about rule",
        ]


async def test_take_theirs_leaves_their_version_and_drops_the_draft(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await collide(desk)
        await resolve(desk, "theirs")
        await desk.until(lambda: desk.app.screen is desk.memory)
        assert (desk.entry("rule").version, desk.entry("rule").description) == (2, "their words")
        assert drafts(place) == []


async def test_edit_on_comes_back_to_my_text_and_saves_over_theirs(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await collide(desk)
        await resolve(desk, "edit")
        form = await desk.sheet(MemoryForm)
        assert form.values["description"] == "my words"
        await desk.fill("description", "our words")
        await desk.press("enter")
        await desk.see("saved rule")
        assert (desk.entry("rule").version, desk.entry("rule").description) == (3, "our words")


async def test_esc_in_a_conflict_loses_nothing(place: Place) -> None:
    furnish(place, "rule")
    async with seated(place) as desk:
        await collide(desk)
        await desk.press("escape")
        form = await desk.sheet(MemoryForm)
        assert form.values["description"] == "my words"
        assert desk.entry("rule").description == "their words"
        assert drafts(place) == [f"{desk.entry('rule').id}.json"]


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``$EDITOR`` is a shell script; a test writes what it does with the file ``$1``."""
    script = tmp_path / "editor.sh"
    monkeypatch.setenv("EDITOR", f"sh {script}")
    return script


async def test_capital_e_edits_the_memory_in_the_persons_editor(place: Place, editor: Path) -> None:
    with place.open() as engine:
        remember(engine, "rule", "be brief", "first\n\nsecond\n")
    editor.write_text("sed -i 's/be brief/be kind/; s/second/third/' \"$1\"\n")
    async with seated(place) as desk:
        await desk.press("E")
        await desk.see("saved rule", "be kind")
        assert desk.engine.listing.body(desk.entry("rule").id) == "first\n\nthird\n"
        assert not list((place.home.root / "drafts").glob("edit-*"))


async def test_many_marked_memories_are_edited_in_one_buffer(place: Place, editor: Path) -> None:
    furnish(place, "a", "b", "c")
    editor.write_text("sed -i 's/description: about/description: all about/' \"$1\"\n")
    async with seated(place) as desk:
        await desk.press("space", "space", "E")
        await desk.see("saved 2 memories")
        assert {desk.entry(name).description for name in "abc"} == {"about a", "all about b", "all about c"}
        await desk.press("u")
        await desk.see("undone: saved 2 memories")
        assert desk.entry("c").description == "about c"


async def test_what_the_editor_wrote_and_the_store_refused_is_a_draft_of_the_form(place: Place, editor: Path) -> None:
    furnish(place, "rule")
    editor.write_text("sed -i 's/name: rule/name: Not A Slug/; s/about/much about/' \"$1\"\n")
    async with seated(place) as desk:
        await desk.press("E")
        await desk.see("1 was refused", "e goes on with your text")
        assert desk.entry("rule").version == 1
        await desk.press("escape", "e", "enter")
        form = await desk.sheet(MemoryForm)
        assert (form.values["name"], form.values["description"]) == ("Not A Slug", "much about rule")


async def test_an_edit_meanwhile_meets_the_editor_with_a_conflict_and_nothing_is_overwritten(
    place: Place, editor: Path
) -> None:
    furnish(place, "rule")
    editor.write_text(
        'sed -i \'s/about/mine about/\' "$1"; touch "$1.ready"; while [ ! -e "$1.go" ]; do sleep 0.02; done\n'
    )
    async with seated(place) as desk:
        await desk.press("E")
        folder = place.home.root / "drafts"
        await desk.until(lambda: list(folder.glob("edit-*/*.ready")), "the editor")
        desk.engine.store.edit(desk.entry("rule").id, Changes(description="theirs"))
        ready = next(folder.glob("edit-*/*.ready"))
        ready.with_name(ready.name.replace(".ready", ".go")).touch()
        await desk.sheet(ConflictDialog)
        assert desk.entry("rule").description == "theirs"
        await resolve(desk, "mine")
        await desk.see("saved rule")
        assert desk.entry("rule").description == "mine about rule"


async def test_a_buffer_that_cannot_be_read_back_is_kept_and_named(place: Place, editor: Path) -> None:
    furnish(place, "rule")
    editor.write_text('echo nonsense > "$1"\n')
    async with seated(place, size=(160, 24)) as desk:
        await desk.press("E")
        await desk.see("the buffer has no section left", "drafts/editor.md")
        assert (place.home.root / "drafts" / "editor.md").read_text("utf-8") == "nonsense\n"
        assert desk.entry("rule").version == 1


async def test_an_editor_that_fails_leaves_its_file_and_the_memory_as_they_were(place: Place, editor: Path) -> None:
    furnish(place, "rule")
    editor.write_text('echo mine >> "$1"; exit 3\n')
    async with seated(place, size=(160, 24)) as desk:
        await desk.press("E")
        await desk.see("ended with 3", "(your text: ")
        kept = next((place.home.root / "drafts").glob("edit-*/*.md"))
        assert kept.read_text("utf-8").endswith("mine\n")
        assert desk.entry("rule").version == 1


async def test_some_refused_among_many_are_listed_one_by_one(place: Place, editor: Path) -> None:
    furnish(place, "a", "b")
    editor.write_text("sed -i 's/name: a/name: b/; s/about b/bee/' \"$1\"\n")
    async with seated(place) as desk:
        await desk.press("asterisk", "E")
        await desk.sheet(TextViewDialog)
        await desk.see("saved b, 1 was refused", "ALREADY_EXISTS", "done")


async def test_a_broken_file_is_mended_in_the_editor_where_it_lies(place: Place, editor: Path) -> None:
    furnish(place, "rule")
    editor.write_text("sed -i '/^<<<<<<</d; s/about rule/mended/' \"$1\"\n")
    async with seated(place) as desk:
        path = place.path(desk.entry("rule"))
        path.write_text("<<<<<<< mine\n" + path.read_text("utf-8"), "utf-8")
        desk.engine.refresh()
        await desk.see("quarantined")
        await desk.press("e")
        assert "E opens the file" in desk.said
        await desk.press("E")
        await desk.see("the file is a memory again", "mended")
        assert desk.names(state="active") == {"rule"}
