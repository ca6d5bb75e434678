"""project show, commit, ignore: which project the memories here belong to, and whether they travel with its repository."""

from typing import TYPE_CHECKING, Any

import click

from engine.memory.workspaces import CommitChoice, Unbound, Workspace, commit_choice, set_commit_choice
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import LazyGroup, Verb
from spark_tui.cli.person import person_only
from spark_tui.text.i18n import N_, _

if TYPE_CHECKING:
    from engine.runtime import Engine

VERBS = {
    "show": ("project:show", "Which project this is, and whether its memories are committed."),
    "commit": ("project:commit", "Let git see this project's memories."),
    "ignore": ("project:ignore", "Keep this project's memories out of git."),
}
_WORDS: dict[CommitChoice, str] = {
    "undecided": N_("not decided yet, so git ignores them: project commit, or project ignore"),
    "ignored": N_("git ignores them; they stay on this machine"),
    "committed": N_("git sees them; whoever can read the repository can read them"),
}


@click.group(cls=LazyGroup, verbs=VERBS)
def project() -> None:
    """The project these memories belong to."""


@click.command(cls=Verb)
@click.pass_obj
def show(invocation: Invocation) -> None:
    """Which project this is, and whether its memories are committed with it."""
    with invocation.engine() as engine:
        _tell(invocation, engine)


@click.command(cls=Verb)
@click.pass_obj
@person_only
def commit(invocation: Invocation) -> None:
    """Let git see this project's memories; add and commit them as any other file."""
    _choose(invocation, "committed")


@click.command(cls=Verb)
@click.pass_obj
@person_only
def ignore(invocation: Invocation) -> None:
    """Keep this project's memories out of git; what git already tracks stays tracked."""
    _choose(invocation, "ignored")


def _choose(invocation: Invocation, choice: CommitChoice) -> None:
    with invocation.engine() as engine:
        set_commit_choice(_workspace(engine), choice)
        _tell(invocation, engine)


def _workspace(engine: "Engine") -> Workspace:
    found = engine.layers.workspace
    if isinstance(found, Unbound):
        raise click.UsageError(_("{path} is no project: {reason}").format(path=found.path, reason=found.reason.words))
    return found


def _tell(invocation: Invocation, engine: "Engine") -> None:
    found = _workspace(engine)
    choice = commit_choice(found)
    if invocation.as_json:
        told: dict[str, Any] = {"ok": True, "root": str(found.root), "id": found.id, "memories": choice}
        invocation.output.document(told)
        return
    invocation.speak(engine)
    invocation.output.line(str(found.root), "strong")
    invocation.output.line(_(_WORDS[choice]))
