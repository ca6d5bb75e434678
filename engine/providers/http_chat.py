"""What both chat protocols share: asking with what the server accepts, reading a stream that may break at any byte.

Never raises anything but ``ModelFailed``, and nothing of a request or an answer is in its message.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from engine.errors import ModelFailed
from engine.providers.chat import ChatReply, ChatRequest, Delta, Stop, Usage
from engine.providers.endpoint import Answer, Endpoint, Refused
from engine.providers.faults import ModelFault, classify_event, error_body, failed
from engine.providers.keys import KeyProblem, KeySource
from engine.providers.reading import NotJson, mapping, parsed
from engine.providers.sse import Event, EventReader, LineTooLong
from engine.providers.system_keyring import aside
from engine.providers.ways import Ways, Wish, complaint
from engine.settings_providers import Timeouts

SCHEMA: Final = "schema"
PLAIN: Final = "plain"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Terms:
    """How a provider is asked: with which key (looked up at each call), how patiently, and whether twice.

    ``pause`` waits between two tries, in seconds.
    """

    key: KeySource
    timeouts: Timeouts = field(default_factory=Timeouts)
    retries: bool = True
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(slots=True)
class Collected:
    """What has arrived of an answer."""

    model: str
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    stop: Stop | None = None
    usage: Usage | None = None
    done: bool = False

    def add(self, text: str, reasoning: str = "") -> Iterator[Delta]:
        """Keep a piece; yields it unless it is empty."""
        if text or reasoning:
            self.texts.append(text)
            self.reasoning.append(reasoning)
            yield Delta(text, reasoning)

    @property
    def is_whole(self) -> bool:
        """Whether the server said that the answer ends here."""
        return self.done or self.stop is not None

    def reply(self) -> ChatReply:
        """The answer as far as it arrived."""
        stop = (self.stop or Stop.END) if self.is_whole else Stop.INCOMPLETE
        return ChatReply("".join(self.texts), self.model, stop, self.usage, "".join(self.reasoning))


class HttpChat(ABC):
    """A ``ChatModel`` over HTTP; subclasses know what a request looks like and what an answer means."""

    def __init__(self, provider: str, model: str, url: str, terms: Terms, *wishes: Wish) -> None:
        self._provider = provider
        self._model = model
        self._key = terms.key
        self._endpoint = Endpoint(url, terms.timeouts, retries=terms.retries, pause=terms.pause)
        self._ways = Ways(*wishes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._provider!r}, {self._model!r})"

    @property
    def provider(self) -> str:
        """The provider's id, which is its name."""
        return self._provider

    @property
    def model(self) -> str:
        """The model's name at that provider."""
        return self._model

    @property
    def structured(self) -> str:
        """How a schema is asked for now; ``plain`` when the server has refused every other way."""
        return self._ways.now()[SCHEMA]

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The answer in one piece. Raises ``ModelFailed``."""
        async with self._asked(request, stream=False) as answer:
            return self._whole(await answer.json(), request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Delta | ChatReply]:
        """Pieces as they arrive, then the whole; one cut short ends with ``Stop.INCOMPLETE``. Raises ``ModelFailed``."""
        async with self._asked(request, stream=True) as answer:
            if answer.is_json:  # a server that does not stream answers all the same
                reply = self._whole(await answer.json(), request)
                if reply.text or reply.reasoning:
                    yield Delta(reply.text, reply.reasoning)
                yield reply
                return
            found = Collected(self._model)
            broken: ModelFailed | None = None
            async with aclosing(self._deltas(answer, found, request)) as deltas:
                try:
                    async for delta in deltas:
                        yield delta
                except ModelFailed as failure:
                    broken = failure
            if found.texts or found.is_whole:
                yield found.reply()
                return
            raise broken or failed(ModelFault.CUT, answer.host)

    async def probe_tools(self) -> str:
        """Offer one tool and see: ``called``, ``accepted`` without a call, ``refused``. Raises ``ModelFailed``."""
        try:
            answer = await self._endpoint.post(self._tool_question(), await self._headers())
        except Refused as refused:
            if refused.failure.details["fault"] is ModelFault.BAD_REQUEST or refused.status in (404, 500, 501):
                return "refused"
            failure = refused.failure
        else:
            try:
                return "called" if self._calls_tool(mapping(await answer.json())) else "accepted"
            finally:
                await answer.close()
        raise failure

    async def close(self) -> None:
        """Give connections back; the next call opens new ones."""
        await self._endpoint.close()

    async def _deltas(self, answer: Answer, found: Collected, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        reader = EventReader()
        try:
            async with aclosing(answer.chunks()) as chunks:
                async for chunk in chunks:
                    for event in reader.feed(chunk):
                        for delta in self._taken(event, found, request, answer.host):
                            yield delta
                        if found.done:
                            answer.hurry()  # to the end, so that the connection can be used again
            for event in reader.end():
                for delta in self._taken(event, found, request, answer.host):
                    yield delta
        except (NotJson, LineTooLong):
            failure = failed(ModelFault.BAD_ANSWER, answer.host)
        else:
            return
        raise failure

    def _taken(self, event: Event, found: Collected, request: ChatRequest, host: str) -> Iterator[Delta]:
        """The pieces of one event. Raises ``NotJson``, or ``ModelFailed`` for an error the server reports in it."""
        if found.done or not event.data.strip():
            return
        if event.data.strip() == "[DONE]":
            found.done = True
            return
        content = mapping(parsed(event.data))
        if content.get("error"):
            raise failed(classify_event(content), host)
        yield from self._read(content, found, request)

    def _whole(self, body: object, request: ChatRequest) -> ChatReply:
        content = mapping(body)
        reply = None if content.get("error") else self._reply(content, request)
        if reply is None:
            fault = classify_event(content) if content.get("error") else ModelFault.BAD_ANSWER
            raise failed(fault, self._endpoint.host)
        return reply

    @asynccontextmanager
    async def _asked(self, request: ChatRequest, *, stream: bool) -> AsyncGenerator[Answer, None]:
        answer = await self._opened(request, stream)
        try:
            yield answer
        finally:
            await answer.close()

    async def _opened(self, request: ChatRequest, stream: bool) -> Answer:
        """The answer to a request that leaves out, step by step, what the server does not take."""
        until = self._endpoint.deadline()
        while True:
            sent = self._ways.now()
            payload = self._payload(request, stream, sent)
            try:
                return await self._endpoint.post(payload, await self._headers(), until)
            except Refused as refused:
                told = complaint(refused.status, error_body(refused.told), refused.told)
                failure = refused.failure
            given_up = self._ways.step(sent, self._used(request, stream), told)
            if given_up is None:
                raise failure
            _log.info("%s refused %s of %s; asking in another way", self._provider, sent[given_up], given_up)

    async def _headers(self) -> dict[str, str]:
        try:
            key = await asyncio.wrap_future(aside(self._key.read))  # a keyring answers when it likes
        except KeyProblem as problem:
            failure = ModelFailed(problem.message, problem.hint, fault=ModelFault.AUTH, status=None)
        else:
            return self._key_headers(key)
        raise failure

    @abstractmethod
    def _key_headers(self, key: str | None) -> dict[str, str]: ...

    @abstractmethod
    def _used(self, request: ChatRequest, stream: bool) -> Collection[str]: ...

    @abstractmethod
    def _payload(self, request: ChatRequest, stream: bool, ways: Mapping[str, str]) -> dict[str, object]: ...

    @abstractmethod
    def _reply(self, body: Mapping[str, object], request: ChatRequest) -> ChatReply | None: ...

    @abstractmethod
    def _read(self, content: Mapping[str, object], found: Collected, request: ChatRequest) -> Iterator[Delta]: ...

    @abstractmethod
    def _tool_question(self) -> dict[str, object]: ...

    @abstractmethod
    def _calls_tool(self, body: Mapping[str, object]) -> bool: ...
