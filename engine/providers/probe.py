"""Finds out by asking what a provider's model can do; says what each finding rests on, and keeps nothing."""

import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from engine.clock import Clock
from engine.errors import EmbeddingFailed, ModelFailed, SparkError
from engine.paths import Home
from engine.providers.chat import ChatModel, ChatReply, ChatRequest, Message, Role, Schema, Stop
from engine.providers.findings import Capability, Finding, Probe
from engine.providers.http_chat import HttpChat
from engine.providers.reading import mapping
from engine.settings_providers import Provider

SAMPLE_MAX: Final = 80
_LOCK_WAIT_S: Final = 5.0
_ENOUGH: Final = 1_024  # tokens: some models think before a single word
_READY: Final = ChatRequest((Message(Role.USER, "Answer with the single word: ready"),), max_tokens=_ENOUGH)
_COUNT: Final = ChatRequest((Message(Role.USER, "Count from 1 to 20, separated by commas."),), max_tokens=_ENOUGH)
_COLOUR: Final = Schema(
    "colour",
    {
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)
_ASKS_JSON: Final = 'Which colour is the sky by day? Answer with JSON alone, like {"colour": "green"}.'
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tried:
    """A probe with the beginning of the first answer, which is shown once and not kept."""

    probe: Probe
    sample: str


async def try_model(model: ChatModel, clock: Clock) -> Tried:
    """Ask a model one plain question and probe the rest. Raises ``ModelFailed`` when the plain question fails."""
    import httpx  # noqa: F401, the time it takes to load is not the model's

    began = time.monotonic()
    reply = await model.complete(_READY)
    latency = round((time.monotonic() - began) * 1_000)
    answers = Capability("answers", Finding.YES, f"{len(reply.text)} characters in {latency} ms, stop {reply.stop}")
    found = [answers, _usage(reply)]
    for name, ask in (("streaming", _streams), ("schema", _follows), ("tools", _tools)):
        found.append(await _tried(name, ask, model))
    probe = Probe(model.provider, model.model, clock.now_ms(), latency, tuple(found))
    return Tried(probe, " ".join(reply.text.split())[:SAMPLE_MAX])


def embedding_capability(provider: Provider, model: str, home: Home) -> Capability:
    """Whether a provider embeds, and with how many dimensions; blocks, asks once. ``model`` is the one to ask for."""
    from engine.config import WITHOUT_EMBEDDINGS
    from engine.providers.embeddings import EndpointEmbedder

    if provider.kind in WITHOUT_EMBEDDINGS:
        return Capability("embeddings", Finding.NO, f"{provider.kind} offers none")
    key_env = provider.api_key_env or None
    try:
        embedder = EndpointEmbedder(provider.name, provider.base_url, model, key_env=key_env, home=home.root)
        try:
            return Capability("embeddings", Finding.YES, f"{embedder.dimension()} dimensions by {model}")
        finally:
            embedder.release()
    except EmbeddingFailed as error:
        return Capability("embeddings", Finding.NO, f"{model}: {error.message}")
    except SparkError as error:
        return Capability("embeddings", Finding.UNKNOWN, error.message)


async def _tried(name: str, ask: Callable[[ChatModel], Awaitable[Capability]], model: ChatModel) -> Capability:
    try:
        return await ask(model)
    except ModelFailed as error:
        return Capability(name, Finding.NO, error.message)


def _usage(reply: ChatReply) -> Capability:
    if reply.usage is None:
        return Capability("usage", Finding.NO, "no figures came with the answer")
    return Capability("usage", Finding.YES, f"{reply.usage.input} tokens in, {reply.usage.output} out")


async def _streams(model: ChatModel) -> Capability:
    pieces, last = 0, None
    async for each in model.stream(_COUNT):
        if isinstance(each, ChatReply):
            last = each
        else:
            pieces += 1
    if last is None or last.stop is Stop.INCOMPLETE:
        return Capability("streaming", Finding.NO, f"broke off after {pieces} pieces")
    counted = "with usage" if last.usage else "without usage"
    # One piece is also how a server looks that sends the whole at once.
    return Capability("streaming", Finding.YES if pieces > 1 else Finding.UNKNOWN, f"{pieces} pieces, {counted}")


async def _follows(model: ChatModel) -> Capability:
    question = ChatRequest((Message(Role.USER, _ASKS_JSON),), max_tokens=_ENOUGH, schema=_COLOUR)
    reply = await model.complete(question)
    way = model.structured if isinstance(model, HttpChat) else "plain"
    try:
        follows = isinstance(mapping(json.loads(reply.text)).get("colour"), str)
    except (ValueError, RecursionError):
        follows = False
    if way == "plain":
        said = "asked in words alone, and followed" if follows else "asked in words alone, and not followed"
        return Capability("schema", Finding.NO, said)
    said = "and followed" if follows else "and not followed"
    return Capability("schema", Finding.YES if follows else Finding.UNKNOWN, f"{way} accepted, {said}")


async def _tools(model: ChatModel) -> Capability:
    if not isinstance(model, HttpChat):
        return Capability("tools", Finding.NO, "a program that is only given a prompt")
    seen = await model.probe_tools()
    finding = {"called": Finding.YES, "accepted": Finding.UNKNOWN}.get(seen, Finding.NO)
    return Capability("tools", finding, {"accepted": "accepted, but not called"}.get(seen, seen))
