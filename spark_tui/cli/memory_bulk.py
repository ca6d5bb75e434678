"""memory archive, unarchive, delete: verbs on several ids, each with a result of its own."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from engine.errors import NotFound, SparkError
from engine.memory.model import ItemResult
from spark_tui.cli.exits import exit_of_results
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Verb
from spark_tui.cli.person import person_only
from spark_tui.presenters.json_shapes import results_json

if TYPE_CHECKING:
    from engine.runtime import Engine


class Cancelled(SparkError):
    """The person said no."""

    code = "CANCELLED"


@click.command(cls=Verb)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.pass_obj
@person_only
def archive(invocation: Invocation, ids: tuple[str, ...]) -> int:
    """Take memories out of search and injection; their files stay."""
    with invocation.engine() as engine:
        return _tell(invocation, engine.store.archive(_once(ids)))


@click.command(cls=Verb)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.pass_obj
@person_only
def unarchive(invocation: Invocation, ids: tuple[str, ...]) -> int:
    """Bring archived memories back."""
    with invocation.engine() as engine:
        return _tell(invocation, engine.store.unarchive(_once(ids)))


@click.command(cls=Verb)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
@person_only
def delete(invocation: Invocation, ids: tuple[str, ...], yes: bool) -> int:
    """Delete memories for good: file, row, history, vector."""
    output = invocation.output
    if not yes and not output.can_ask():
        raise click.UsageError("there is no terminal to ask on; --yes deletes without asking")
    with invocation.engine() as engine:
        wanted = _once(ids)
        invocation.speak(engine)
        if not yes and not output.ask(_question(engine, wanted)):
            raise Cancelled("nothing was deleted")
        return _tell(invocation, engine.store.delete(wanted))


def _question(engine: "Engine", ids: list[str]) -> str:
    from spark_tui.text.i18n import _
    from spark_tui.text.safe import one_line

    lines = [f"  {entry_id}  {one_line(_named(engine, entry_id))}" for entry_id in ids]
    return "\n".join([_("These are deleted for good and cannot be undone:"), *lines, _("Delete? [y/N] ")])


def _named(engine: "Engine", entry_id: str) -> str:
    try:
        entry = engine.listing.entry(entry_id)
    except NotFound:
        return "(not here)"
    return f"{entry.name}: {entry.description}"


def _once(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def _tell(invocation: Invocation, results: list[ItemResult]) -> int:
    if invocation.as_json:
        invocation.output.document(results_json(results))
    else:
        from spark_tui.presenters.tables import result_rows

        invocation.output.rows(result_rows(results))
    return exit_of_results(results)
