"""provider test: one real question to a model, what the model was seen to do, and how long it took."""

from typing import TYPE_CHECKING

import click

from engine.clock import SystemClock
from engine.config import EMBEDDING_PROVIDER, WITHOUT_EMBEDDINGS, Settings
from engine.errors import SparkError
from engine.settings_providers import Provider
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Text, Verb

if TYPE_CHECKING:
    from engine.providers.findings import Probe
    from engine.providers.probe import Tried


@click.command("test", cls=Verb)
@click.argument("name", type=Text())
@click.option("--model", default="", type=Text(), help="The model to ask; without one the default or its first.")
@click.pass_obj
def trial(invocation: Invocation, name: str, model: str) -> None:
    """Ask NAME a question or two: does it answer, stream, follow a schema, count tokens, call tools, embed?"""
    from dataclasses import replace

    from engine.providers.probe import embedding_capability
    from engine.providers.registry import Registry

    settings = Settings.load(invocation.home.config)
    registry = Registry(settings)
    provider = registry.get(name)
    default, default_model = registry.default()
    chosen = model or (default_model if default == name else "")
    tried = _tried(invocation, settings, name, chosen)
    embeds = embedding_capability(provider, _embedding_model(settings, provider, tried.probe.model), invocation.home)
    tried = replace(tried, probe=replace(tried.probe, capabilities=(*tried.probe.capabilities, embeds)))
    _keep(invocation, tried.probe)
    if invocation.as_json:
        from spark_tui.cli.provider_shapes import probe_json

        told = {"ok": True, "provider": name, "kind": provider.kind, "sample": tried.sample}
        invocation.output.document(told | probe_json(tried.probe))
        return
    from spark_tui.cli.provider_rows import probe_rows, speak

    speak(settings)
    invocation.output.rows(probe_rows(tried.probe, tried.sample, invocation.output.width))


def _tried(invocation: Invocation, settings: Settings, name: str, model: str) -> "Tried":
    from engine.loop import EngineLoop
    from engine.providers.chat_choice import chat_model
    from engine.providers.probe import try_model

    chat = chat_model(settings, invocation.home, name, model)
    loop = EngineLoop()

    async def tried() -> "Tried":
        try:
            return await try_model(chat, SystemClock())
        finally:
            await chat.close()

    try:
        return loop.run(tried())
    finally:
        loop.close()


def _embedding_model(settings: Settings, provider: Provider, answered: str) -> str:
    """The model to ask for an embedding: the one that is set, one that is named like it, else the one that chats."""
    memory = settings.memory
    if provider.kind in WITHOUT_EMBEDDINGS:
        return ""
    if settings.get(EMBEDDING_PROVIDER) == provider.name and memory.embedding_model:
        return memory.embedding_model
    return next((each for each in provider.models if "embed" in each.casefold()), answered)


def _keep(invocation: Invocation, probe: "Probe") -> None:
    from engine.providers.findings import keep_probe

    try:
        keep_probe(invocation.home, probe)
    except SparkError as error:
        invocation.output.note(f"not kept: {error.message}", "warning")
