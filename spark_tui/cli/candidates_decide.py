"""candidates confirm, reject: the decision of a person, bound to the text they were shown."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from engine.errors import SparkError
from engine.memory.candidates.model import Edits
from engine.memory.model import ItemResult
from spark_tui.cli.candidate_shapes import candidate_json
from spark_tui.cli.exits import exit_of_results
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Text, Verb
from spark_tui.cli.person import person_only
from spark_tui.cli.text_input import BodySource
from spark_tui.cli.vectors import embed
from spark_tui.presenters.json_shapes import entry_json, results_json
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from engine.runtime import Engine


@click.command(cls=Verb)
@click.argument("id_", metavar="ID")
@click.option(
    "--digest", type=Text(), required=True, help="The digest you were shown: that text and no other is stored."
)
@click.option("--name", type=Text(), help="Another name.")
@click.option("--description", type=Text(), help="Another description.")
@click.option("--body", type=Text(), help="Another text; - reads standard input.")
@click.option(
    "--body-file", type=click.Path(exists=True, dir_okay=False, allow_dash=True), help="Another text from a file."
)
@click.pass_obj
@person_only
def confirm(
    invocation: Invocation,
    id_: str,
    digest: str,
    name: str | None,
    description: str | None,
    body: str | None,
    body_file: str | None,
) -> None:
    """Make a candidate a memory; whatever stands in the way leaves it waiting."""
    edits = Edits(description, BodySource(body, body_file).read())
    with invocation.engine() as engine:
        before = engine.candidates.get(id_)
        with _spoken(invocation, engine):
            entry = engine.candidates.confirm(id_, digest, name, edits)
        embed(invocation, engine)
        after = engine.candidates.get(id_)
        if invocation.as_json:
            told = {"ok": True, "entry": entry_json(entry, engine.clock.now_ms()), "candidate": candidate_json(after)}
            invocation.output.document(told)
            return
        invocation.speak(engine)
        invocation.output.rows([(("good", _("confirmed")), ("accent", f" {entry.id}"), ("text", f" {entry.name}"))])
        changed = ", ".join(each.name or each.id for each in before.sources if each.changed)
        if changed:
            told_ = _("changed since it was proposed: {names}")
            invocation.output.note(told_.format(names=changed), "warning")


@click.command(cls=Verb)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.pass_obj
@person_only
def reject(invocation: Invocation, ids: tuple[str, ...]) -> int:
    """Say no to candidates: their text goes and is never asked again."""
    with invocation.engine() as engine:
        results = [_rejected(engine, candidate_id) for candidate_id in dict.fromkeys(ids)]
        if invocation.as_json:
            invocation.output.document(results_json(results))
        else:
            from spark_tui.presenters.tables import result_rows

            invocation.speak(engine)
            invocation.output.rows(result_rows(results))
        return exit_of_results(results)


def _rejected(engine: "Engine", candidate_id: str) -> ItemResult:
    try:
        engine.candidates.reject(candidate_id)
    except SparkError as error:
        return ItemResult(candidate_id, error.code, error.message)
    return ItemResult(candidate_id, "done")


@contextmanager
def _spoken(invocation: Invocation, engine: "Engine") -> Iterator[None]:
    """What stands in the way is told in the person's language, the document's message too: a person decides here."""
    try:
        yield
    except SparkError as error:
        from spark_tui.presenters.candidate_problems import told

        invocation.speak(engine)
        raise told(error) from error
