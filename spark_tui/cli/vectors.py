"""Makes missing vectors in the foreground, with a progress line; shared by reindex and settings."""

from typing import TYPE_CHECKING

from engine.events import EmbeddingProgress, Fact
from spark_tui.cli.output import Output

if TYPE_CHECKING:
    from engine.runtime import Engine


def fill_shown(output: Output, engine: "Engine") -> tuple[int, int]:
    """Fill in every missing vector; answers (entries with one, entries in all). Raises ``EmbeddingFailed``."""

    def tell(fact: Fact) -> None:
        if isinstance(fact, EmbeddingProgress):
            output.progress(f"{fact.done} of {fact.total} vectors")

    stop = engine.bus.listen(tell)
    try:
        return engine.embeddings.fill()
    finally:
        stop()
        output.progress("")
