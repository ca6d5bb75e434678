"""One thread with its own event loop, on which models are asked; started at the first use, ended by the engine."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, Final, TypeVar

from engine.errors import EngineClosing

T = TypeVar("T")
CLOSE_WAIT_S: Final = 2.0
BEAT_S: Final = 60.0


class EngineLoop:
    """Runs coroutines for threads that wait, and for callers that do not; closing cancels what still runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine; cancelling the future cancels it. Raises ``EngineClosing`` once closed."""
        with self._lock:
            if self._closed:
                work.close()
                raise EngineClosing("the engine is closing")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="engine-loop", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T], beat: Callable[[], None] = lambda: None) -> T:
        """Wait for a coroutine from another thread; an interrupt cancels it. Raises what it raises.

        ``beat`` is called every minute of the wait; what it raises ends it. Raises ``EngineClosing`` when the engine
        closes meanwhile.
        """
        future = self.submit(work)
        try:
            while True:
                try:
                    return future.result(BEAT_S)
                except TimeoutError:
                    if future.done():  # the work's own time-out
                        raise
                    beat()
        except CancelledError:
            raise EngineClosing("the engine is closing") from None
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what runs, wait for it to end, at most two seconds; nothing can be submitted afterwards."""
        with self._lock:
            self._closed = True
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancelled(), loop).add_done_callback(
            lambda _done: loop.call_soon_threadsafe(loop.stop)
        )
        thread.join(CLOSE_WAIT_S)
        if not thread.is_alive():
            loop.close()


async def _cancelled() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
