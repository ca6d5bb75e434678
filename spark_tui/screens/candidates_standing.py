"""How the area stands as a whole, read in one go on a thread: what waits, what was dropped, how learning goes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import SparkError
from spark_tui.presenters.job_lines import ModelState
from spark_tui.screens.candidates_lines import Tab
from spark_tui.screens.memory_overview import workspace_name
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.safe import one_line
from spark_tui.widgets.top_line import Word

if TYPE_CHECKING:
    from engine.runtime import Engine

TABS = ("candidates", "dropped", "learning", "changes")


@dataclass(frozen=True, slots=True)
class Review:
    """Numbers for the tabs and the top line; ``stuck`` jobs wait for a person, ``queued`` ones for their turn."""

    workspace: str | None
    pending: int
    dropped: int
    stuck: int
    queued: int
    model: ModelState


def read_review(engine: "Engine") -> Review:
    """The numbers now. Raises ``SparkError``."""
    from engine.jobs import WAITING, JobState
    from engine.memory.gate_log import GateLog

    return Review(
        workspace=workspace_name(engine),
        pending=engine.candidates.count(),
        dropped=GateLog(engine.database).count(),
        stuck=engine.jobs.count(*WAITING),
        queued=engine.jobs.count(JobState.QUEUED, JobState.RUNNING),
        model=read_model(engine),
    )


def read_model(engine: "Engine") -> ModelState:
    """Who is asked to learn when a turn names nobody; nobody is asked anything here."""
    from engine.providers.chat_choice import extraction_choice

    try:
        provider, model = extraction_choice(engine.settings, None)
    except SparkError as error:
        return ModelState("", error.message, error.hint)
    known = {each.name for each in engine.settings.providers() if each.enabled}
    if provider not in known:
        return ModelState(provider, _("no provider named {name}").format(name=one_line(provider)))
    return ModelState(":".join(filter(None, (provider, model))))


def tabs(review: Review) -> list[Tab]:
    """The tabs of the area with their numbers."""
    stuck = Tab("learning", _("Learning"), str(review.stuck), "warning")
    return [
        Tab("candidates", _("Candidates"), str(review.pending or ""), "accent"),
        Tab("dropped", _("Dropped"), str(review.dropped or "")),
        stuck if review.stuck else Tab("learning", _("Learning"), str(review.queued or "")),
        Tab("changes", _("Changes")),
    ]


def left_words(review: Review) -> list[Word]:
    """Where one is; how many candidates wait stands in the tabs below."""
    workspace = review.workspace
    return [Word(one_line(workspace) if workspace else _("no workspace"), "strong" if workspace else "dim", 100)]


def right_words(review: Review, refusal: str | None) -> list[Word]:
    """How learning stands; writing refused."""
    found = [Word(_("read-only"), "warning", 95)] if refusal is not None else []
    if review.model.problem is not None:
        found.append(Word(_("no model: nothing is learned"), "warning", 70))
    elif review.stuck:
        words = ngettext("{n} job needs you", "{n} jobs need you", review.stuck).format(n=review.stuck)
        found.append(Word(words, "warning", 70))
    elif review.queued:
        found.append(
            Word(ngettext("{n} job queued", "{n} jobs queued", review.queued).format(n=review.queued), "dim", 50)
        )
    return found
