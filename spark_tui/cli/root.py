"""The root of the grammar: the groups and single commands there are, and the TUI where none is named."""

import os
import sys

import click

from engine import __version__
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import LazyGroup, tell

VERBS = {
    "memory": ("memory:memory", "Memories: add, list, search, edit, archive, import …"),
    "inject": ("inject:inject", "The memory block an agent would get."),
    "project": ("project:project", "The project here, and whether its memories are committed."),
    "turn": ("turn:turn", "Hand a finished turn over, to be learned from."),
    "jobs": ("jobs:jobs", "Background work: what is queued, what failed, what came of it."),
    "work": ("work:work", "Do background work without a screen."),
    "provider": ("provider:provider", "Endpoints and agent programs whose models answer: add, list, test …"),
    "consolidate": ("consolidate:consolidate", "Merge duplicates and look for general rules."),
    "candidates": ("candidates:candidates", "What waits for your decision: list, show, confirm, reject."),
    "settings": ("settings:settings", "Read and change settings."),
    "doctor": ("doctor:doctor", "What works, what does not, and what to do about it."),
    "eval": ("evaluate:evaluate", "Measure the product's own judgements on labelled examples."),
    "completion": ("completion:completion", "Print the completion script of a shell."),
}


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        tell(context, {"version": __version__}, f"spark-tui {__version__}")


@click.group(cls=LazyGroup, verbs=VERBS, invoke_without_command=True, no_args_is_help=False)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.option("--read-only", is_flag=True, help="Open the screens so that nothing can be changed.")
@click.pass_context
def root(context: click.Context, read_only: bool) -> int:
    """Long-term memory for coding agents. Without a command: the screens."""
    if context.invoked_subcommand is not None:
        return Exit.OK
    invocation = context.ensure_object(Invocation)
    if invocation.as_json:
        raise click.UsageError("--json needs a command", context)
    if not (sys.stdin.isatty() or "TEXTUAL_DRIVER" in os.environ):
        raise click.UsageError("the screens need a terminal; name a command instead", context)
    from spark_tui.app import run

    return int(run(invocation.home, invocation.folder, read_only=read_only))
