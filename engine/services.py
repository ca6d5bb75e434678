"""Builds the services of one home, each when it is first asked for: what a short command does not need costs it nothing."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from engine.bus import Bus
from engine.clock import Clock
from engine.config import MemorySettings, Settings
from engine.errors import SparkError
from engine.events import SettingsChanged
from engine.identity import Ids
from engine.jobs import Jobs, Json
from engine.loop import EngineLoop
from engine.memory.directory import Directory
from engine.memory.layers import Layers
from engine.memory.listing import Listing
from engine.memory.model import Layer
from engine.memory.reconcile import Reconciler
from engine.memory.workspaces import Unbound, Workspace
from engine.paths import Home
from engine.settings_providers import WINDOW
from engine.storage.database import Database, open_database
from engine.storage.transaction import FileTransactions

if TYPE_CHECKING:
    from engine.job_worker import Worker
    from engine.learning import Learner, Learning
    from engine.memory.adoption import Adoption
    from engine.memory.agent_access import AgentMemory
    from engine.memory.candidates.service import Candidates
    from engine.memory.commit import Committer
    from engine.memory.consolidation.due import Due
    from engine.memory.consolidation.service import Consolidation
    from engine.memory.embedding import Embeddings
    from engine.memory.extraction.intake import Intake
    from engine.memory.extraction.service import Extraction
    from engine.memory.history import History
    from engine.memory.injection import Injector
    from engine.memory.retrieval import Retrieval
    from engine.memory.store import MemoryStore
    from engine.providers.asking import Ask
    from engine.providers.chat import ChatModel
    from engine.providers.protocols import Embedder
    from engine.providers.tokens import TokenCounter


class Services(ABC):
    """The services of one open home, seen from one place; ``Engine`` is this with verbs."""

    def __init__(
        self,
        home: Home,
        workspace: Workspace | Unbound,
        settings: Settings,
        clock: Clock,
        ids: Ids,
        within: "Services | None" = None,
    ) -> None:
        """``within`` is an open engine of the same home: database, models and bus are shared with it, not its place."""
        self._within = within
        self.home = home
        self.settings = settings
        self._settings_seen = settings.generation
        self._settings_lock = threading.Lock()
        self.clock = clock
        self._ids = ids
        self.bus: Bus = within.bus if within else Bus()
        self.database: Database = within.database if within else open_database(home.database, clock)
        self.layers = Layers(home, self.database, workspace, clock, ids)
        self.directory = Directory(self.database, clock)
        self.transactions = FileTransactions(
            self.database, home.run / "store.lock", clock, "memory", self.layers.folder_of,
            lambda connection, finished: self.reconciler.finish(connection, finished, self.layers.person()),
        )  # fmt: skip
        self.reconciler: Reconciler = Reconciler(
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

        return self._within.tokens if self._within else TokenCounter()

    @cached_property
    def embeddings(self) -> "Embeddings":
        """Keeps the vectors true; loads no model before it is needed."""
        from engine.memory.embedding import Embeddings

        if self._within:
            return self._within.embeddings
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
    def loop(self) -> EngineLoop:
        """Where models are asked."""
        return self._within.loop if self._within else EngineLoop()

    @cached_property
    def jobs(self) -> Jobs:
        """The queue of background work."""
        return Jobs(self.database, self.clock, self._ids, self.bus)

    @cached_property
    def intake(self) -> "Intake":
        """Takes finished turns in."""
        from engine.memory.extraction.intake import Intake

        return Intake(self.jobs, self.layers, self.memory_settings, self._ids)

    @cached_property
    def candidates(self) -> "Candidates":
        """What waits for a person's decision."""
        from engine.memory.candidates.service import Candidates

        return Candidates(
            self.database, self._committer, self.store, self.layers, self.clock, self._ids, self.bus, self.settings
        )

    @cached_property
    def consolidation(self) -> "Consolidation":
        """Merges duplicates and proposes general rules, layer by layer."""
        from engine.memory.consolidation.merging import Merger
        from engine.memory.consolidation.service import Consolidation

        merger = Merger(self._committer, self.store, self.clock, self.settings)
        return Consolidation(
            self.database, merger, self.candidates, self.layers, self.refresh, self.tokens, self.clock, self.settings,
            self.home.run,
        )  # fmt: skip

    @cached_property
    def due(self) -> "Due":
        """Says which layers are due for consolidation, and queues them."""
        from engine.memory.consolidation.due import Due

        return Due(self.database, self.layers, self.jobs, self.clock, self.bus, self.memory_settings)

    @cached_property
    def extraction(self) -> "Extraction":
        """Learns from one turn, standing where the turn was."""
        from engine.memory.evolution.evolution import Evolution
        from engine.memory.evolution.room import Room
        from engine.memory.evolution.similar import Similar
        from engine.memory.extraction.knowledge import Knowledge
        from engine.memory.extraction.service import Extraction

        similar = Similar(self.database, self.retrieval, self.clock, self.memory_settings)
        room = Room(self.database, self.store, self.layers, self.clock, self.memory_settings)
        evolution = Evolution(
            self.store, self._committer, similar, room, self.candidates, self.layers, self.clock
        )  # fmt: skip
        knowledge = Knowledge(self.database, self.retrieval, self.layers, self.clock, self.memory_settings)
        return Extraction(self.database, self.layers, knowledge, evolution, self.tokens, self.clock)

    @cached_property
    def learning(self) -> "Learning":
        """Does queued work; each job in an engine that stands where the job belongs."""
        from engine.job_worker import worker
        from engine.learning import Learning

        def hands() -> "AbstractContextManager[Worker]":
            return worker(self.database, self.clock, self._ids, self.bus, self.home.run)

        return Learning(
            self.jobs, hands, self.standing, self._chat, self.asking, lambda: self.memory_settings().enabled, self.clock
        )

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

    @contextmanager
    def asking(self, chat: "ChatModel", before: Callable[[], None] = lambda: None) -> Iterator["Ask"]:
        """A model to be asked from this thread within the block."""
        from engine.providers.asking import Ask

        window = next((each.window for each in self.settings.providers() if each.name == chat.provider), WINDOW)
        try:
            yield Ask(chat, self.loop, window, before)
        finally:
            with suppress(SparkError):
                self.loop.run(chat.close())

    def _chat(self, payload: Json) -> "ChatModel":
        from engine.providers.chat_choice import chat_model, extraction_choice

        self.memory_settings()  # read anew: a key or model set meanwhile counts
        ran = payload.get("ran")
        provider, model = extraction_choice(self.settings, (str(ran[0]), str(ran[1])) if ran else None)
        return chat_model(self.settings, self.home, provider, model)

    def _embedder(self) -> "Embedder | None":
        from engine.providers.choice import chosen_embedder

        return chosen_embedder(self.settings)

    @abstractmethod
    def standing(self, folder: Path | None, project: str | None = None) -> "AbstractContextManager[Learner]":
        """An engine of the same home that stands in another folder (None: in no project)."""
