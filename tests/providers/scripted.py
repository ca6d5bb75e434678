"""The scripted model server as tests use it: a fixture, and lines of ``config.toml`` that name it as a provider."""

from collections.abc import Iterator, Sequence

import pytest

from spark_tui.demo.model_server import ModelServer

KEY = "sk-canary-0123456789abcdef"
MODEL = "scripted"


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A running server that demands no key and answers ``[]`` until the test tells it more."""
    with ModelServer() as server:
        yield server


def provider_config(
    server: ModelServer | str,
    kind: str = "openai-compatible",
    *,
    name: str = "mine",
    models: Sequence[str] = (MODEL,),
    key_env: str | None = None,
) -> str:
    """The section of ``config.toml`` that makes a server, or whatever has this base URL, the provider of a name."""
    url = server if isinstance(server, str) else server.base_url
    names = ", ".join(f'"{model}"' for model in models)
    lines = [f"[providers.{name}]", f'kind = "{kind}"', f'base_url = "{url}"', f"models = [{names}]"]
    return "\n".join([*lines, *([f'api_key_env = "{key_env}"'] if key_env else []), ""])
