"""What a language model is asked and what it answers, whatever its protocol; knows no endpoint and no library."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


class Role(StrEnum):
    """Who speaks in a message."""

    USER = "user"
    ASSISTANT = "assistant"


class Stop(StrEnum):
    """Why an answer ended; ``INCOMPLETE`` is a stream that broke after some of it had arrived."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"
    TOOL = "tool"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON schema the answer should follow: asked of the provider where it can, and always said in the prompt."""

    name: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model; ``max_tokens`` bounds its answer. No sampling parameters: newer models refuse them."""

    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 4_096
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; ``input`` includes neither of the cache figures."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole answer; ``usage`` is None where the provider did not say, ``model`` what it says it was."""

    text: str
    model: str
    stop: Stop = Stop.END
    usage: Usage | None = None
    reasoning: str = ""


class ChatModel(Protocol):
    """One model of one provider; used on one event loop, each call cancellable at any await.

    Every failure is a ``ModelFailed``; nothing of the request or the answer is in its message.
    """

    @property
    def provider(self) -> str:
        """The provider's id, which is its name."""
        ...

    @property
    def model(self) -> str:
        """The model's name at that provider."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The answer in one piece. Raises ``ModelFailed``."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[Delta | ChatReply]:
        """Pieces as they arrive, then the whole as a ``ChatReply``; one cut short ends with ``Stop.INCOMPLETE``.

        Raises ``ModelFailed`` when nothing of an answer arrived.
        """
        ...

    async def close(self) -> None:
        """Give connections back; the next call opens new ones."""
        ...
