"""What a door needs of an open engine, by name and type: the composition root fits it without being known here."""

from typing import Protocol

from engine.bus import Bus
from engine.clock import Clock
from engine.config import MemorySettings, Settings
from engine.jobs import Jobs
from engine.memory.audit import Auditor
from engine.memory.candidates.service import Candidates
from engine.memory.commit import Committer
from engine.memory.consolidation.due import Due
from engine.memory.directory import Directory
from engine.memory.embedding import Embeddings
from engine.memory.layers import Layers
from engine.memory.listing import Listing
from engine.memory.reconcile import Reconciler
from engine.memory.reindexing import Reindexer
from engine.memory.store import MemoryStore
from engine.memory.transfer.exporting import Exporter
from engine.memory.transfer.importing import Importer
from engine.memory.transfer.verdicts import Judge
from engine.paths import Home
from engine.providers.tokens import TokenCounter
from engine.storage.database import Database
from engine.storage.transaction import FileTransactions


class Parts(Protocol):
    """An open engine as the doors see it."""

    @property
    def home(self) -> Home:
        """Where it lives."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings file."""
        ...

    @property
    def clock(self) -> Clock:
        """Time."""
        ...

    @property
    def bus(self) -> Bus:
        """Facts."""
        ...

    @property
    def database(self) -> Database:
        """Rows."""
        ...

    @property
    def layers(self) -> Layers:
        """Which layers exist."""
        ...

    @property
    def directory(self) -> Directory:
        """MEMORY.md."""
        ...

    @property
    def transactions(self) -> FileTransactions:
        """Files and rows together."""
        ...

    @property
    def reconciler(self) -> Reconciler:
        """Files against rows."""
        ...

    @property
    def store(self) -> MemoryStore:
        """The writing verbs."""
        ...

    @property
    def candidates(self) -> Candidates:
        """What waits for a person."""
        ...

    @property
    def jobs(self) -> Jobs:
        """The queue of background work."""
        ...

    @property
    def due(self) -> Due:
        """Which layers are due for consolidation."""
        ...

    @property
    def listing(self) -> Listing:
        """Lists and details."""
        ...

    @property
    def tokens(self) -> TokenCounter:
        """Token counts."""
        ...

    @property
    def embeddings(self) -> Embeddings:
        """Vectors."""
        ...

    def memory_settings(self) -> MemorySettings:
        """The memory settings as they are in the file now."""
        ...


def exporter(parts: Parts) -> Exporter:
    """The service behind ``memory export``."""
    return Exporter(parts.layers, parts.listing, parts.clock)


def importer(parts: Parts) -> Importer:
    """The service behind ``memory import``."""
    committer = Committer(parts.transactions, parts.directory, parts.clock, parts.bus)
    judge = Judge(parts.database, parts.layers, parts.clock, parts.memory_settings, parts.candidates)
    return Importer(
        parts.database, committer, parts.reconciler, parts.store, parts.layers, parts.clock, judge, parts.candidates
    )


def auditor(parts: Parts) -> Auditor:
    """The service behind ``memory audit``."""
    return Auditor(parts.database, parts.layers, parts.clock)


def reindexer(parts: Parts) -> Reindexer:
    """The service behind ``memory reindex``."""
    return Reindexer(parts.database, parts.transactions, parts.reconciler, parts.directory, parts.layers)
