"""Jobs and what came of them as lines for people; loaded only where lines are printed."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.jobs import Job, JobState
from spark_tui.presenters.tables import laid_out
from spark_tui.text.dates import age
from spark_tui.text.i18n import _
from spark_tui.text.lines import ScreenRow
from spark_tui.text.safe import one_line

_STYLES = {
    JobState.DONE: "good",
    JobState.FAILED: "error",
    JobState.NO_MODEL: "warning",
    JobState.RUNNING: "accent",
    JobState.QUEUED: "text",
}
_OUTCOMES = {
    "added": "good",
    "updated": "good",
    "invalidated": "warning",
    "queued_for_review": "accent",
    "dropped": "warning",
}


def job_rows(jobs: Sequence[Job], now_ms: int, width: int) -> list[ScreenRow]:
    """One job a line, newest first."""
    body = [
        [
            ("accent", job.id),
            ("dim", age(job.created_at, now_ms)),
            ("text", job.kind),
            (_STYLES[job.state], job.state.value),
            ("dim", str(len(job.result)) if job.result else ""),
            ("text", one_line(job.reason or "")),
        ]
        for job in jobs
    ]
    return laid_out(["id", _("age"), _("kind"), _("state"), _("items"), _("reason")], body, width, 5)


def item_rows(items: Sequence[Mapping[str, Any]], width: int) -> list[ScreenRow]:
    """What became of each item of a turn."""
    body = [
        [
            (_OUTCOMES.get(str(item["outcome"]), "dim"), str(item["outcome"])),
            ("strong", one_line(str(item.get("name", "")))),
            ("dim", str(item.get("scope", ""))),
            ("accent", str(item.get("id", ""))),
            ("text", one_line(_why(item))),
        ]
        for item in items
    ]
    return laid_out([_("outcome"), _("name"), _("scope"), "id", _("reason")], body, width, 4) if body else []


def _why(item: Mapping[str, Any]) -> str:
    gate, reason = str(item.get("gate", "")), str(item.get("reason", ""))
    return reason if not gate or reason.startswith(f"{gate}:") else f"{gate} {reason}"


def job_line(job: Job) -> str:
    """How a job stands, in one line."""
    reason = f": {one_line(job.reason)}" if job.reason else ""
    return f"{job.id} {job.state.value}{reason}"
