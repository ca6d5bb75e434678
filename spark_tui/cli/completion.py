"""completion: prints the script with which bash, zsh or fish complete the command."""

import click

from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Verb

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "spark-tui", "_SPARK_TUI_COMPLETE"


@click.command(cls=Verb)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_obj
def completion(invocation: Invocation, shell: str) -> None:
    """Print the completion script of SHELL; for bash: eval "$(spark-tui completion bash)"."""
    from click.shell_completion import get_completion_class

    from spark_tui.cli.root import root

    kind = get_completion_class(shell)
    assert kind is not None
    script = script_of(kind, root)
    if invocation.as_json:
        invocation.output.document({"shell": shell, "script": script})
    else:
        invocation.output.text(script)


def script_of(kind: type, root: click.Command) -> str:
    """The script as click writes it; the check of bash's version is left out, which would start a bash."""
    maker = kind(root, {}, PROGRAM, VARIABLE)
    return str(maker.source_template % maker.source_vars())


def answer(kind_and_step: str, root: click.Command) -> str | None:
    """What a shell asked for by the variable (``bash_complete``, ``zsh_source`` …); None when it is no such wish."""
    from click.shell_completion import get_completion_class

    shell, _, step = kind_and_step.partition("_")
    kind = get_completion_class(shell)
    if kind is None or step not in ("source", "complete"):
        return None
    maker = kind(root, {}, PROGRAM, VARIABLE)
    return script_of(kind, root) if step == "source" else maker.complete()
