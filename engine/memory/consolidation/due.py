"""Says which layers are due for consolidation and queues a job for each, at most once however many processes ask.

Called at the start of every turn: nothing here asks a model, and nothing it meets may reach the turn.
"""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import apsw

from engine.bus import Bus
from engine.clock import DAY_MS, Clock
from engine.config import MemorySettings
from engine.errors import NotFound, SparkError
from engine.events import JobsChanged
from engine.jobs import WAITING, Job, Jobs, JobState
from engine.memory import rows
from engine.memory.layers import Layers
from engine.memory.model import Layer, Scope
from engine.memory.workspaces import Workspace
from engine.storage.database import Database

KIND: Final = "consolidation"
# A turn does not wait long for another writer: the next turn asks again.
TURN_WAIT_MS: Final = 100
FORCED_WAIT_MS: Final = 5_000
_log = logging.getLogger(__name__)


class Due:
    """Keeps when each layer was last consolidated (``lastConsolidationAt``, 02 §8)."""

    def __init__(
        self,
        database: Database,
        layers: Layers,
        jobs: Jobs,
        clock: Clock,
        bus: Bus,
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._database = database
        self._layers = layers
        self._jobs = jobs
        self._clock = clock
        self._bus = bus
        self._settings = settings

    def check(self, layers: Iterable[Layer]) -> list[Job]:
        """Queue a job for each layer that is due; whatever fails is one line of the log. About half a millisecond."""
        try:
            settings = self._settings()
            if not settings.enabled or not settings.consolidation_enabled or not self._database.writable:
                return []
            with self._database.read() as connection:
                due = [each for each in layers if self._is_due(connection, each, settings)]
            return self._told([job for each in due if (job := self._queue(each, settings))])
        except SparkError as error:
            _log.info("consolidation not checked: %s", error.code)
        except Exception as error:  # fire and forget: no fault of this may fail a turn (02 §8)
            _log.warning("consolidation not checked: %s", type(error).__name__)
        return []

    def force(self, layers: Iterable[Layer]) -> list[Job]:
        """Queue a job for each layer though it is not due; one that waits or runs already is answered, or tried again.

        Raises ``StoreBusy``, ``StoreReadOnly``.
        """
        self._database.check_writable()
        return self._told([self._again(each) or self._forced(each) for each in layers])

    def last(self, layer: Layer) -> int | None:
        """When the latest run of a layer was queued, in ms."""
        with self._database.read() as connection:
            return _last(connection, layer)

    def _told(self, queued: list[Job]) -> list[Job]:
        if queued:
            self._bus.announce(JobsChanged())
        return queued

    def _is_due(self, connection: apsw.Connection, layer: Layer, settings: MemorySettings) -> bool:
        now, last = self._clock.now_ms(), _last(connection, layer)
        # A time far ahead was noted by a clock that has been set back since; it must not stop a layer for years.
        if last is not None and abs(now - last) <= settings.consolidation_interval_days * DAY_MS:
            return False
        return rows.active_count(connection, layer.key, now) >= settings.consolidation_threshold

    def _queue(self, layer: Layer, settings: MemorySettings) -> Job | None:
        """The time and the job in one transaction, before any model is asked; None when somebody else was first."""
        with self._database.write(wait_ms=TURN_WAIT_MS) as connection:
            return self._put(connection, layer) if self._is_due(connection, layer, settings) else None

    def _forced(self, layer: Layer) -> Job:
        with self._database.write(wait_ms=FORCED_WAIT_MS) as connection:
            return self._put(connection, layer)

    def _put(self, connection: apsw.Connection, layer: Layer) -> Job:
        now = self._clock.now_ms()
        key = f"{layer.key}@{now}"
        job = self._jobs.put(KIND, key, {"layer": layer.key}, folder=self._folder(layer), connection=connection)
        connection.execute(
            "INSERT OR REPLACE INTO memory_consolidation(layer, last_at, job) VALUES (?, ?, ?)",
            (layer.key, now, job.id),
        )
        _log.info("consolidation of %s queued: %s", layer.key, job.id)
        return job

    def _again(self, layer: Layer) -> Job | None:
        """The layer's latest job, when it is not done yet."""
        with self._database.read() as connection:
            sql = "SELECT job FROM memory_consolidation WHERE layer = ?"
            known = next((str(job) for (job,) in connection.execute(sql, (layer.key,))), "")
        try:
            job = self._jobs.get(known)
        except NotFound:
            return None
        if job.state in WAITING:
            return self._jobs.retry(job.id)
        return job if job.state in (JobState.QUEUED, JobState.RUNNING) else None

    def _folder(self, layer: Layer) -> Path | None:
        """Where an engine must stand to see the layer; user and agents are seen from anywhere."""
        workspace = self._layers.workspace
        return workspace.root if layer.scope is Scope.PROJECT and isinstance(workspace, Workspace) else None


def layer_of(job: Job) -> str:
    """The key of the layer a job is about."""
    return job.key.rpartition("@")[0]


def _last(connection: apsw.Connection, layer: Layer) -> int | None:
    sql = "SELECT last_at FROM memory_consolidation WHERE layer = ?"
    return next((int(at) for (at,) in connection.execute(sql, (layer.key,))), None)
