"""Asks once whether a project's memories are committed with it; until someone answers, git ignores them."""

from typing import TYPE_CHECKING

from engine.memory.workspaces import CommitChoice, Unbound, commit_choice, set_commit_choice
from spark_tui.screens.dialogs.choose import Choice, ChooseDialog
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from spark_tui.screens.engine_screen import EngineScreen


async def ask_whether_to_commit(screen: "EngineScreen") -> None:
    """Ask, unless it is decided or the question was left open in this run already."""
    workspace = screen.engine.layers.workspace
    if isinstance(workspace, Unbound) or workspace.root in screen.host.asked_to_commit:
        return
    if await screen.in_thread(lambda: commit_choice(workspace)) != "undecided":
        return
    screen.host.asked_to_commit.add(workspace.root)
    choices = [
        Choice("ignored", _("keep them on this machine"), _("git ignores them")),
        Choice("committed", _("commit them with the project"), _("who reads the repository reads them")),
    ]
    chosen = await screen.app.push_screen_wait(ChooseDialog(_("memories of this project"), choices))
    if chosen is None:
        screen.say(_("git ignores them until you decide: spark-tui project commit"))
        return
    choice: CommitChoice = "committed" if chosen == "committed" else "ignored"

    def decide() -> bool:
        set_commit_choice(workspace, choice)
        return True

    if await screen.in_thread(decide):
        screen.say(choices[choice == "committed"].note, "good")
