"""Makes missing vectors in the foreground, with a progress line where there is a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.events import EmbeddingProgress, Fact
from spark_tui.cli.invocation import Invocation
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from engine.runtime import Engine

# The newest entries are embedded first, so a few are enough to reach the one that was just written.
EMBEDDED_NOW = 4


def fill_shown(invocation: Invocation, engine: "Engine") -> tuple[int, int]:
    """Fill in every missing vector; answers (entries with one, entries in all). Raises ``EmbeddingFailed``."""
    with _shown(invocation, engine):
        return engine.embeddings.fill()


def embed(invocation: Invocation, engine: "Engine", count: int = EMBEDDED_NOW) -> None:
    """Give the newest entries their vectors now, so that no daemon is needed; a model that fails costs only a note."""
    with _shown(invocation, engine):
        done = engine.fill_vectors(count)
    if not done:
        invocation.speak(engine)
        reason = engine.embeddings.state().reason or _("the store is busy")
        told = _("stored, but not embedded yet ({reason}); words find it, meaning does not").format(reason=reason)
        invocation.output.note(told, "warning")


@contextmanager
def _shown(invocation: Invocation, engine: "Engine") -> Iterator[None]:
    def tell(fact: Fact) -> None:
        if isinstance(fact, EmbeddingProgress):
            invocation.output.progress(f"{fact.done} of {fact.total} vectors")

    stop = engine.bus.listen(tell)
    try:
        yield
    finally:
        stop()
        invocation.output.progress("")
