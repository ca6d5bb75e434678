"""Looks at what learns: the model, the queue, what came of the last turn and why, what the gates dropped.

No model is asked here: a question may cost money, and servers refuse a key only when they are really asked. So the
rows say when the model last answered or why it did not, and name the command that asks it once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.clock import DAY_MS, iso
from engine.doors.checks.row import Row, fail, info, ok, warn
from engine.doors.parts import Parts
from engine.errors import SparkError
from engine.job_table import FORGOTTEN
from engine.jobs import Job, JobState
from engine.memory.extraction.intake import KIND

RECENT_DAYS: Final = 7
LOOKED_AT: Final = 1_000
OFFERS: Final = "spark-tui provider offers looks on this machine; spark-tui provider add --help"
ASK_ONCE: Final = "spark-tui settings test-extraction asks it once"
SWITCH_ON: Final = "spark-tui settings set memory.enabled true"
UNSET: Final = "spark-tui settings unset memory.extractionProviderId goes back to the model of each turn"
_WAITING: Final = {JobState.NO_MODEL: "had no model", JobState.FAILED: "failed"}


def model_row(parts: Parts) -> Iterator[Row]:
    """Which model extracts memories, by which rule it was chosen, and whether it answered when it was last asked."""
    from engine.providers.chat_choice import NOTHING, chat_model, extraction_choice

    title, chosen = "Extraction model", parts.memory_settings().extraction_provider
    try:
        provider, model = extraction_choice(parts.settings, None)
        chat = chat_model(parts.settings, parts.home, provider, model)
    except SparkError as error:
        if error.message == NOTHING:
            told = "none: a turn is learned from by the model that ran it, or waits for one; all else works without"
            yield info("extraction-model", title, told, OFFERS)
        else:
            fixes = [error.hint or OFFERS, *([UNSET] if chosen else [])]
            yield fail("extraction-model", title, error.message, "; ".join(fixes))
        return
    yield _answering(parts, title, f"{chat.provider} {chat.model}".strip() + f", {_rule(parts, provider)}")


def _rule(parts: Parts, provider: str) -> str:
    """Why this model: by a setting for extraction, as the default one, or for want of another."""
    from engine.config import DEFAULT_PROVIDER

    memory = parts.memory_settings()
    if memory.extraction_provider:
        return "set by memory.extractionProviderId"
    model = "; the model is set by memory.extractionModel" if memory.extraction_model else ""
    which = "the default" if parts.settings.get(DEFAULT_PROVIDER) == provider else "the only one there is"
    return f"{which}, for turns that do not name a model of their own{model}"


def _answering(parts: Parts, title: str, told: str) -> Row:
    done, refused = _latest(parts, JobState.DONE), _latest(parts, JobState.NO_MODEL)
    if refused and (done is None or _ended(refused) > _ended(done)):
        return warn("extraction-model", title, f"{told}; no answer {_when(parts, refused)}: {refused.reason}", ASK_ONCE)
    if done is None:
        return info("extraction-model", title, f"{told}; never asked yet", ASK_ONCE)
    return ok("extraction-model", title, f"{told}; the last answer came {_when(parts, done)}")


def queue_row(parts: Parts) -> Iterator[Row]:
    """What is queued, and what waits for a person with the latest reason."""
    title, counts = "Queued work", {state: parts.jobs.count(state) for state in JobState}
    open_ = f"{counts[JobState.QUEUED]} queued, {counts[JobState.RUNNING]} running"
    stuck = [f"{counts[state]} {words}" for state, words in _WAITING.items() if counts[state]]
    if stuck:
        ended = [job for state in _WAITING for job in parts.jobs.recent(LOOKED_AT, state)]
        latest = max(ended, key=_ended)
        told = f"{', '.join(stuck)}; the latest, {latest.kind} {latest.id}: {latest.reason}; {open_}"
        yield warn("jobs", title, told, f"mend the cause, then spark-tui jobs retry {_these(ended)}")
    elif not counts[JobState.QUEUED]:
        yield ok("jobs", title, open_)
    elif not parts.memory_settings().enabled:
        yield warn("jobs", title, f"{open_}; nothing is done while memory is off", SWITCH_ON)
    else:
        yield info("jobs", title, open_, "an open screen does them, or spark-tui jobs run does them now")


def _these(jobs: list[Job]) -> str:
    return jobs[0].id if len(jobs) == 1 else "--all"


def last_turn_row(parts: Parts) -> Iterator[Row]:
    """When a turn was last learned from, how many items it brought, and what came of each or why there was none."""
    title, latest = "Last turn learned from", _latest(parts, JobState.DONE, KIND)
    if latest is None:
        yield info("last-extraction", title, "none yet", "spark-tui turn submit hands one over")
    else:
        yield info("last-extraction", title, f"{_when(parts, latest)}: {_came_of(latest)}")


def _came_of(job: Job) -> str:
    if not job.result:
        return f"0 items: {job.reason or 'nothing'}"
    counts = Counter(_outcome(item) for item in job.result)
    told = ", ".join(f"{number} {what}" for what, number in counts.most_common())
    return f"{len(job.result)} item{'s' if len(job.result) > 1 else ''}: {told}"


def _outcome(item: Mapping[str, Any]) -> str:
    gate = f" by gate {item['gate']}" if item.get("gate") else ""
    return f"{str(item.get('outcome', '')).replace('_', ' ')}{gate}"


def gate_row(parts: Parts) -> Iterator[Row]:
    """What the gates dropped in the last seven days, by gate."""
    sql = "SELECT gate, count(*) FROM memory_gate_log WHERE at >= ? GROUP BY gate ORDER BY 2 DESC, gate"
    with parts.database.read() as connection:
        counts = list(connection.execute(sql, (parts.clock.now_ms() - RECENT_DAYS * DAY_MS,)))
    title, told = "Dropped by the gates", ", ".join(f"{number} {gate}" for gate, number in counts)
    if told:
        yield info("gates", title, f"in the last {RECENT_DAYS} days: {told}", "spark-tui memory gate-log names them")
    else:
        yield ok("gates", title, f"nothing in the last {RECENT_DAYS} days")


def _latest(parts: Parts, state: JobState, kind: str | None = None) -> Job | None:
    """The job that ended last in this state; one whose text was deleted says nothing about a model."""
    jobs = [job for job in parts.jobs.recent(LOOKED_AT, state) if kind in (None, job.kind) and job.reason != FORGOTTEN]
    return max(jobs, key=_ended, default=None)


def _ended(job: Job) -> int:
    return job.finished_at or job.created_at


def _when(parts: Parts, job: Job) -> str:
    return iso(_ended(job), parts.clock.zone())
