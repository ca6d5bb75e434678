"""Carries facts from the engine's threads to the screens: same-key facts become one, at most ten deliveries a second."""

import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from textual.app import App
from textual.message import Message

from engine.bus import Bus
from engine.events import (
    CandidatesChanged,
    EmbeddingProgress,
    Fact,
    JobsChanged,
    MemoryChanged,
    SearchDegraded,
    SettingsChanged,
)

PAUSE_S: Final = 0.1
NAMED: Final = 200
Follower = Callable[[Sequence[Fact]], None]


class FactsWaiting(Message):
    """Facts have arrived; posted from any thread, once until they are delivered."""


class Bridge:
    """Hears the bus of one engine and tells its followers on the app's own thread."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._waiting: dict[str, Fact] = {}
        self._followers: list[Follower] = []
        self._stop: Callable[[], None] | None = None
        self._told_at = 0.0

    def open(self, bus: Bus) -> None:
        """Hear this bus from now on."""
        self.close()
        self._stop = bus.listen(self._hear)

    def close(self) -> None:
        """Hear nothing any more."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Be told of facts, on the app's thread; the answer stops it."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower) if follower in self._followers else None

    def deliver(self) -> None:
        """Tell the followers what waits, or come back when the pause is over."""
        left = self._told_at + PAUSE_S - monotonic()
        if left > 0:
            self._app.set_timer(left, self.deliver)
            return
        with self._lock:
            facts = tuple(self._waiting.values())
            self._waiting.clear()
        self._told_at = monotonic()
        for follower in tuple(self._followers) if facts else ():
            follower(facts)

    def _hear(self, fact: Fact) -> None:
        """On the announcing thread: keep the fact and knock once."""
        with self._lock:
            first = not self._waiting
            key = coalescing_key(fact)
            self._waiting[key] = merged(self._waiting.get(key), fact)
        if first:
            self._app.post_message(FactsWaiting())


def coalescing_key(fact: Fact) -> str:
    """Facts with the same key replace each other (or are merged)."""
    match fact:
        case SearchDegraded():
            return f"search:{fact.channel}"
        case SettingsChanged():
            return f"setting:{fact.key}"
        case EmbeddingProgress():
            return "embedding"
        case MemoryChanged():
            return "memory"
        case JobsChanged():
            return "jobs"
        case CandidatesChanged():
            return "candidates"


def merged(older: Fact | None, newer: Fact) -> Fact:
    """One fact that says what both said; an unknown set of ids swallows a known one, and so does one too large to matter."""
    if not isinstance(older, MemoryChanged) or not isinstance(newer, MemoryChanged):
        return newer
    known = bool(older.ids and newer.ids) and len(older.ids) + len(newer.ids) <= NAMED
    ids = tuple(dict.fromkeys((*older.ids, *newer.ids))) if known else ()
    return MemoryChanged(ids, "elsewhere" if "elsewhere" in (older.origin, newer.origin) else "here")
