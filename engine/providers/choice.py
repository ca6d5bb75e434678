"""Which embedding model the settings name: the embedded one, an endpoint, or none."""

import logging
from typing import Final

from engine.config import WITHOUT_EMBEDDINGS, Provider, Settings
from engine.errors import EmbeddingFailed, ValidationFailed
from engine.providers.protocols import Embedder

LOCAL: Final = "local"
NONE: Final = "none"
_log = logging.getLogger(__name__)


def chosen_embedder(settings: Settings) -> Embedder | None:
    """The embedder in force; None for words only. Raises ``EmbeddingFailed`` when the chosen one cannot be had."""
    name = settings.memory.embedding_provider or LOCAL
    if name == NONE:
        return None
    if name == LOCAL:
        return _local()
    provider = checked_embedding_provider(settings, name)
    model = settings.memory.embedding_model or next(iter(provider.models), "")
    if not model:
        raise EmbeddingFailed(f"provider {name} names no embedding model", "set memory.embeddingModel")
    from engine.providers.embeddings import EndpointEmbedder

    try:
        home = settings.path.parent  # where the file of a key is, beside the settings
        return EndpointEmbedder(name, provider.base_url, model, key_env=provider.api_key_env or None, home=home)
    except ValidationFailed as error:
        raise EmbeddingFailed(f"provider {name}: {error.message}", error.hint) from error


def checked_embedding_provider(settings: Settings, name: str) -> Provider:
    """The provider of a name when it can embed. Raises ``EmbeddingFailed`` that says why it cannot."""
    provider = next((each for each in settings.providers() if each.name == name), None)
    if provider is None:
        raise EmbeddingFailed(f"no provider named {name}", "spark-tui settings set memory.embeddingProviderId local")
    if provider.kind in WITHOUT_EMBEDDINGS:
        raise EmbeddingFailed(
            f"provider {name} ({provider.kind}) offers no embeddings", "choose an OpenAI-compatible one"
        )
    if not provider.enabled:
        raise EmbeddingFailed(f"provider {name} is disabled")
    return provider


def _local() -> Embedder | None:
    """The embedded model; where no wheel of it exists search runs on words alone, which is no failure."""
    from engine.providers.local_embedding import LocalEmbedder, available

    reason = available()
    if reason is not None:
        _log.warning("the embedded model cannot be used here: %s", reason)
        return None
    return LocalEmbedder()
