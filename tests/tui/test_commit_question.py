"""The first memory of a project raises one question: are they committed with it? Until then git ignores them."""

import pytest

from engine.memory.workspaces import Workspace, commit_choice
from spark_tui.screens.dialogs.choose import ChooseDialog
from spark_tui.screens.dialogs.memory_form import MemoryForm
from tests.support import Place
from tests.tui.desk import Desk, seated


async def add_to_project(desk: Desk, words: str) -> None:
    await desk.press("a")
    await desk.sheet(MemoryForm)
    await desk.paste(words)
    await desk.press("tab", "tab", "tab", "right")
    await desk.press("enter")


def choice(desk: Desk) -> str:
    workspace = desk.engine.layers.workspace
    assert isinstance(workspace, Workspace)
    return commit_choice(workspace)


@pytest.mark.parametrize(("keys", "decided"), [(("enter",), "ignored"), (("down", "enter"), "committed")])
async def test_the_answer_is_kept_and_never_asked_for_again(place: Place, keys: tuple[str, ...], decided: str) -> None:
    async with seated(place) as desk:
        await add_to_project(desk, "Built by Vite")
        await desk.sheet(ChooseDialog)
        await desk.see("memories of this project")
        await desk.press(*keys)
        await desk.see("git ignores them" if decided == "ignored" else "who reads the repository")
        assert choice(desk) == decided
        await add_to_project(desk, "Tested by Vitest")
        await desk.see("added tested-by-vitest")


async def test_leaving_it_open_keeps_git_out_and_asks_no_second_time_in_this_run(place: Place) -> None:
    async with seated(place) as desk:
        await add_to_project(desk, "Built by Vite")
        await desk.sheet(ChooseDialog)
        await desk.press("escape")
        await desk.see("git ignores them until you decide")
        assert choice(desk) == "undecided"
        await add_to_project(desk, "Tested by Vitest")
        await desk.see("added tested-by-vitest")
