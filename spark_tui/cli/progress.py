"""Shows how far a long command is while it works, on a terminal only; the work itself knows nothing of it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spark_tui.cli.output import Output

EVERY_S = 0.2


@contextmanager
def shown(output: Output, measure: Callable[[], str]) -> Iterator[None]:
    """For the length of the block, print what ``measure`` says five times a second; it is called on another thread."""
    if not output.shows_progress():
        yield
        return
    done = threading.Event()

    def tell() -> None:
        while not done.wait(EVERY_S):
            output.progress(measure())

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        output.progress("")
