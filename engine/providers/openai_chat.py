"""OpenAI's ``/chat/completions``, as OpenAI itself, DeepSeek, Ollama and every compatible server speak it."""

from collections.abc import Iterator, Mapping
from typing import Final

from engine.providers.addresses import checked_base_url
from engine.providers.chat import ChatReply, ChatRequest, Delta, Schema, Stop, Usage
from engine.providers.http_chat import PLAIN, SCHEMA, Collected, HttpChat, Terms
from engine.providers.reading import count, items, mapping, storable, text
from engine.providers.schemas import is_strict
from engine.providers.ways import Wish
from engine.settings_providers import ProviderKind

_LIMIT: Final = "token limit"
_COUNTS: Final = "usage in streams"
_NONE: Final = "none"
_SCHEMA_WISH: Final = Wish(
    SCHEMA,
    ("response_format", "json_schema", "json_object", "'json'", "structured output", "json mode", "grammar", "schema"),
    ("json_schema", "json_object", PLAIN),
)
_COUNTS_WISH: Final = Wish(_COUNTS, ("stream_options", "include_usage"), ("include_usage", _NONE))
# Newer models of OpenAI refuse the old name, most other servers know only that one; the last way leaves it to them.
_LIMIT_NAMES: Final = ("max_completion_tokens", "max_tokens")
_STOPS: Final = {
    "stop": Stop.END,
    "length": Stop.LENGTH,
    "content_filter": Stop.REFUSED,
    "tool_calls": Stop.TOOL,
    "function_call": Stop.TOOL,
    "insufficient_system_resource": Stop.INCOMPLETE,
}
TOOL: Final = {
    "type": "function",
    "function": {
        "name": "report",
        "description": "Report a colour.",
        "parameters": {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
    },
}


class OpenAIChat(HttpChat):
    """One model of a provider of kind openai, openai-compatible, deepseek or ollama.

    Raises ``ValidationFailed`` for a base URL that is none.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        model: str,
        terms: Terms,
        *,
        kind: str = ProviderKind.OPENAI_COMPATIBLE,
    ) -> None:
        names = _LIMIT_NAMES if kind == ProviderKind.OPENAI else _LIMIT_NAMES[::-1]
        limit = Wish(_LIMIT, _LIMIT_NAMES, (*names, _NONE))
        url = checked_base_url(base_url) + "/chat/completions"
        super().__init__(provider, model, url, terms, limit, _SCHEMA_WISH, _COUNTS_WISH)

    def _key_headers(self, key: str | None) -> dict[str, str]:
        return {} if key is None else {"authorization": f"Bearer {key}"}

    def _used(self, request: ChatRequest, stream: bool) -> set[str]:
        return {_LIMIT, *([SCHEMA] if request.schema else []), *([_COUNTS] if stream else [])}

    def _payload(self, request: ChatRequest, stream: bool, ways: Mapping[str, str]) -> dict[str, object]:
        system = [{"role": "system", "content": storable(request.system)}] if request.system else []
        said = [{"role": message.role.value, "content": storable(message.text)} for message in request.messages]
        payload: dict[str, object] = {"model": self.model, "messages": [*system, *said]}
        if ways[_LIMIT] != _NONE:
            payload[ways[_LIMIT]] = request.max_tokens
        if request.schema and ways[SCHEMA] != PLAIN:
            payload["response_format"] = _format(request.schema, ways[SCHEMA])
        if stream:
            payload["stream"] = True
            payload |= {"stream_options": {"include_usage": True}} if ways[_COUNTS] != _NONE else {}
        return payload

    def _reply(self, body: Mapping[str, object], request: ChatRequest) -> ChatReply | None:
        choices = items(body.get("choices"))
        if not choices or not isinstance(mapping(choices[0]).get("message"), dict):
            return None
        found = Collected(text(body.get("model")) or self.model, done=True)
        choice = mapping(choices[0])
        list(found.add(*_said(mapping(choice.get("message")))))
        found.stop = _stop(choice, mapping(choice.get("message")))
        found.usage = _usage(body.get("usage"))
        return found.reply()

    def _read(self, content: Mapping[str, object], found: Collected, request: ChatRequest) -> Iterator[Delta]:
        found.model = text(content.get("model")) or found.model
        found.usage = _usage(content.get("usage")) or found.usage
        for choice in map(mapping, items(content.get("choices"))[:1]):
            delta = mapping(choice.get("delta"))
            yield from found.add(*_said(delta))
            found.stop = _stop(choice, delta) or found.stop

    def _tool_question(self) -> dict[str, object]:
        asked = {"role": "user", "content": "Report the colour of the sky with the tool."}
        return {"model": self.model, "messages": [asked], "tools": [TOOL]}

    def _calls_tool(self, body: Mapping[str, object]) -> bool:
        return any(mapping(mapping(each).get("message")).get("tool_calls") for each in items(body.get("choices")))


def _format(schema: Schema, way: str) -> dict[str, object]:
    if way == "json_object":
        return {"type": "json_object"}
    named = {"name": schema.name, "schema": dict(schema.content), "strict": is_strict(schema.content)}
    return {"type": "json_schema", "json_schema": named}


def _said(message: Mapping[str, object]) -> tuple[str, str]:
    """Text and reasoning; a refusal is said in a field of its own."""
    spoken = text(message.get("content")) or text(message.get("refusal"))
    return spoken, text(message.get("reasoning_content")) or text(message.get("reasoning"))


def _stop(choice: Mapping[str, object], message: Mapping[str, object]) -> Stop | None:
    reason = choice.get("finish_reason")
    if not isinstance(reason, str) or not reason:
        return None
    return Stop.REFUSED if text(message.get("refusal")) else _STOPS.get(reason, Stop.END)


def _usage(value: object) -> Usage | None:
    told = mapping(value)
    if not told:
        return None
    details = mapping(told.get("prompt_tokens_details"))
    cached = count(details.get("cached_tokens")) or count(told.get("prompt_cache_hit_tokens"))
    return Usage(max(count(told.get("prompt_tokens")) - cached, 0), count(told.get("completion_tokens")), cached)
