"""Which language model answers: by name, and for extraction by what is set, what ran, what is the default."""

from collections.abc import Mapping
from os import environ as _environ
from typing import Final

from engine.config import DEFAULT_MODEL, DEFAULT_PROVIDER, Settings
from engine.errors import ModelUnavailable, ValidationFailed
from engine.paths import Home
from engine.providers.chat import ChatModel
from engine.providers.http_chat import Terms
from engine.providers.keys import KeyProblem, KeySource
from engine.settings_providers import CLI_KINDS, KEYED_KINDS, Provider, ProviderKind

NOTHING: Final = "nothing configured and no conversation model to fall back to"


def chat_model(
    settings: Settings,
    home: Home,
    provider: str,
    model: str = "",
    *,
    retries: bool = True,
    environ: Mapping[str, str] = _environ,
) -> ChatModel:
    """The model of a provider, its first one where none is named; asks nobody yet. ``retries`` False: one try a call.

    Raises ``ModelUnavailable``: no such provider, disabled, no model, no key, no such program.
    """
    found = _provider(settings, provider)
    name = model or next(iter(found.models), "")
    if found.kind in CLI_KINDS:
        from engine.providers.cli_agents import CliAgentModel

        return CliAgentModel(found.kind, found.name, name, environ=environ)
    if not name:
        raise ModelUnavailable(
            f"provider {found.name} names no model",
            f'give one with --model, or add models = ["…"] to [providers.{found.name}] in config.toml',
        )
    terms = Terms(_key_source(found, home, environ), found.timeouts, retries)
    try:
        return _over_http(found, name, terms)
    except ValidationFailed as error:
        raise ModelUnavailable(f"provider {found.name}: {error.message}", error.hint) from None


def extraction_choice(settings: Settings, ran: tuple[str, str] | None) -> tuple[str, str]:
    """Provider and model that extract: those set for it, else those that ran the turn (``ran``), else the default
    ones, else the only provider there is.

    A model set without a provider is asked of whoever comes next in that order. The model is empty where the
    provider's first is meant. Raises ``ModelUnavailable`` when there is nothing at all.
    """
    memory = settings.memory
    if memory.extraction_provider:
        return memory.extraction_provider, memory.extraction_model
    known = {each.name for each in settings.providers() if each.enabled}
    default = str(settings.get(DEFAULT_PROVIDER)), str(settings.get(DEFAULT_MODEL))
    for provider, model in (ran or ("", ""), default):
        if provider in known:
            return provider, memory.extraction_model or model
    if len(known) == 1:  # there is nothing to choose between
        return known.pop(), memory.extraction_model
    raise ModelUnavailable(NOTHING, "spark-tui provider offers looks on this machine; spark-tui provider add --help")


def _provider(settings: Settings, name: str) -> Provider:
    found = next((each for each in settings.providers() if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in settings.providers())
        raise ModelUnavailable(
            f"no provider named {name[:60]}", f"one of {names}" if names else "add one: spark-tui provider add --help"
        )
    if not found.enabled:
        raise ModelUnavailable(f"provider {name} is disabled", "set enabled = true in its table of config.toml")
    if found.kind not in list(ProviderKind):
        raise ModelUnavailable(
            f"provider {name} is of kind {found.kind[:40]}", f"its kind is one of {', '.join(ProviderKind)}"
        )
    return found


def _key_source(found: Provider, home: Home, environ: Mapping[str, str]) -> KeySource:
    source = KeySource(found.name, found.api_key_env, home.root, environ, address=found.base_url)
    # Only where a key is certain to be needed: asking a keyring takes time, and a local server wants none.
    if found.api_key_env or found.kind in KEYED_KINDS:
        try:
            key = source.read()
        except KeyProblem as problem:
            raise ModelUnavailable(problem.message, problem.hint) from None
        if key is None:
            raise ModelUnavailable(
                f"provider {found.name} has no key", "set its api_key_env, or store one by provider add --key-stdin"
            )
    return source


def _over_http(found: Provider, model: str, terms: Terms) -> ChatModel:
    if found.kind == ProviderKind.ANTHROPIC:
        from engine.providers.anthropic_chat import AnthropicChat

        return AnthropicChat(found.name, found.base_url, model, terms, version=found.version)
    from engine.providers.openai_chat import OpenAIChat

    return OpenAIChat(found.name, found.base_url, model, terms, kind=found.kind)
