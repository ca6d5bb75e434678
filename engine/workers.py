"""Background work of a long-running engine: jobs done, vectors filled in, files and other processes followed."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.bus import Bus
from engine.errors import SparkError
from engine.events import JobsChanged, MemoryChanged, SettingsChanged
from engine.learning import Learning
from engine.memory.directory import Directory
from engine.memory.embedding import Embeddings
from engine.memory.layers import Layers
from engine.storage.database import Database

FOLLOW_S: Final = 0.5
EXPIRY_ROUNDS: Final = 60
IDLE_RELEASE_S: Final = 300.0
WATCH_DEBOUNCE_MS: Final = 200
STOP_WAIT_S: Final = 5.0
WAKES: Final = (MemoryChanged, SettingsChanged)
LEARNS: Final = (JobsChanged, MemoryChanged)  # another process's job is seen as a change from elsewhere
JOBS_LOOK_S: Final = 30.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Round:
    """The events of one start. They are never cleared or shared: a worker that ends late must still see its stop."""

    stop: threading.Event = field(default_factory=threading.Event)
    changed: threading.Event = field(default_factory=threading.Event)
    queued: threading.Event = field(default_factory=threading.Event)


class Workers:
    """Threads beside the screens; none of them may stop the program, whatever happens to it."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        layers: Layers,
        directory: Directory,
        embeddings: Embeddings,
        refresh: Callable[[], object],
        learning: Learning,
    ) -> None:
        self._database = database
        self._bus = bus
        self._layers = layers
        self._directory = directory
        self._embeddings = embeddings
        self._refresh_files = refresh
        self._learning = learning
        self._round = _Round()
        self._threads: list[threading.Thread] = []

    @property
    def running(self) -> bool:
        """Whether someone else fills in vectors and follows the files."""
        return bool(self._threads)

    def start(self) -> None:
        """Start following, watching and filling; a second call does nothing."""
        if self._threads:
            return
        jobs: tuple[Callable[[_Round], None], ...] = (self._follow, self._watch, self._fill, self._learn)
        current = self._round = _Round()
        current.changed.set()
        current.queued.set()
        self._threads = [
            threading.Thread(target=self._guarded, args=(job, current), name=job.__name__, daemon=True) for job in jobs
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask all to end and wait for them, 5 s in all; one that is still waiting for a model ends when it wakes."""
        self._round.stop.set()
        self._round.changed.set()
        self._round.queued.set()
        deadline = time.monotonic() + STOP_WAIT_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._threads = []

    def _guarded(self, job: Callable[[_Round], None], current: _Round) -> None:
        while not current.stop.is_set():
            try:
                job(current)
                return
            except Exception:  # a worker that died silently would look like "nothing changed"
                if current.stop.is_set():  # it woke after the database was closed
                    return
                _log.exception("worker %s failed and starts again", job.__name__)
                current.stop.wait(5)

    def _follow(self, current: _Round) -> None:
        """Announce what other processes commit, and entries that expire while nobody writes."""
        database = self._database
        seen, rounds = database.data_version(), 0
        while not current.stop.wait(FOLLOW_S):
            rounds += 1
            now = database.data_version()
            if now != seen:
                seen = now
                self._bus.announce(MemoryChanged(origin="elsewhere"))
            if rounds % EXPIRY_ROUNDS == 0 and any(map(self._directory.is_due, self._layers.person())):
                self._refresh()
                self._bus.announce(MemoryChanged())

    def _watch(self, current: _Round) -> None:
        """Adopt hand edits as they are saved. Event kinds are not trusted: the folder is looked at again."""
        from watchfiles import watch

        while not current.stop.is_set():
            layers = self._layers.person()
            folders = [layer.folder for layer in layers if layer.folder.is_dir()]
            if not folders:
                current.stop.wait(FOLLOW_S)
                continue
            looked = False
            for changes in watch(
                *folders,
                stop_event=current.stop,
                debounce=WATCH_DEBOUNCE_MS,
                recursive=False,
                yield_on_timeout=True,
                rust_timeout=5_000,
            ):
                if changes or not looked:  # the first look is for what was saved before the watch stood
                    self._refresh()
                    looked = True
                if [layer.folder for layer in self._layers.person() if layer.folder.is_dir()] != folders:
                    break

    def _refresh(self) -> None:
        try:
            self._refresh_files()
        except SparkError as error:
            _log.warning("files not refreshed: %s", error.code)

    def _fill(self, current: _Round) -> None:
        """Make missing vectors when something changed; give the model back when nothing wanted it for five minutes."""
        quiet = self._bus.listen(lambda fact: current.changed.set() if isinstance(fact, WAKES) else None)
        try:
            while not current.stop.is_set():
                woken = current.changed.wait(IDLE_RELEASE_S)
                current.changed.clear()
                if woken and not current.stop.is_set():
                    self._fill_now(current)
                elif not woken:
                    self._embeddings.release()
        finally:
            quiet()

    def _fill_now(self, current: _Round) -> None:
        try:
            self._embeddings.fill(stop=current.stop.is_set)
        except SparkError as error:
            _log.warning("vectors not filled: %s", error.code)

    def _learn(self, current: _Round) -> None:
        """Do queued jobs as they come, and those put off when they are due again."""
        quiet = self._bus.listen(lambda fact: current.queued.set() if isinstance(fact, LEARNS) else None)
        try:
            while not current.stop.is_set():
                current.queued.clear()
                try:
                    self._learning.drain(current.stop.is_set)
                except SparkError as error:
                    _log.warning("jobs not done: %s", error.code)
                current.queued.wait(self._learning.until_due(JOBS_LOOK_S))
        finally:
            quiet()
