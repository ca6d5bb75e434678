"""The Learning tab: turns and consolidations as background jobs, what came of each, and what mends those that stopped."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from engine.errors import NotFound
from spark_tui import actions
from spark_tui.presenters.job_lines import JobView, ModelState, job_cells, job_lines, model_lines
from spark_tui.presenters.memory_rows import age_width
from spark_tui.presenters.paths import short_path
from spark_tui.screens.candidates_frame import CONTEXTS, ReviewScreen
from spark_tui.screens.candidates_standing import read_model
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block
from spark_tui.widgets.rows import Cell, Column, Row

if TYPE_CHECKING:
    from engine.jobs import Job
    from engine.runtime import Engine

MOST = 500
_STOPPED = ("failed", "no_model")


class LearningScreen(ReviewScreen[JobView, tuple[JobView, ModelState]]):
    """Jobs, newest first."""

    TAB = "learning"
    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.LEARNING, *CONTEXTS)

    def columns(self) -> Sequence[Column]:
        """State, kind, what came of it, age."""
        return (
            Column("state", _("state"), 8),
            Column("kind", _("kind"), 13, priority=20),
            Column("came", _("what came of it"), 18, flex=3, priority=60),
            Column("age", _("age"), max(4, age_width()), priority=30, align="right"),
        )

    def read_items(self) -> list[tuple[str, JobView, Row]]:
        """On a thread: the latest jobs."""
        now = self.engine.clock.now_ms()
        found = [_view(each, {}) for each in self.engine.jobs.recent(MOST)]
        return [(each.id, each, _row(each, now)) for each in found]

    def read_page(self, key: str) -> tuple[JobView, ModelState]:
        """On a thread: the job with the names of what came of it, and whether a model could be asked now."""
        job = self.engine.jobs.get(key)
        return _view(job, _names(self.engine, job)), read_model(self.engine)

    def page_lines(self, key: str, page: tuple[JobView, ModelState]) -> list[Block]:
        """What came of it."""
        return job_lines(*page, self.engine.clock.now_ms(), self.engine.clock.zone())

    def nothing_lines(self) -> list[Block]:
        """Who would learn, or what is missing for it."""
        return model_lines(self.review.model) if self.review else []

    def empty_words(self) -> str:
        """No turn was handed over."""
        return _("no turn was handed over yet")

    def can_retry(self) -> bool:
        """Whether the job under the cursor stopped."""
        job = self.item_at_cursor()
        return self.can_writable() and job is not None and job.state in _STOPPED

    def can_source(self) -> bool:
        """Whether a memory or candidate came of it."""
        return bool(self._came())

    def do_learning_retry(self) -> None:
        """Queue it again."""
        job = self.item_at_cursor()
        if job is not None:
            self.run_worker(self._retry(job.id), exit_on_error=True)

    def do_learning_source(self) -> None:
        """Open a memory that came of it; candidates are in the first tab."""
        came = self._came()
        memories = [each for each in came if not each[0].startswith("cnd")]
        if memories:
            self.run_worker(self.open_memory(memories), exit_on_error=True)
        else:
            self.host.go_to("candidates")

    async def _retry(self, job_id: str) -> None:
        if await self.in_thread(lambda: self.engine.jobs.retry(job_id)) is not None:
            self.say(_("queued again"), "good")
        self.refresh_all()

    def _came(self) -> list[tuple[str, str]]:
        page = self.page_at_cursor()
        return list(page[0].names.items()) if page else []


def _view(job: "Job", names: dict[str, str]) -> JobView:
    return JobView(
        id=job.id, kind=job.kind, state=job.state.value, folder=short_path(job.folder) if job.folder else "",
        session=job.session, attempts=job.attempts, reason=job.reason, items=[dict(each) for each in job.result],
        created_at=job.created_at, due_at=job.due_at, finished_at=job.finished_at, names=names,
    )  # fmt: skip


def _names(engine: "Engine", job: "Job") -> dict[str, str]:
    """The names of memories and candidates of a result that are here; in the order of the result."""
    found = {}
    for key in dict.fromkeys(key for item in job.result for key in _ids(item)):
        try:
            found[key] = (
                engine.candidates.get(key).candidate.name if key.startswith("cnd") else engine.listing.entry(key).name
            )
        except NotFound:  # it may be another project's, or deleted since
            continue
    return found


def _ids(item: "dict[str, object] | object") -> Iterable[str]:
    told = dict(item) if isinstance(item, dict) else {}
    listed = told.get("ids")
    yield from (str(told[name]) for name in ("id", "keep") if told.get(name))
    yield from (str(each) for each in listed) if isinstance(listed, list) else ()


def _row(job: JobView, now_ms: int) -> Row:
    return Row(job.id, tuple(Cell(text, style) for text, style in job_cells(job, now_ms)))
