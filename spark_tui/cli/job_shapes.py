"""Jobs as the JSON of the command line; imports nothing that prints."""

from typing import Any

from engine.clock import iso
from engine.jobs import Job, JobState


def job_json(job: Job) -> dict[str, Any]:
    """One job without its text; what came of it stands beside it."""
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state.value,
        "session": job.session,
        "turn": job.turn,
        "attempts": job.attempts,
        "reason": job.reason,
        "created_at": iso(job.created_at),
        "due_at": iso(job.due_at),
        "finished_at": iso(job.finished_at) if job.finished_at is not None else None,
    }


def model_problem(job: Job) -> tuple[str, str, str | None] | None:
    """(code, message, hint) of a job that did not get done; None for one that did."""
    if job.state is JobState.NO_MODEL:
        hint = f"spark-tui provider list shows what there is; spark-tui jobs retry {job.id} runs it again"
        return "MODEL_UNAVAILABLE", job.reason or "no model could be reached", hint
    if job.state is JobState.DONE:
        return None
    return "JOB_FAILED", job.reason or "the job did not get done", f"spark-tui jobs retry {job.id} runs it again"
