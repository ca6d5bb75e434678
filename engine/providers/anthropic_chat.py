"""Anthropic's ``/v1/messages``, as Anthropic itself and servers that imitate it speak it."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from engine.providers.addresses import checked_base_url
from engine.providers.chat import ChatReply, ChatRequest, Delta, Schema, Stop, Usage
from engine.providers.http_chat import PLAIN, SCHEMA, Collected, HttpChat, Terms
from engine.providers.reading import count, items, mapping, storable, text
from engine.providers.schemas import is_closed, is_object
from engine.providers.ways import Wish
from engine.settings_providers import ANTHROPIC_VERSION

_CACHE: Final = "prompt cache"
_NATIVE: Final = "output_config"
_TOOL: Final = "tool"
# The field for it first: it leaves tools, and with them the cached prefix, alone. Models and servers that do not know
# it can be made to fill in a tool; strict ones that know neither are asked in words, which the prompt holds anyway.
_SCHEMA_WISH: Final = Wish(
    SCHEMA, ("output_config", "output_format", "tool", "schema", "structured"), (_NATIVE, _TOOL, PLAIN)
)
_CACHE_WISH: Final = Wish(_CACHE, ("cache_control", "system"), ("ephemeral", PLAIN))
_STOPS: Final = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "tool_use": Stop.TOOL,
    "refusal": Stop.REFUSED,
    "pause_turn": Stop.INCOMPLETE,
}


class AnthropicChat(HttpChat):
    """One model of a provider of kind anthropic; ``version`` is its version header.

    ``base_url`` may end in ``/v1`` or not. Raises ``ValidationFailed`` for one that is none.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        model: str,
        terms: Terms,
        *,
        version: str = ANTHROPIC_VERSION,
    ) -> None:
        url = checked_base_url(base_url).removesuffix("/v1") + "/v1/messages"
        super().__init__(provider, model, url, terms, _SCHEMA_WISH, _CACHE_WISH)
        self._version = version

    def _key_headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": self._version} | ({} if key is None else {"x-api-key": key})

    def _used(self, request: ChatRequest, stream: bool) -> set[str]:
        return {*([SCHEMA] if request.schema else []), *([_CACHE] if request.system else [])}

    def _payload(self, request: ChatRequest, stream: bool, ways: Mapping[str, str]) -> dict[str, object]:
        said = [{"role": each.role.value, "content": storable(each.text)} for each in request.messages]
        payload: dict[str, object] = {"model": self.model, "max_tokens": request.max_tokens, "messages": said}
        if request.system:
            payload["system"] = _system(storable(request.system), ways[_CACHE])
        if request.schema:
            payload |= _wish(request.schema, ways[SCHEMA])
        return payload | ({"stream": True} if stream else {})

    def _reply(self, body: Mapping[str, object], request: ChatRequest) -> ChatReply | None:
        if not isinstance(body.get("content"), list):
            return None
        found = Collected(text(body.get("model")) or self.model, done=True)
        found.usage = _usage(body.get("usage"), None)
        for block in map(mapping, items(body.get("content"))):
            if _is_answer(block, request):
                list(found.add(json.dumps(block.get("input"), ensure_ascii=False)))
            list(found.add(text(block.get("text")), text(block.get("thinking"))))
        found.stop = _stop(body.get("stop_reason"), request)
        return found.reply()

    def _read(self, content: Mapping[str, object], found: Collected, request: ChatRequest) -> Iterator[Delta]:
        match content.get("type"):
            case "message_start":
                message = mapping(content.get("message"))
                found.model = text(message.get("model")) or found.model
                found.usage = _usage(message.get("usage"), found.usage)
            case "content_block_start":
                block = mapping(content.get("content_block"))
                yield from found.add(text(block.get("text")), text(block.get("thinking")))
            case "content_block_delta":
                delta = mapping(content.get("delta"))
                spoken = text(delta.get("text")) or (text(delta.get("partial_json")) if request.schema else "")
                yield from found.add(spoken, text(delta.get("thinking")))
            case "message_delta":
                found.usage = _usage(content.get("usage"), found.usage)
                found.stop = _stop(mapping(content.get("delta")).get("stop_reason"), request) or found.stop
            case "message_stop":
                found.done = True

    def _tool_question(self) -> dict[str, object]:
        asked = {"role": "user", "content": "Report the colour of the sky with the tool."}
        schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
        tool = {"name": "report", "description": "Report a colour.", "input_schema": schema}
        return {"model": self.model, "max_tokens": 1_024, "messages": [asked], "tools": [tool]}

    def _calls_tool(self, body: Mapping[str, object]) -> bool:
        return any(mapping(block).get("type") == "tool_use" for block in items(body.get("content")))


def _system(said: str, way: str) -> object:
    """The stable prefix of every request: whatever comes after it is read anew, this from the cache."""
    if way == PLAIN:
        return said
    return [{"type": "text", "text": said, "cache_control": {"type": "ephemeral"}}]


def _wish(schema: Schema, way: str) -> dict[str, object]:
    content = dict(schema.content)
    if way == _NATIVE and is_closed(content):
        return {"output_config": {"format": {"type": "json_schema", "schema": content}}}
    if way == PLAIN or not is_object(content):
        return {}
    tool = {"name": schema.name, "description": "Give the answer.", "input_schema": content}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": schema.name}}


def _is_answer(block: Mapping[str, object], request: ChatRequest) -> bool:
    """Whether a block fills in the tool that stands for the schema of the answer."""
    return block.get("type") == "tool_use" and request.schema is not None and block.get("name") == request.schema.name


def _stop(reason: object, request: ChatRequest) -> Stop | None:
    if not isinstance(reason, str) or not reason:
        return None
    stop = _STOPS.get(reason, Stop.END)
    return Stop.END if stop is Stop.TOOL and request.schema else stop


def _usage(value: object, before: Usage | None) -> Usage | None:
    """Tokens so far: a later event repeats or completes the figures of an earlier one."""
    told = mapping(value)
    if not told:
        return before
    known = before or Usage()
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    given = (known.input, known.output, known.cache_read, known.cache_write)
    return Usage(*(count(told.get(name)) or old for name, old in zip(names, given, strict=True)))
