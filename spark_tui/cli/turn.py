"""turn submit: hand a finished turn over, to be learned from in the background or, with --wait, now."""

from typing import TYPE_CHECKING

import click

from spark_tui.cli.exits import Exit, failure
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.job_shapes import job_json, model_problem
from spark_tui.cli.parser import LazyGroup, Text, Verb
from spark_tui.cli.text_input import STDIN, file_text
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from engine.jobs import Job
    from engine.memory.extraction.turn import Turn
    from engine.runtime import Engine

VERBS = {"submit": ("turn:submit", "Queue a finished turn; what is worth keeping is learned from it.")}


@click.group(cls=LazyGroup, verbs=VERBS)
def turn() -> None:
    """Finished turns of a conversation, which memories are learned from."""


@click.command(cls=Verb)
@click.option("--user-file", required=True, metavar="F", help="What the person said ('-': standard input).")
@click.option("--assistant-file", required=True, metavar="F", help="What the assistant answered.")
@click.option("--context-file", metavar="F", help="The conversation before it; its last 3,000 characters are used.")
@click.option("--session", type=Text(), metavar="ID", help="The session; a turn of one is learned from once.")
@click.option("--turn", "turn_id", type=Text(), metavar="ID", help="The turn's own id; default: known by its text.")
@click.option("--agent", type=Text(), default="main", show_default=True, metavar="ID", help="Whose turn it was.")
@click.option("--role", type=click.Choice(["host", "member"]), default="host", show_default=True, help="Its role.")
@click.option("--provider", type=Text(), metavar="NAME", help="The provider that ran the turn.")
@click.option("--model", type=Text(), metavar="M", help="The model that ran the turn.")
@click.option("--wait", is_flag=True, help="Do the work now and tell what came of it.")
@click.pass_obj
def submit(
    invocation: Invocation, user_file: str, assistant_file: str, context_file: str | None, session: str | None,
    turn_id: str | None, agent: str, role: str, provider: str | None, model: str | None, wait: bool,
) -> int:  # fmt: skip
    """Queue the extraction of memories from one turn. Nothing is kept of a turn whose answer is blank."""
    from engine.memory.extraction.turn import Turn

    if [user_file, assistant_file, context_file].count(STDIN) > 1:
        raise click.UsageError("only one of the files can be standard input")
    with invocation.engine() as engine:
        ran = (provider, model) if provider and model else None
        given = Turn(
            user=file_text(user_file, "the user's text"),
            assistant=file_text(assistant_file, "the assistant's text"),
            context=file_text(context_file, "the context") if context_file else "",
            session=session,
            turn=turn_id,
            agent=agent,
            is_member=role == "member",
            ran=ran,
            said_at=engine.clock.now_ms(),
        )
        return _submitted(invocation, engine, given, wait)


def _submitted(invocation: Invocation, engine: "Engine", given: "Turn", wait: bool) -> int:
    taken = engine.intake.submit(given)
    if taken.job is None:
        if invocation.as_json:
            invocation.output.document({"ok": True, "job": None, "items": [], "reason": taken.reason})
        else:
            invocation.speak(engine)
            invocation.output.line(_("nothing to learn from: {reason}").format(reason=taken.reason))
        return Exit.OK
    job = engine.learning.run(taken.job.id) if wait else taken.job
    if wait:
        engine.fill_vectors(256)
    return tell_job(invocation, engine, job, wait)


def tell_job(invocation: Invocation, engine: "Engine", job: "Job", waited: bool) -> int:
    """Say how a job stands; one that was waited for and did not get done is a failure of the command."""
    problem = model_problem(job) if waited else None
    if invocation.as_json:
        document = {"job": job_json(job), "items": [dict(each) for each in job.result]}
        failed = failure(*problem) if problem else {"ok": True}
        invocation.output.document(failed | document)
    else:
        from spark_tui.cli.job_rows import item_rows, job_line

        invocation.speak(engine)
        invocation.output.rows(item_rows(job.result, invocation.output.width))
        invocation.output.line(job_line(job), "warning" if problem else "dim")
        if problem:
            invocation.output.note(_("spark-tui jobs retry {id} runs it again").format(id=job.id))
    return Exit.FAILED if problem else Exit.OK
