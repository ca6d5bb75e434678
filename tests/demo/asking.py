"""Plain HTTP questions in both protocols, and how their answers are read; knows none of the engine's clients."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Ending


@dataclass(frozen=True)
class Event:
    """One server-sent event; ``content`` is None for ``[DONE]`` and for data that is no JSON."""

    name: str
    data: str
    content: Any

    @property
    def malformed(self) -> bool:
        """Whether its data should have been JSON."""
        return self.content is None and self.data != "[DONE]"


class Protocol(ABC):
    """How one protocol is asked and read; what was said comes as (text, reasoning)."""

    name: str
    path: str
    endings: Mapping[Ending, str]
    tool_ending: str

    @abstractmethod
    def request(self, prompt: str, system: str) -> dict[str, Any]:
        """A plain request."""

    @abstractmethod
    def key(self, key: str) -> dict[str, str]:
        """The header that carries a key."""

    @abstractmethod
    def schema_wish(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that ask for an answer by a schema."""

    @abstractmethod
    def forced_tool(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that force a call of the tool ``found``."""

    @abstractmethod
    def called(self, document: Any) -> tuple[str, Any]:
        """The tool a whole answer calls, and with what."""

    @abstractmethod
    def joined_call(self, events: Sequence[Event]) -> tuple[str, Any]:
        """The tool a stream calls, and with what."""

    @abstractmethod
    def said(self, document: Any) -> tuple[str, str]:
        """What a whole answer says."""

    @abstractmethod
    def joined(self, events: Sequence[Event]) -> tuple[str, str]:
        """What a stream says."""

    @abstractmethod
    def ending(self, document: Any) -> str:
        """Why a whole answer ended."""

    @abstractmethod
    def stream_ending(self, events: Sequence[Event]) -> str:
        """Why a stream ended."""


class _OpenAI(Protocol):
    name = "openai"
    tool_ending = "tool_calls"
    path = "/chat/completions"
    endings: Mapping[Ending, str] = {
        Ending.END: "stop", Ending.LENGTH: "length", Ending.REFUSED: "content_filter",
    }  # fmt: skip

    def request(self, prompt: str, system: str) -> dict[str, Any]:
        first = [{"role": "system", "content": system}] if system else []
        return {"model": "scripted", "messages": [*first, {"role": "user", "content": prompt}]}

    def key(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"}

    def schema_wish(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        named = {"name": "found", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def forced_tool(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        tool = {"type": "function", "function": {"name": "found", "parameters": schema}}
        return {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": "found"}}}

    def called(self, document: Any) -> tuple[str, Any]:
        (call,) = document["choices"][0]["message"]["tool_calls"]
        return call["function"]["name"], json.loads(call["function"]["arguments"])

    def joined_call(self, events: Sequence[Event]) -> tuple[str, Any]:
        choices = [choice for event in events if event.content for choice in event.content["choices"]]
        parts = [call["function"] for choice in choices for call in choice["delta"].get("tool_calls", ())]
        return _join(parts, "name"), json.loads(_join(parts, "arguments"))

    def said(self, document: Any) -> tuple[str, str]:
        message = document["choices"][0]["message"]
        return message["content"], message.get("reasoning_content", "")

    def joined(self, events: Sequence[Event]) -> tuple[str, str]:
        deltas = [choice["delta"] for event in events if event.content for choice in event.content.get("choices", ())]
        return _join(deltas, "content"), _join(deltas, "reasoning_content")

    def ending(self, document: Any) -> str:
        return str(document["choices"][0]["finish_reason"])

    def stream_ending(self, events: Sequence[Event]) -> str:
        choices = [choice for event in events if event.content for choice in event.content["choices"]]
        return str(choices[-1]["finish_reason"])


class _Anthropic(Protocol):
    name = "anthropic"
    tool_ending = "tool_use"
    path = "/messages"
    endings: Mapping[Ending, str] = {
        Ending.END: "end_turn", Ending.LENGTH: "max_tokens", Ending.REFUSED: "refusal",
    }  # fmt: skip

    def request(self, prompt: str, system: str) -> dict[str, Any]:
        first = {"system": system} if system else {}
        return {"model": "scripted", "max_tokens": 1000, "messages": [{"role": "user", "content": prompt}]} | first

    def key(self, key: str) -> dict[str, str]:
        return {"x-api-key": key}

    def schema_wish(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def forced_tool(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"tools": [{"name": "found", "input_schema": schema}], "tool_choice": {"type": "tool", "name": "found"}}

    def called(self, document: Any) -> tuple[str, Any]:
        (block,) = (each for each in document["content"] if each["type"] == "tool_use")
        return block["name"], block["input"]

    def joined_call(self, events: Sequence[Event]) -> tuple[str, Any]:
        blocks = [event.content["content_block"] for event in events if event.name == "content_block_start"]
        deltas = [event.content["delta"] for event in events if event.name == "content_block_delta"]
        return _join(blocks, "name"), json.loads(_join(deltas, "partial_json"))

    def said(self, document: Any) -> tuple[str, str]:
        return _join(document["content"], "text"), _join(document["content"], "thinking")

    def joined(self, events: Sequence[Event]) -> tuple[str, str]:
        deltas = [event.content.get("delta", {}) for event in events if event.content]
        return _join(deltas, "text"), _join(deltas, "thinking")

    def ending(self, document: Any) -> str:
        return str(document["stop_reason"])

    def stream_ending(self, events: Sequence[Event]) -> str:
        (found,) = (event.content["delta"]["stop_reason"] for event in events if event.name == "message_delta")
        return str(found)


def _join(parts: Sequence[Mapping[str, Any]], name: str) -> str:
    return "".join(part.get(name) or "" for part in parts)


OPENAI: Protocol = _OpenAI()
ANTHROPIC: Protocol = _Anthropic()


def client(timeout: float = 10.0) -> httpx.Client:
    """A client that reads no settings and no certificates, which are most of the cost of a new one."""
    return httpx.Client(timeout=timeout, trust_env=False, verify=False)


class Asker:
    """Asks one server over one pool of connections."""

    def __init__(self, server: ModelServer, client: httpx.Client) -> None:
        self.server = server
        self.client = client

    def post(self, path: str, body: object, **options: Any) -> httpx.Response:
        """One POST below the base URL, its answer read to the end."""
        return self.client.post(f"{self.server.base_url}{path}", json=body, **options)

    def whole(self, protocol: Protocol, prompt: str = "hello", **more: Any) -> httpx.Response:
        """One chat request; ``more``: system, headers, timeout, or fields of the body. None takes away what is usual."""
        body, options = _request(protocol, prompt, more)
        return self.post(protocol.path, body, **options)

    def stream(self, protocol: Protocol, prompt: str = "hello", **more: Any) -> list[Event]:
        """The events of a stream that has to come to its proper end."""
        return list(self._events(protocol, prompt, more))

    def broken_stream(self, protocol: Protocol, failure: type[Exception]) -> list[Event]:
        """The events of a stream that has to break in this way."""
        events: list[Event] = []
        with pytest.raises(failure):
            events.extend(self._events(protocol, "hello", {}))
        return events

    def _events(self, protocol: Protocol, prompt: str, more: dict[str, Any]) -> Iterator[Event]:
        body, options = _request(protocol, prompt, {**more, "stream": True})
        url = f"{self.server.base_url}{protocol.path}"
        with self.client.stream("POST", url, json=body, **options) as answer:
            assert answer.headers["content-type"] == "text/event-stream"
            name = ""
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield Event(name, value, _content(value))
                    name = ""


def _request(protocol: Protocol, prompt: str, more: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    given = dict(more)
    version = {"anthropic-version": "2023-06-01"} if protocol is ANTHROPIC else {}
    headers = {name: value for name, value in {**version, **given.pop("headers", {})}.items() if value is not None}
    options = {"headers": headers} | ({"timeout": given.pop("timeout")} if "timeout" in given else {})
    body = protocol.request(prompt, given.pop("system", "")) | given
    return {name: value for name, value in body.items() if value is not None}, options


def _content(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
