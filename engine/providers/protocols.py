"""What a provider must offer, so that its callers know no endpoint, no library and no platform."""

from collections.abc import Sequence
from typing import Protocol

from engine.vector import Vector as Vector


class Embedder(Protocol):
    """Turns text into vectors; may be used from several threads, blocks, and is slow enough for a worker.

    Vectors are unit length (``engine.vector``); whatever cannot be one raises ``EmbeddingFailed``.
    """

    @property
    def model(self) -> str:
        """Names provider, model and whatever else makes vectors comparable; vectors of two names never mix."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""
        ...

    @property
    def floor(self) -> float:
        """The cosine similarity below which a hit says nothing; −1 when it is not known for this model."""
        ...

    def query(self, text: str) -> Vector:
        """The vector to search with. Raises ``EmbeddingFailed``."""
        ...

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors to store, one for each text in its order. Raises ``EmbeddingFailed``, then none is usable."""
        ...

    def dimension(self) -> int:
        """Numbers in each vector; may ask the model. Raises ``EmbeddingFailed``."""
        ...

    def release(self) -> None:
        """Give memory and connections back while idle; the next use takes them again."""
        ...
