"""Carries facts from the engine to whoever listens; a listener that fails never reaches the announcer."""

import logging
import threading
from collections.abc import Callable

from engine.events import Fact

Listener = Callable[[Fact], None]
_log = logging.getLogger(__name__)


class Bus:
    """A thread-safe fan-out. Listeners are called on the announcing thread and must return at once."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._lock = threading.Lock()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear every fact from now on; the answer stops it."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not listener)

        return stop

    def announce(self, fact: Fact) -> None:
        """Tell every listener."""
        for listener in self._listeners:
            try:
                listener(fact)
            except Exception:  # the announcer has done its work; a broken screen must not undo it
                _log.exception("listener failed on %s", type(fact).__name__)
