"""Both chat clients as tests use them: against one server, with pauses that are noted instead of waited for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ModelFailed
from engine.providers.anthropic_chat import AnthropicChat
from engine.providers.chat import ChatReply, ChatRequest, Delta, Message, Role, Schema
from engine.providers.http_chat import HttpChat, Terms
from engine.providers.keys import KeySource
from engine.providers.openai_chat import OpenAIChat
from engine.settings_providers import ProviderKind, Timeouts
from tests.providers.scripted import KEY, MODEL

SECRET = "the private sentence 私密的一句话"
SYSTEM = "You are told everything."
QUESTION = ChatRequest((Message(Role.USER, SECRET),), system=SYSTEM, max_tokens=500)
COLOURS = Schema(
    "colours",
    {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string"}}},
        "required": ["items"],
        "additionalProperties": False,
    },
)
QUICK = Timeouts(connect=2.0, first_byte=0.3, idle=0.3)


@dataclass
class Pauses:
    """Pauses that were asked for, in seconds."""

    asked: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


def terms(*, pause: Pauses | None = None, key: str | None = KEY, **more: Any) -> Terms:
    """Terms with the key in a variable of their own."""
    source = KeySource("mine", "MINE", environ={"MINE": key}) if key else KeySource("mine")
    return Terms(source, pause=pause or Pauses(), **more)


def openai(url: str, kind: str = ProviderKind.OPENAI_COMPATIBLE, model: str = MODEL, **more: Any) -> HttpChat:
    """A client of the one protocol; the URL ends in /v1."""
    return OpenAIChat("mine", url, model, terms(**more), kind=kind)


def anthropic(url: str, model: str = MODEL, **more: Any) -> HttpChat:
    """A client of the other."""
    return AnthropicChat("mine", url, model, terms(**more))


Make = Callable[..., HttpChat]
BOTH = (openai, anthropic)


async def streamed(model: HttpChat, request: ChatRequest = QUESTION) -> tuple[list[Delta], ChatReply]:
    """Every piece of a stream, and the reply that ends it."""
    pieces: list[Delta] = []
    replies: list[ChatReply] = []
    async for each in model.stream(request):
        (replies if isinstance(each, ChatReply) else pieces).append(each)  # type: ignore[arg-type]
    (reply,) = replies
    assert reply.text == "".join(piece.text for piece in pieces)
    assert reply.reasoning == "".join(piece.reasoning for piece in pieces)
    return pieces, reply


async def whole(model: HttpChat, way: str, request: ChatRequest = QUESTION) -> ChatReply:
    """The reply, asked for in one piece (``complete``) or as a stream (``stream``)."""
    return await model.complete(request) if way == "complete" else (await streamed(model, request))[1]


async def failure_of(model: HttpChat, way: str, request: ChatRequest = QUESTION) -> ModelFailed:
    """What a call fails with."""
    try:
        reply = await whole(model, way, request)
    except ModelFailed as failure:
        return failure
    raise AssertionError(f"an answer came: {reply.stop}")
