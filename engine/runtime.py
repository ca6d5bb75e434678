"""The composition root: opens the store of one home, builds the services and runs the background workers."""

import logging
import os
import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from engine import logs
from engine.bus import Bus
from engine.clock import Clock, SystemClock
from engine.config import MemorySettings, Settings
from engine.errors import SparkError, StoreBroken
from engine.events import MemoryChanged, SettingsChanged
from engine.identity import Ids
from engine.memory.directory import Directory
from engine.memory.layers import Layers
from engine.memory.listing import Listing
from engine.memory.model import Layer, MemoryType, Scope
from engine.memory.reconcile import Reconciler
from engine.memory.workspaces import Unbound, UnboundReason, Workspace, WorkspaceBroken, find_workspace
from engine.paths import Home
from engine.storage.database import Database, open_database
from engine.storage.transaction import FileTransactions

if TYPE_CHECKING:
    from engine.memory.adoption import Adoption
    from engine.memory.agent_access import AgentMemory
    from engine.memory.commit import Committer
    from engine.memory.embedding import Embeddings
    from engine.memory.history import History
    from engine.memory.injection import Injection, Injector, Request
    from engine.memory.retrieval import Retrieval, SearchResult
    from engine.memory.store import MemoryStore
    from engine.providers.protocols import Embedder
    from engine.providers.tokens import TokenCounter
    from engine.workers import Workers

_log = logging.getLogger(__name__)


class Engine:
    """One open home: ``store`` writes, ``listing`` and ``history`` read, ``search`` finds, ``inject`` builds blocks.

    What a short command may not need is built, and its module imported, when it is first asked for.
    """

    def __init__(self, home: Home, workspace: Workspace | Unbound, settings: Settings, clock: Clock, ids: Ids) -> None:
        self.home = home
        self.settings = settings
        self._settings_seen = settings.generation
        self._settings_lock = threading.Lock()
        self.clock = clock
        self._ids = ids
        self.bus = Bus()
        self.database: Database = open_database(home.database, clock)
        self.layers = Layers(home, self.database, workspace, clock, ids)
        self.directory = Directory(self.database, clock)
        self.transactions = FileTransactions(
            self.database, home.run / "store.lock", clock, "memory", self.layers.folder_of,
            lambda connection, finished: self.reconciler.finish(connection, finished, self.layers.person()),
        )  # fmt: skip
        self.reconciler = Reconciler(
            self.database, self.transactions, lambda: self._committer, lambda: self._adoption, self.directory, clock
        )
        self.listing = Listing(self.database, self.layers, clock)

    @cached_property
    def _committer(self) -> "Committer":
        from engine.memory.commit import Committer

        return Committer(self.transactions, self.directory, self.clock, self.bus)

    @cached_property
    def _adoption(self) -> "Adoption":
        from engine.memory.adoption import Adoption

        return Adoption(self.database, self._committer, self.clock, self._ids, self.memory_settings)

    @cached_property
    def store(self) -> "MemoryStore":
        """Adds, edits, archives and deletes."""
        from engine.memory.store import MemoryStore

        return MemoryStore(
            self.database, self.transactions, self._committer, self.reconciler, self.layers, self.clock, self._ids,
            self.memory_settings,
        )  # fmt: skip

    @cached_property
    def history(self) -> "History":
        """Revisions, the feed of changes, undo, restore."""
        from engine.memory.history import History

        return History(self.database, self._committer, self.store, self.layers, self.clock)

    @cached_property
    def tokens(self) -> "TokenCounter":
        """Counts tokens; the first count loads the vocabulary."""
        from engine.providers.tokens import TokenCounter

        return TokenCounter()

    @cached_property
    def embeddings(self) -> "Embeddings":
        """Keeps the vectors true; loads no model before it is needed."""
        from engine.memory.embedding import Embeddings

        return Embeddings(self.database, self._embedder, self.clock, self.bus, self.memory_settings)

    @cached_property
    def retrieval(self) -> "Retrieval":
        """The one query layer."""
        from engine.memory.retrieval import Retrieval

        return Retrieval(self.database, self.embeddings, self.clock, self.bus)

    @cached_property
    def injector(self) -> "Injector":
        """Builds memory blocks."""
        from engine.memory.injection import Injector

        return Injector(self.database, self.retrieval, self.layers, self.tokens, self.clock, self.memory_settings)

    @cached_property
    def agent_memory(self) -> "AgentMemory":
        """What agents may do: search and recall within their session's scopes."""
        from engine.memory.agent_access import AgentMemory

        return AgentMemory(self.database, self.retrieval, self.layers, self.clock, self.memory_settings)

    @cached_property
    def workers(self) -> "Workers":
        """The background threads; not started."""
        from engine.workers import Workers

        return Workers(self.database, self.bus, self.layers, self.directory, self.embeddings, self.refresh)

    def memory_settings(self) -> MemorySettings:
        """The memory settings as they are in the file now."""
        with self._settings_lock:  # no thread may go on with a model that another one has just seen replaced
            self.settings.reload_if_changed()
            changed = self.settings.generation != self._settings_seen
            self._settings_seen = self.settings.generation
            if changed and "embeddings" in vars(self):
                self.embeddings.reload()
        if changed:
            self.bus.announce(SettingsChanged())
        return self.settings.memory

    def refresh(self, layers: list[Layer] | None = None) -> list[str]:
        """Adopt what changed on disk in what a person sees here; answers the ids touched."""
        return self.reconciler.refresh(layers if layers is not None else self.layers.person())

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
        """The memory block of one agent's turn."""
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

    def close(self) -> None:
        """Stop the workers, give models back, close the database."""
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

    def _embedder(self) -> "Embedder | None":
        from engine.providers.choice import chosen_embedder

        return chosen_embedder(self.settings)


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
