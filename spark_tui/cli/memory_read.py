"""memory list, show, search: reads the store for people and scripts; writes nothing."""

from datetime import date

import click

from engine.clock import day_end_ms
from engine.memory.listing import Filter
from engine.memory.model import MemoryType, Scope, State
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Day, Text, Verb, words
from spark_tui.presenters.json_shapes import Json, derivation_json, entry_json, revision_json, search_json

ALL = "all"


@click.command("list", cls=Verb)
@click.option("--scope", type=words(Scope), help="Only this scope.")
@click.option("--type", "type_", type=words(MemoryType), help="Only this type.")
@click.option("--agent", type=Text(), metavar="ID", help="Only the memories of this agent.")
@click.option(
    "--state",
    type=click.Choice([*(state.value for state in State), ALL]),
    default=State.ACTIVE.value,
    show_default=True,
    help="Only this state.",
)
@click.option(
    "--as-of", type=Day(), help="As things stood at the end of that local day, by validity; texts are today's."
)
@click.option("--limit", type=click.IntRange(min=0), help="At most so many.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Leave out so many first.")
@click.pass_obj
def list_(
    invocation: Invocation,
    scope: str | None,
    type_: str | None,
    agent: str | None,
    state: str,
    as_of: date | None,
    limit: int | None,
    offset: int,
) -> None:  # fmt: skip
    """List memories, newest first: the active ones unless another state is named."""
    with invocation.engine() as engine:
        moment = None if as_of is None else day_end_ms(as_of, engine.clock.zone()) - 1
        wanted = Filter(
            scope=Scope(scope) if scope else None,
            agent=agent,
            type=MemoryType(type_) if type_ else None,
            state=None if state == ALL else State(state),
            as_of_ms=moment,
        )
        entries, total = engine.listing.window(wanted, offset, limit), engine.listing.count(wanted)
        now = engine.clock.now_ms() if moment is None else moment
        if invocation.as_json:
            invocation.output.document({"entries": [entry_json(entry, now) for entry in entries], "total": total})
            return
        from spark_tui.presenters.tables import list_summary, memory_table

        invocation.speak(engine)
        invocation.output.rows(memory_table(entries, now, invocation.project(engine), invocation.output.width))
        invocation.output.note(list_summary(len(entries), total))


@click.command(cls=Verb)
@click.argument("id_", metavar="ID")
@click.option("--history", is_flag=True, help="Earlier versions, and where it came from or went.")
@click.pass_obj
def show(invocation: Invocation, id_: str, history: bool) -> None:
    """Show one memory with its text."""
    with invocation.engine() as engine:
        entry, body = engine.listing.entry(id_), engine.listing.body(id_)
        revisions = engine.history.revisions(id_) if history else []
        derivations = engine.history.derivations(id_) if history else []
        if invocation.as_json:
            document: Json = {"entry": entry_json(entry, engine.clock.now_ms()), "body": body}
            if history:
                document["revisions"] = [revision_json(each) for each in revisions]
                document["derivations"] = [derivation_json(each) for each in derivations]
            invocation.output.document(document)
            return
        from spark_tui.cli.page import print_memory

        print_memory(invocation, engine, entry, body, revisions)


@click.command(cls=Verb)
@click.argument("query", nargs=-1, required=True, type=Text())
@click.option("--scope", type=words(Scope), help="Only this scope.")
@click.option("--type", "type_", type=words(MemoryType), help="Only this type.")
@click.option("--agent", type=Text(), metavar="ID", help="Of agent memories, only those of this agent.")
@click.option("--limit", type=click.IntRange(1, 100), default=8, show_default=True, help="At most so many hits.")
@click.option("--explain", is_flag=True, help="Show the ranks and factors that made the order.")
@click.pass_obj
def search(
    invocation: Invocation,
    query: tuple[str, ...],
    scope: str | None,
    type_: str | None,
    agent: str | None,
    limit: int,
    explain: bool,
) -> None:
    """Find active memories by words and by meaning, in Chinese and English."""
    with invocation.engine() as engine:
        found = engine.search(
            " ".join(query), Scope(scope) if scope else None, MemoryType(type_) if type_ else None, agent, limit
        )
        if invocation.as_json:
            invocation.output.document(search_json(found, engine.clock.now_ms(), explain))
            return
        from spark_tui.cli.page import print_found

        print_found(invocation, engine, found, explain)
