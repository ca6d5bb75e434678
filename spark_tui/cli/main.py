"""The command ``spark-tui``: reads the arguments, runs one verb, turns whatever happens into an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from engine.errors import SparkError, places
from spark_tui.cli.exits import Exit, exit_of, failure, failure_of
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.output import Output, give_up_stdout
from spark_tui.cli.root import root

PROGRAM = "spark-tui"
COMPLETE_VARIABLE = "_SPARK_TUI_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the answer is the exit code. Nothing is raised, a broken pipe is quiet."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    output = Output(as_json=_wants_json(given))
    code: int
    try:
        code = _run(given, output)
        output.finish()
    except BrokenPipeError:
        give_up_stdout()
        code = Exit.OK
    return int(code)


def _run(given: list[str], output: Output) -> int:
    try:
        if completion_wish := os.environ.get(COMPLETE_VARIABLE):
            return _complete(completion_wish, output)
        answer = root.main(given, prog_name=PROGRAM, standalone_mode=False, obj=Invocation(output))
        return answer if isinstance(answer, int) else Exit.OK
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.UsageError as error:
        return _tell(output, Exit.USAGE, failure("USAGE", error.format_message(), _help_hint(error)))
    except (click.Abort, KeyboardInterrupt):
        return _tell(output, Exit.INTERRUPTED, failure("INTERRUPTED", "interrupted"))
    except SparkError as error:
        return _tell(output, exit_of(error), failure_of(error))
    except BrokenPipeError:
        raise
    except Exception as error:
        return _tell(output, Exit.FAILED, _unexpected(error))


def _complete(wish: str, output: Output) -> Exit:
    """A shell asks for completions through a variable, as the script of ``spark-tui completion`` makes it do."""
    from spark_tui.cli.completion import answer

    told = answer(wish, root)
    if told is None:
        return Exit.USAGE
    output.text(told)
    return Exit.OK


def _tell(output: Output, code: Exit, document: dict[str, object]) -> Exit:
    """A failure: the document on stdout with ``--json``, else its sentences on stderr."""
    if output.as_json:
        output.document(document)
        return code
    error = document["error"]
    assert isinstance(error, dict)
    output.note(f"{PROGRAM}: {error['message']}", "error")
    if error.get("hint"):
        output.note(f"  {error['hint']}")
    return code


def _wants_json(given: Sequence[str]) -> bool:
    """Asked before parsing, so that a wrong usage is told as JSON too."""
    options = given[: given.index("--")] if "--" in given else given
    return "--json" in options


def _help_hint(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else PROGRAM
    return f"{path} --help shows how it is used"


def _unexpected(error: Exception) -> dict[str, object]:
    if isinstance(error, OSError):
        name = os.fspath(error.filename) if isinstance(error.filename, str) else None
        return failure("IO_FAILED", f"{error.strerror or type(error).__name__}{f': {name}' if name else ''}")
    import logging

    logging.getLogger(__name__).error("unexpected %s at %s", type(error).__name__, places(error))
    return failure("INTERNAL", f"unexpected {type(error).__name__} at {places(error)}", "please report this")


if __name__ == "__main__":
    sys.exit(main())
