"""inject: the memory block an agent would get before its next turn, with what is in it and what is not."""

import click

from engine.memory.injection import AgentProfile, Request
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Text, Verb
from spark_tui.presenters.json_shapes import injection_json
from spark_tui.text.i18n import _


@click.command(cls=Verb)
@click.option("--agent", type=Text(), metavar="ID", help="Whose block; brings in that agent's own memories.")
@click.option("--agent-name", type=Text(), default="", help="What the agent is called; memories are chosen by it.")
@click.option("--agent-description", type=Text(), default="", help="What the agent is for; memories are chosen by it.")
@click.option("--prompt", type=Text(), default="", help="What is about to be asked; memories are chosen by it.")
@click.option(
    "--session", type=Text(), metavar="ID", help="Freeze the choice for a session, and count a hit once in it."
)
@click.pass_obj
def inject(
    invocation: Invocation, agent: str | None, agent_name: str, agent_description: str, prompt: str, session: str | None
) -> None:
    """Print the memory block an agent would get; on a terminal its cost and what was left out are told as well."""
    with invocation.engine() as engine:
        request = Request(AgentProfile(agent, agent_name, agent_description), prompt, session)
        told = engine.inject(request)
        if invocation.as_json:
            invocation.output.document(injection_json(told))
            return
        if told.block:
            invocation.output.text(told.block)
        invocation.speak(engine)
        left = ", " + _("{n} left out").format(n=len(told.dropped)) if told.dropped else ""
        size = _("{entries} entries, {tokens} tokens").format(entries=len(told.injected), tokens=told.tokens)
        invocation.output.note(f"{told.status}: {size}{left}")
