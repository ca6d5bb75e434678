"""Embeddings from an OpenAI-compatible endpoint; the key goes there and nowhere else, not into logs or errors."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from engine.errors import EmbeddingFailed
from engine.providers.addresses import CallFailed, checked_base_url, checked_key
from engine.providers.http import Limits, SharedClient, post_json
from engine.providers.keys import KeyProblem, KeySource
from engine.vector import Vector, unit

BATCH_MAX: Final = 64
# Within reach of models that read 2,000 tokens or more; endpoints refuse longer texts instead of cutting them.
CHARACTERS_MAX: Final = 4_000
PASSAGE_LIMITS: Final = Limits()
# A person waits for a query, and a search without vectors is better than none.
QUERY_LIMITS: Final = Limits(idle=30.0, whole=30.0)
_HINTS: Final = {
    400: "check the model's name",
    401: "check the provider's key",
    403: "check the provider's key",
    404: "check the base URL and the model's name",
    429: "the provider limits requests; try again later",
}


class EndpointEmbedder:
    """An ``Embedder`` over ``POST {base_url}/embeddings``.

    ``provider`` is the id it is configured under. The key is ``key``, else looked up at each call (``KeySource``): in
    the variable ``key_env``, in the keyring, below ``home``; without one none is sent. ``limits`` replaces both
    ``QUERY_LIMITS`` and ``PASSAGE_LIMITS``.
    """

    is_local: Final = False
    floor: Final = -1.0

    def __init__(
        self,
        provider: str,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        key_env: str | None = None,
        home: Path | None = None,
        environ: Mapping[str, str] = os.environ,
        limits: Limits | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._provider = provider
        self._url = checked_base_url(base_url) + "/embeddings"
        self._host = urlsplit(self._url).netloc
        self._model = model
        self._key = None if key is None else checked_key(key)
        self._key_source = KeySource(provider, key_env or "", home, environ, address=base_url)
        self._limits = limits
        self._pause = pause
        self._client = SharedClient(self._url)
        self._lock = threading.Lock()
        self._dimension: int | None = None

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.model!r}, {self._host!r})"

    @property
    def model(self) -> str:
        """Provider id and the model's name at that endpoint."""
        return f"{self._provider}:{self._model}"

    def query(self, text: str) -> Vector:
        """The vector of a query, cut at 4,000 characters. Raises ``EmbeddingFailed``."""
        return self._embedded([text], self._limits or QUERY_LIMITS)[0]

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts, each cut at 4,000 characters, in batches of 64. Raises ``EmbeddingFailed``."""
        batches = (texts[start : start + BATCH_MAX] for start in range(0, len(texts), BATCH_MAX))
        return [vector for batch in batches for vector in self._embedded(batch, self._limits or PASSAGE_LIMITS)]

    def dimension(self) -> int:
        """Numbers in each vector; asks the endpoint once. Raises ``EmbeddingFailed``."""
        if self._dimension is None:
            self._embedded(["dimension"], self._limits or QUERY_LIMITS)
        assert self._dimension is not None
        return self._dimension

    def release(self) -> None:
        """Close idle connections; the next use opens new ones."""
        self._client.close()

    def _embedded(self, texts: Sequence[str], limits: Limits) -> list[Vector]:
        payload = {"model": self._model, "input": [_sent(text) for text in texts]}
        try:
            with self._client.borrowed() as client:
                answer = post_json(client, self._url, payload, self._headers(), limits, pause=self._pause)
        except CallFailed as failure:
            raise EmbeddingFailed(str(failure), _HINTS.get(failure.status or 0)) from None
        return self._vectors(answer, len(texts))

    def _headers(self) -> dict[str, str]:
        try:
            key = self._key or self._key_source.read()
        except KeyProblem as problem:
            raise EmbeddingFailed(problem.message, problem.hint) from None
        return {"authorization": f"Bearer {key}"} if key else {}

    def _vectors(self, answer: object, count: int) -> list[Vector]:
        """The vectors in the order of the texts, whatever order the endpoint listed them in."""
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or len(data) != count or not all(isinstance(item, dict) for item in data):
            raise EmbeddingFailed(f"{self._host} did not answer with {count} embeddings")
        numbers = [item.get("index", at) for at, item in enumerate(data)]
        if not all(isinstance(number, int) for number in numbers) or sorted(numbers) != list(range(count)):
            raise EmbeddingFailed(f"{self._host} numbered its {count} embeddings wrongly")
        embeddings = {number: item.get("embedding") for number, item in zip(numbers, data, strict=True)}
        return [self._vector(embeddings[at]) for at in range(count)]

    def _vector(self, values: object) -> Vector:
        if not isinstance(values, list) or not all(type(value) in (float, int) for value in values):
            raise EmbeddingFailed(f"{self._host} answered with an embedding that is no list of numbers")
        try:
            vector = unit(values)
        except ValueError as error:
            raise EmbeddingFailed(f"{self._host} answered with an unusable embedding: {error}") from None
        with self._lock:
            self._dimension = self._dimension or len(values)
        if len(values) != self._dimension:
            raise EmbeddingFailed(f"{self._host} answered with {len(values)} dimensions instead of {self._dimension}")
        return vector


def _sent(text: str) -> str:
    """What can be sent of a text: endpoints refuse an empty one, and half a surrogate pair has no UTF-8."""
    return text[:CHARACTERS_MAX].strip().encode("utf-8", "replace").decode("utf-8") or "."
