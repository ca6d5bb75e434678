"""jobs list, run, retry: the queue of background work, what came of it, and another try."""

from typing import TYPE_CHECKING

import click

from engine.errors import SparkError
from engine.jobs import WAITING, Job, JobState
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.job_shapes import job_json, model_problem
from spark_tui.cli.parser import LazyGroup, Verb
from spark_tui.cli.turn import tell_job
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from engine.runtime import Engine

VERBS = {
    "list": ("jobs:list_", "The latest jobs: kind, state, what came of each."),
    "run": ("jobs:run", "Do queued jobs now: all that are due, or those named."),
    "retry": ("jobs:retry", "Queue failed jobs, and those that had no model, again."),
}


@click.group(cls=LazyGroup, verbs=VERBS)
def jobs() -> None:
    """Background work: what is queued, what failed, what came of it."""


@click.command("list", cls=Verb)
@click.option("--state", type=click.Choice([each.value for each in JobState]), help="Only jobs in this state.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many lines.")
@click.pass_obj
def list_(invocation: Invocation, state: str | None, limit: int) -> None:
    """The latest jobs, newest first. Their text is never shown."""
    with invocation.engine(refresh=False) as engine:
        wanted = JobState(state) if state else None
        found = engine.jobs.recent(limit, wanted)
        total = engine.jobs.count(*([wanted] if wanted else []))
        if invocation.as_json:
            told = [job_json(each) | {"items": [dict(item) for item in each.result]} for each in found]
            invocation.output.document({"jobs": told, "total": total})
            return
        from spark_tui.cli.job_rows import job_rows

        invocation.speak(engine)
        invocation.output.rows(job_rows(found, engine.clock.now_ms(), invocation.output.width))
        invocation.output.note(_("{shown} of {total}").format(shown=len(found), total=total))


@click.command(cls=Verb)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.pass_obj
def run(invocation: Invocation, ids: tuple[str, ...]) -> int:
    """Do every job that is due, or the named ones whether they are due or not."""
    with invocation.engine() as engine:
        if len(ids) == 1:
            job = _run(engine, ids[0])
            engine.fill_vectors(256)
            return tell_job(invocation, engine, job, waited=True)
        if not ids:
            engine.learning.drain()
            engine.fill_vectors(256)
            return _tell_drained(invocation, engine.jobs.count(JobState.QUEUED), engine.jobs.count(*WAITING))
        told, missing = _run_each(engine, ids)
        engine.fill_vectors(256)
        failed = bool(missing) or any(map(model_problem, told))
        if invocation.as_json:
            items = [job_json(job) | {"items": [dict(item) for item in job.result]} for job in told]
            invocation.output.document({"ok": not failed, "jobs": items, "errors": missing})
        else:
            from spark_tui.cli.job_rows import job_rows

            invocation.speak(engine)
            invocation.output.rows(job_rows(told, engine.clock.now_ms(), invocation.output.width))
            for each in missing:
                invocation.output.note(f"{each['id']}: {each['message']}", "error")
        return Exit.FAILED if failed else Exit.OK


def _run(engine: "Engine", job_id: str) -> Job:
    """Do a job now, also one that waited for a person."""
    if engine.jobs.get(job_id).state in WAITING:
        engine.jobs.retry(job_id)
    return engine.learning.run(job_id)


def _run_each(engine: "Engine", ids: tuple[str, ...]) -> tuple[list[Job], list[dict[str, str]]]:
    """The jobs as they are afterwards, and why some could not be run at all."""
    told, missing = [], []
    for job_id in ids:
        try:
            told.append(_run(engine, job_id))
        except SparkError as error:
            missing.append({"id": job_id, "code": error.code, "message": error.message})
    return told, missing


def _tell_drained(invocation: Invocation, queued: int, waiting: int) -> int:
    if invocation.as_json:
        invocation.output.document({"ok": True, "queued": queued, "waiting": waiting})
    else:
        invocation.output.line(
            _("{queued} still queued, {waiting} wait for a person").format(queued=queued, waiting=waiting)
        )
    return Exit.OK


@click.command(cls=Verb)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "all_", is_flag=True, help="Every failed job and every one that had no model.")
@click.pass_obj
def retry(invocation: Invocation, ids: tuple[str, ...], all_: bool) -> int:
    """Queue jobs again; a running TUI or `work` does them, or `jobs run` does now."""
    if bool(ids) == all_:
        raise click.UsageError("name jobs, or give --all")
    with invocation.engine(refresh=False) as engine:
        if all_:
            ids = tuple(job.id for state in WAITING for job in engine.jobs.recent(100_000, state))
        results = []
        for job_id in ids:
            try:
                results.append({"id": job_id, "outcome": "done", "state": engine.jobs.retry(job_id).state.value})
            except SparkError as error:
                results.append({"id": job_id, "outcome": error.code, "message": error.message})
        failed = any(each["outcome"] != "done" for each in results)
        if invocation.as_json:
            invocation.output.document({"ok": not failed, "results": results})
        else:
            for each in results:
                invocation.output.line(f"{each['id']} {each.get('state') or each['message']}")
            if not results:
                invocation.speak(engine)
                invocation.output.note(_("no job waits for a person"))
        return Exit.FAILED if failed else Exit.OK
