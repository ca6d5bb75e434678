"""The composition root: opens the store of one home, builds the services and runs the background workers."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from engine import logs
from engine.clock import Clock, SystemClock
from engine.config import Settings
from engine.errors import PlaceGone, SparkError, StoreBroken
from engine.events import MemoryChanged
from engine.identity import Ids
from engine.jobs import Json
from engine.memory.model import MemoryType, Scope
from engine.memory.workspaces import Unbound, UnboundReason, Workspace, WorkspaceBroken, find_workspace
from engine.paths import Home
from engine.services import Services

if TYPE_CHECKING:
    from engine.learning import Result
    from engine.memory.extraction.trial import Trial
    from engine.memory.injection import Injection, Request
    from engine.memory.retrieval import SearchResult
    from engine.providers.asking import Ask
    from engine.workers import Workers

_log = logging.getLogger(__name__)


class Engine(Services):
    """One open home: ``store`` writes, ``listing`` and ``history`` read, ``search`` finds, ``inject`` builds blocks.

    What a short command may not need is built, and its module imported, when it is first asked for.
    """

    @cached_property
    def workers(self) -> "Workers":
        """The background threads; not started."""
        from engine.workers import Workers

        return Workers(
            self.database, self.bus, self.layers, self.directory, self.embeddings, self.refresh, self.learning
        )

    @contextmanager
    def standing(self, folder: Path | None, project: str | None = None) -> Iterator["Engine"]:
        """An engine of the same home that stands in another folder (None: in no project), for the length of the block.

        ``project`` is the id of the project that was there; one that has moved is followed where it was last seen.
        Raises ``PlaceGone`` when another project, or none, is there now: nothing may be written into that.
        """
        place = self._place(folder, project) if folder else Unbound(UnboundReason.MISSING, self.home.root)
        yield Engine(self.home, place, self.settings, self.clock, self._ids, within=self)

    def _place(self, folder: Path, project: str | None) -> Workspace:
        roots = [folder, *(root for known, root, _seen in self.layers.known_workspaces() if project == known)]
        for root in roots:
            found = workspace_of(root, self.home, self.settings)
            if isinstance(found, Workspace) and found.root == root and project in (None, found.id):
                return found
        raise PlaceGone("the project of this turn is not where it was", "open it where it is now, then jobs retry")

    def search(
        self,
        query: str,
        scope: Scope | None = None,
        type: MemoryType | None = None,
        agent: str | None = None,
        limit: int = 8,
    ) -> "SearchResult":
        """A person's search over this workspace; up to 256 missing vectors are made first when no worker does."""
        from engine.memory.embedding import FILL_BEFORE_SEARCH

        if not self.workers.running:
            self.fill_vectors(FILL_BEFORE_SEARCH)
        layers = self.layers.narrowed(self.layers.person(), scope, agent)
        return self.retrieval.search(query, layers, self.memory_settings(), type, limit)

    def inject(self, request: "Request") -> "Injection":
        """The memory block of one agent's turn; layers that are due for consolidation are queued beside it (02 §8)."""
        if request.as_of_ms is None:
            self.due.check(self.layers.session(request.agent.id))
        return self.injector.assemble(request)

    def fill_vectors(self, limit: int) -> bool:
        """Make up to ``limit`` missing vectors; False when the model failed (search then says so itself)."""
        try:
            self.embeddings.fill_missing(limit)
        except SparkError:
            return False
        return True

    def bind(self, folder: Path) -> None:
        """Stand in the workspace of another folder from now on."""
        self.layers.bind(workspace_of(folder, self.home, self.settings))
        self.refresh()
        self.bus.announce(MemoryChanged())

    def learn(self, kind: str, payload: Json, ask: "Ask", progress: Json, keep: "Callable[[Json], None]") -> "Result":
        """Do the work of one job, standing here."""
        from engine.learning import Result
        from engine.memory.consolidation.due import KIND as CONSOLIDATION
        from engine.memory.extraction.intake import turn_from

        if kind == CONSOLIDATION:
            report = self.consolidation.run(str(payload["layer"]), ask, ask.window, progress, keep)
            return Result(report.items, report.reason)
        learned = self.extraction.run(turn_from(payload), ask, progress, keep)
        return Result(learned.items, learned.reason)

    def try_extraction(self) -> "Trial":
        """One real call with the extraction settings. Raises ``ModelUnavailable`` or ``ModelFailed``."""
        from engine.memory.extraction.trial import tried

        with self.asking(self._chat({})) as ask:
            return tried(ask, self.tokens)

    def close(self) -> None:
        """Stop the workers, give models back, close the database."""
        if "loop" in vars(self):  # first: what waits for a model's answer must not keep a worker
            self.loop.close()
        if "workers" in vars(self):
            self.workers.stop()
        if "embeddings" in vars(self):
            self.embeddings.release()
        self.database.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_engine(
    home: Home,
    folder: Path,
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    refresh: bool = True,
    environ: Mapping[str, str] = os.environ,
) -> Engine:
    """Open a home as seen from ``folder``; files changed since the last time are adopted unless told otherwise.

    Workers are not started: call ``engine.workers.start()`` where a loop runs long enough to want them.
    """
    settings = Settings.load(home.config)
    logs.setup(home.log, str(settings.get("log.level")), _redacted)
    workspace, clock, ids = workspace_of(folder, home, settings), clock or SystemClock(), ids or Ids()
    try:
        return _opened(Engine(home, workspace, settings, clock, ids), refresh)
    except StoreBroken:  # noted by whoever met it: this time the damaged database is set aside
        return _opened(Engine(home, workspace, settings, clock, ids), refresh)


def _opened(engine: Engine, refresh: bool) -> Engine:
    try:
        if refresh:
            engine.refresh()
    except BaseException:
        engine.close()
        raise
    return engine


def workspace_of(folder: Path, home: Home, settings: Settings) -> Workspace | Unbound:
    """The project of a folder; a broken ``workspace.json`` costs the project scope, never the whole home."""
    try:
        return find_workspace(folder, home, Path.home(), str(settings.get("project.worktrees")))
    except WorkspaceBroken as error:
        _log.warning("project not bound: %s", error.message)
        return Unbound(UnboundReason.BROKEN, folder)


def _redacted(line: str) -> str:
    """A suspect log line without what is secret in it; the patterns load with the first such line."""
    from engine.memory.sensitive.scan import redact

    return redact(line)
