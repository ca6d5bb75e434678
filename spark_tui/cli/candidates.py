"""candidates list, show: what waits for a person's decision, and what became of what was decided."""

import click

from engine.memory.candidates.model import CandidateState
from engine.memory.model import Scope
from spark_tui.cli.candidate_shapes import candidate_json
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import LazyGroup, Text, Verb, words

ALL = "all"
VERBS = {
    "list": ("candidates:list_", "What waits for your decision."),
    "show": ("candidates:show", "One candidate: its text, its digest, what it rests on."),
    "confirm": ("candidates_decide:confirm", "Make it a memory."),
    "reject": ("candidates_decide:reject", "Say no; the same text is never asked again."),
}


@click.group(cls=LazyGroup, verbs=VERBS)
def candidates() -> None:
    """Proposed memories and changes that wait for a person."""


@click.command("list", cls=Verb)
@click.option(
    "--state",
    type=click.Choice([*(each.value for each in CandidateState), ALL]),
    default=CandidateState.PENDING.value,
    show_default=True,
    help="Only this state.",
)
@click.option("--scope", type=words(Scope), help="Only this scope.")
@click.option("--agent", type=Text(), metavar="ID", help="Of agent candidates, only those of this agent.")
@click.option("--limit", type=click.IntRange(min=0), help="At most so many.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Leave out so many first.")
@click.pass_obj
def list_(
    invocation: Invocation, state: str, scope: str | None, agent: str | None, limit: int | None, offset: int
) -> None:
    """List candidates, newest first: the pending ones unless another state is named."""
    with invocation.engine() as engine:
        layers = engine.layers.narrowed(engine.layers.person(), Scope(scope) if scope else None, agent)
        states = None if state == ALL else [CandidateState(state)]
        found = engine.candidates.window(layers, states, offset, limit)
        total = engine.candidates.count(layers, states)
        if invocation.as_json:
            invocation.output.document({"candidates": [candidate_json(each) for each in found], "total": total})
            return
        from spark_tui.cli.candidate_rows import candidate_table, summary

        invocation.speak(engine)
        invocation.output.rows(candidate_table(found, engine.clock.now_ms(), invocation.output.width))
        invocation.output.note(summary(len(found), total))


@click.command(cls=Verb)
@click.argument("id_", metavar="ID")
@click.pass_obj
def show(invocation: Invocation, id_: str) -> None:
    """Show one candidate with its text, and which of the memories it rests on have changed since."""
    with invocation.engine() as engine:
        found = engine.candidates.get(id_)
        if invocation.as_json:
            invocation.output.document({"candidate": candidate_json(found)})
            return
        from spark_tui.cli.candidate_rows import candidate_page

        invocation.speak(engine)
        invocation.output.rows(candidate_page(found, engine.clock.zone()))
