"""What a model server answers beside its two ways to chat: embeddings and the lists of its models."""

import itertools
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spark_tui.demo.wire import Refused, tokens

DIMENSION: Final = 32


def embedding(text: str, dimension: int = DIMENSION) -> list[float]:
    """A vector in which texts that share letter pairs are near each other; the same at every run."""
    values = [0.0] * dimension
    for pair in itertools.pairwise(f" {text.casefold()} "):
        values[zlib.crc32("".join(pair).encode("utf-8", "surrogatepass")) % dimension] += 1.0
    return values


def embeddings(body: Mapping[str, Any]) -> dict[str, Any] | Refused:
    """The body of an answer of ``/v1/embeddings``, or why there is none."""
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(body.get("model"), str):
        return Refused(400, "you must provide a model parameter")
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return Refused(400, "'input' is a required property: a string or an array of strings", field="input")
    size = body.get("dimensions", DIMENSION)
    if not isinstance(size, int) or size < 1:
        return Refused(400, "Invalid 'dimensions': expected an integer >= 1.", field="dimensions")
    data = [{"object": "embedding", "index": at, "embedding": embedding(t, size)} for at, t in enumerate(texts)]
    read = sum(map(tokens, texts))
    return {
        "object": "list", "data": data, "model": body["model"],
        "usage": {"prompt_tokens": read, "total_tokens": read},
    }  # fmt: skip


def model_list(path: str, names: Sequence[str], headers: Mapping[str, str]) -> dict[str, Any] | None:
    """The body of a list of models as OpenAI, Anthropic or Ollama write it; None when the path is no such list."""
    if path == "/api/tags":
        return {"models": [{"name": name, "model": name, "size": 0, "details": {}} for name in names]}
    if path != "/v1/models":
        return None
    if "anthropic-version" in headers:
        created = "2025-01-01T00:00:00Z"
        listed = [{"type": "model", "id": name, "display_name": name, "created_at": created} for name in names]
        return {"data": listed, "has_more": False, "first_id": names[0], "last_id": names[-1]}
    named = {"object": "model", "created": 1_750_000_000, "owned_by": "scripted"}
    return {"object": "list", "data": [{"id": name, **named} for name in names]}
