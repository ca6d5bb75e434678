"""consolidate: queue the merging of duplicates and the search for general rules, and with --wait do it now."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from engine.memory.consolidation.due import layer_of
from engine.memory.model import Scope
from spark_tui.cli.exits import Exit, failure
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.job_shapes import job_json, model_problem
from spark_tui.cli.parser import Text, Verb, words
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from engine.jobs import Job
    from engine.runtime import Engine


@click.command(cls=Verb)
@click.option("--scope", type=words(Scope), help="Only this scope (default: user, this project, every agent).")
@click.option("--agent", type=Text(), metavar="ID", help="Of the agents, only this one.")
@click.option("--force", is_flag=True, help="Whether it is due or not.")
@click.option("--wait", is_flag=True, help="Do the work now and tell what came of it.")
@click.pass_obj
def consolidate(invocation: Invocation, scope: str | None, agent: str | None, force: bool, wait: bool) -> int:
    """Consolidate the layers that are due: enough entries, and long enough since the last time.

    Duplicates are merged, which can be undone (memory changes); general rules become candidates.
    """
    with invocation.engine() as engine:
        layers = engine.layers.narrowed(engine.layers.person(), Scope(scope) if scope else None, agent)
        queued = engine.due.force(layers) if force else engine.due.check(layers)
        done = [engine.learning.run(job.id) for job in queued] if wait else queued
        if wait and done:
            engine.fill_vectors(256)
        return _tell(invocation, engine, done, wait)


def _tell(invocation: Invocation, engine: "Engine", jobs: "Sequence[Job]", waited: bool) -> int:
    problem = next((found for job in jobs if waited and (found := model_problem(job))), None)
    if invocation.as_json:
        told = [job_json(job) | _whose(engine, job) | {"items": [dict(item) for item in job.result]} for job in jobs]
        invocation.output.document((failure(*problem) if problem else {"ok": True}) | {"jobs": told})
    else:
        invocation.speak(engine)
        for job in jobs:
            invocation.output.line(_line(engine, job), "warning" if waited and model_problem(job) else "text")
        if not jobs:
            invocation.output.note(_("no layer is due; --force consolidates all the same"))
    return Exit.FAILED if problem else Exit.OK


def _whose(engine: "Engine", job: "Job") -> dict[str, str | None]:
    layer = engine.layers.by_key(layer_of(job))
    return {"scope": layer.scope.value if layer else None, "scope_ref": layer.ref if layer else None}


def _line(engine: "Engine", job: "Job") -> str:
    counts = {word: sum(item["outcome"] == word for item in job.result) for word in ("merged", "proposed", "skipped")}
    told = (
        _("{merged} merged, {proposed} proposed, {skipped} left").format(**counts) if job.result else job.reason or ""
    )
    layer = engine.layers.by_key(layer_of(job))
    return f"{job.id} {layer.label if layer else ''} {job.state.value} {told}".rstrip()
