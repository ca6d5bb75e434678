"""OpenAI's chat completions as a server speaks them: what it refuses, its whole answers, its chunks."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spark_tui.demo.openai_checks import complaint
from spark_tui.demo.steps import Ending
from spark_tui.demo.wire import Frame, Refused, Spoken, event, raw_event, texts_of, tool_named

_CREATED: Final = 1_750_000_000
_FINISH: Final = {Ending.END: "stop", Ending.LENGTH: "length", Ending.REFUSED: "content_filter"}
_TYPES: Final = {401: "invalid_request_error", 429: "requests", 500: "server_error", 503: "server_error"}
_CODES: Final = {401: "invalid_api_key", 429: "rate_limit_exceeded", 404: "model_not_found"}


class OpenAIWire:
    """The protocol of ``/chat/completions``."""

    def complaint(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> Refused | None:
        """What a real server would refuse in this request."""
        return complaint(body)

    def key(self, headers: Mapping[str, str]) -> str:
        """The bearer token."""
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return key.strip() if scheme.lower() == "bearer" else ""

    def prompt(self, body: Mapping[str, Any]) -> str:
        """The texts of all messages."""
        return "\n".join(text for message in body["messages"] for text in texts_of(message.get("content")))

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The schema of ``response_format``, or the parameters of the forced tool."""
        wish = body.get("response_format") or {}
        found = wish.get("json_schema", {}).get("schema") if wish.get("type") == "json_schema" else None
        found = found or tool_named(body.get("tools"), self.forced_tool(body)).get("parameters")
        return found if isinstance(found, dict) else None

    def forced_tool(self, body: Mapping[str, Any]) -> str:
        """The function named in ``tool_choice``."""
        choice = body.get("tool_choice")
        return str(choice.get("function", {}).get("name", "")) if isinstance(choice, dict) else ""

    def limit(self, body: Mapping[str, Any]) -> int | None:
        """``max_completion_tokens``, formerly ``max_tokens``."""
        limit: int | None = body.get("max_completion_tokens") or body.get("max_tokens")
        return limit

    def error(self, refused: Refused) -> dict[str, Any]:
        """The body of an error; ``code`` is what clients are told to look at."""
        kind = _TYPES.get(refused.status, "invalid_request_error" if refused.status < 500 else "server_error")
        code = refused.type or _CODES.get(refused.status)
        return {"error": {"message": refused.message, "type": kind, "param": refused.field, "code": code}}

    def whole(self, spoken: Spoken, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        message: dict[str, Any] = {"role": "assistant", "content": spoken.text, "refusal": None}
        if spoken.tool:
            message |= {"content": None, "tool_calls": [_call(spoken, spoken.text)]}
        if spoken.reasoning:
            message["reasoning_content"] = spoken.reasoning
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(spoken, body)}
        head = self._head(spoken, "chat.completion") | {"choices": [choice]}
        return head | ({"usage": _usage(spoken)} if spoken.usage else {})

    def frames(self, spoken: Spoken, body: Mapping[str, Any], edge: int) -> Iterator[Frame]:
        """The whole stream, with the comments proxies send to keep a connection alive."""
        asked = bool((body.get("stream_options") or {}).get("include_usage")) and spoken.usage
        head = self._head(spoken, "chat.completion.chunk") | ({"usage": None} if asked else {})

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return event(head | {"choices": [choice]})

        yield Frame(b": keep-alive\n\n")
        yield Frame(chunk({"role": "assistant", "content": "", "refusal": None}))
        if spoken.reasoning:
            yield Frame(chunk({"reasoning_content": spoken.reasoning}))
        if spoken.tool:
            yield Frame(chunk({"tool_calls": [{"index": 0, **_call(spoken, "")}]}))
        for piece, sent in spoken.pieces(edge):
            called = {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
            yield Frame(chunk(called if spoken.tool else {"content": piece}), sent)
        yield Frame(b": keep-alive\n\n" + chunk({}, _finish(spoken, body)), len(spoken.text), closing=True)
        if asked:
            yield Frame(event(head | {"choices": [], "usage": _usage(spoken)}), len(spoken.text), closing=True)
        yield Frame(b"data: [DONE]\n\n", len(spoken.text), closing=True)

    def error_event(self, refused: Refused) -> bytes:
        """An error inside a stream, as routers and local servers send it."""
        return event(self.error(refused))

    def raw_event(self, chunk: str) -> bytes:
        """An event with these bytes where JSON should be."""
        return raw_event(chunk)

    def _head(self, spoken: Spoken, kind: str) -> dict[str, Any]:
        name = f"chatcmpl-{spoken.number:08d}"
        return {"id": name, "object": kind, "created": _CREATED, "model": spoken.model, "system_fingerprint": None}


def _call(spoken: Spoken, arguments: str) -> dict[str, Any]:
    function = {"name": spoken.tool, "arguments": arguments}
    return {"id": f"call_{spoken.number:08d}", "type": "function", "function": function}


def _finish(spoken: Spoken, body: Mapping[str, Any]) -> str:
    """``tool_calls`` only for a call the model chose itself; one that was forced ends with ``stop``."""
    chosen = spoken.tool and not isinstance(body.get("tool_choice"), dict) and spoken.ending is Ending.END
    return "tool_calls" if chosen else _FINISH[spoken.ending]


def _usage(spoken: Spoken) -> dict[str, Any]:
    """Cached tokens are part of ``prompt_tokens`` in this protocol."""
    return {
        "prompt_tokens": spoken.input,
        "completion_tokens": spoken.output,
        "total_tokens": spoken.input + spoken.output,
        "prompt_tokens_details": {"cached_tokens": spoken.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": -(-len(spoken.reasoning) // 4)},
    }
