"""Looks at what learns: the model, the queue, what came of the last turns and why, what waits for the person.

No model is asked here: a question may cost money, and a key that is refused is seen in the queue's last failure.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from engine.clock import DAY_MS, iso
from engine.doors.checks.row import Row, fail, info, ok, warn
from engine.doors.parts import Parts
from engine.errors import SparkError
from engine.jobs import Job, JobState
from engine.memory.candidates.model import Action
from engine.memory.gate_log import GateLog
from engine.memory.rows import active_count, holder

RECENT_DAYS: Final = 7
LOOKED_AT: Final = 1_000
OFFERS: Final = "spark-tui provider offers looks on this machine; spark-tui provider add --help"


def model_row(parts: Parts) -> Iterator[Row]:
    """Which model extracts memories, and by which rule it was chosen."""
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
            yield fail("extraction-model", title, error.message, error.hint or OFFERS)
        return
    why = "memory.extractionProviderId says so" if chosen else "for turns that name no model of their own"
    told = f"{chat.provider} {chat.model}".strip()
    yield ok("extraction-model", title, f"{told}, {why}; spark-tui provider test {chat.provider} asks it")


def queue_row(parts: Parts) -> Iterator[Row]:
    """What is queued, and what waits for a person with the latest reason."""
    title, jobs = "Queued work", parts.jobs
    counts = {state: jobs.count(state) for state in JobState}
    waiting = {JobState.NO_MODEL: "had no model", JobState.FAILED: "failed"}
    told = [f"{counts[state]} {words}" for state, words in waiting.items() if counts[state]]
    open_ = f"{counts[JobState.QUEUED]} queued, {counts[JobState.RUNNING]} running"
    if not told:
        fix = "an open screen or spark-tui work does them" if counts[JobState.QUEUED] else None
        yield info("jobs", title, open_, fix) if fix else ok("jobs", title, open_)
        return
    latest = next(job for job in jobs.recent(LOOKED_AT) if job.state in waiting)
    evidence = f"{', '.join(told)}; the latest: {latest.reason}; {open_}"
    yield warn("jobs", title, evidence, "mend the cause, then spark-tui jobs retry --all")


def last_turn_row(parts: Parts) -> Iterator[Row]:
    """When a turn was last learned from, and what came of it or why nothing did."""
    title = "Last turn learned from"
    done = (job for job in parts.jobs.recent(LOOKED_AT, JobState.DONE) if job.kind == "extraction")
    latest = max(done, key=lambda job: job.finished_at or 0, default=None)
    if latest is None:
        yield info("last-extraction", title, "none yet", "spark-tui turn submit hands one over")
        return
    when = iso(latest.finished_at or latest.created_at, parts.clock.zone())
    yield info("last-extraction", title, f"{when}: {_came_of(latest)}")


def _came_of(job: Job) -> str:
    if not job.result:
        return job.reason or "nothing"
    counts = Counter(_outcome(item) for item in job.result)
    return ", ".join(f"{number} {what}" for what, number in counts.most_common())


def _outcome(item: object) -> str:
    told = dict(item) if isinstance(item, dict) else {}
    gate = f" by gate {told['gate']}" if told.get("gate") else ""
    return f"{told.get('outcome', '')}{gate}"


def gate_row(parts: Parts) -> Iterator[Row]:
    """What the gates dropped in the last seven days."""
    since = parts.clock.now_ms() - RECENT_DAYS * DAY_MS
    counts = Counter(drop.gate.value for drop in GateLog(parts.database).recent(LOOKED_AT) if drop.at >= since)
    told = ", ".join(f"{number} {gate}" for gate, number in counts.most_common())
    title = "Dropped by the gates"
    if told:
        yield info("gates", title, f"in the last {RECENT_DAYS} days: {told}", "spark-tui memory gate-log names them")
    else:
        yield ok("gates", title, f"nothing in the last {RECENT_DAYS} days")


def candidate_row(parts: Parts) -> Iterator[Row]:
    """What waits for a decision, and what of it cannot be confirmed as it is."""
    waiting, title = parts.candidates.pending(), "Candidates"
    if not waiting:
        yield ok("candidates", title, "none waits")
        return
    with parts.database.read() as connection:
        taken = [
            each
            for each in waiting
            if each.action in (Action.ADD, Action.ELEVATE) and holder(connection, each.layer, each.name)
        ]
    held = f"; the name of {len(taken)} is taken: confirm with another one (--name)" if taken else ""
    yield info("candidates", title, f"{len(waiting)} wait for you{held}", "spark-tui candidates list")


def consolidation_row(parts: Parts) -> Iterator[Row]:
    """Which layers are large enough to be consolidated, and when each was."""
    settings, title, now = parts.memory_settings(), "Consolidation", parts.clock.now_ms()
    if not settings.consolidation_enabled:
        yield info("consolidation", title, "off", "spark-tui settings set memory.consolidationEnabled true")
        return
    told = []
    for layer in parts.layers.person():
        with parts.database.read() as connection:
            count = active_count(connection, layer.key, now)
        if count >= settings.consolidation_threshold:
            last = parts.due.last(layer)
            told.append(f"{layer.label}: {iso(last, parts.clock.zone()) if last else 'at the next turn'}")
    smaller = f"no layer has {settings.consolidation_threshold} active entries yet"
    yield info("consolidation", title, "; ".join(told) or smaller)
