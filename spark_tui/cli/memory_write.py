"""memory add and edit: the two verbs with which a person writes a memory."""

from datetime import date
from typing import TYPE_CHECKING

import click

from engine.memory.model import UNSET, Changes, Draft, Entry, MemoryType, Scope
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Day, Text, Verb, words
from spark_tui.cli.person import person_only
from spark_tui.cli.text_input import BodySource, entity_list
from spark_tui.cli.vectors import embed
from spark_tui.presenters.json_shapes import entry_json
from spark_tui.text.i18n import N_, _

if TYPE_CHECKING:
    from engine.runtime import Engine


@click.command(cls=Verb)
@click.option("--scope", type=words(Scope), required=True, help="Who can see it.")
@click.option(
    "--type", "type_", type=words(MemoryType), required=True, help="How it is treated; feedback is always injected."
)
@click.option("--name", type=Text(), required=True, help="Lower-case words joined by '-'; Chinese is fine.")
@click.option("--description", type=Text(), required=True, help="One line of at most 200 characters: what is injected.")
@click.option("--body", type=Text(), help="The full text as markdown; - reads standard input.")
@click.option(
    "--body-file", type=click.Path(exists=True, dir_okay=False, allow_dash=True), help="The full text from a file."
)
@click.option("--agent", type=Text(), metavar="ID", help="Whose memory it is (scope agent).")
@click.option("--entities", type=Text(), metavar="A,B", help="Names of people, libraries, modules, systems.")
@click.option("--valid-until", type=Day(), help="The last day on which it applies.")
@click.pass_obj
@person_only
def add(
    invocation: Invocation,
    scope: str,
    type_: str,
    name: str,
    description: str,
    body: str | None,
    body_file: str | None,
    agent: str | None,
    entities: str | None,
    valid_until: date | None,
) -> None:
    """Remember something: a file, a row and a vector."""
    if agent is not None and scope != Scope.AGENT:
        raise click.UsageError("--agent goes with --scope agent")
    draft = Draft(
        scope=Scope(scope),
        type=MemoryType(type_),
        name=name,
        description=description,
        body=BodySource(body, body_file).read() or "",
        entities=entity_list(entities) or (),
        valid_until=valid_until,
        agent=agent,
    )
    with invocation.engine() as engine:
        entry = engine.store.add(draft)
        embed(invocation, engine)
        tell_entry(invocation, engine, entry, N_("added"))


@click.command(cls=Verb)
@click.argument("id_", metavar="ID")
@click.option("--name", type=Text(), help="Another name.")
@click.option("--description", type=Text(), help="Another description.")
@click.option("--body", type=Text(), help="Another text; - reads standard input.")
@click.option(
    "--body-file", type=click.Path(exists=True, dir_okay=False, allow_dash=True), help="Another text from a file."
)
@click.option("--type", "type_", type=words(MemoryType), help="Another type.")
@click.option("--entities", type=Text(), metavar="A,B", help="Exactly these entities.")
@click.option("--valid-until", type=Day(or_none=True), help="The last day on which it applies; none: no end.")
@click.option("--expected-version", type=click.IntRange(min=1), help="Refuse when it has another version by now.")
@click.pass_obj
@person_only
def edit(
    invocation: Invocation,
    id_: str,
    name: str | None,
    description: str | None,
    body: str | None,
    body_file: str | None,
    type_: str | None,
    entities: str | None,
    valid_until: date | str | None,
    expected_version: int | None,
) -> None:
    """Change some fields of a memory; the version before is kept."""
    changes = Changes(
        name=name,
        description=description,
        body=BodySource(body, body_file).read(),
        type=MemoryType(type_) if type_ else None,
        entities=entity_list(entities),
        valid_until=UNSET if valid_until is None else None if isinstance(valid_until, str) else valid_until,
    )
    if changes == Changes():
        raise click.UsageError("nothing to change was given")
    with invocation.engine() as engine:
        entry = engine.store.edit(id_, changes, expected_version)
        if name is not None or description is not None:
            embed(invocation, engine)
        tell_entry(invocation, engine, entry, N_("edited"))


def tell_entry(invocation: Invocation, engine: "Engine", entry: Entry, done: str) -> None:
    """The answer of a verb that leaves one entry behind; ``done`` is its word, marked for translation."""
    if invocation.as_json:
        invocation.output.document({"ok": True, "entry": entry_json(entry, engine.clock.now_ms())})
        return
    invocation.speak(engine)
    version = _("version {n}").format(n=entry.version)
    invocation.output.rows([(("good", _(done)), ("accent", f" {entry.id}"), ("text", f" {entry.name} ({version})"))])
