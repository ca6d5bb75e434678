"""Anthropic's messages as a server speaks them: what it refuses, its whole answers, its events."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spark_tui.demo.anthropic_checks import complaint
from spark_tui.demo.steps import Ending
from spark_tui.demo.wire import Frame, Refused, Spoken, event, raw_event, texts_of, tool_named

_STOPS: Final = {Ending.END: "end_turn", Ending.LENGTH: "max_tokens", Ending.REFUSED: "refusal"}
_TYPES: Final = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
    429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
}  # fmt: skip


class AnthropicWire:
    """The protocol of ``/messages``."""

    def complaint(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> Refused | None:
        """What a real server would refuse in this request."""
        return complaint(headers, body)

    def key(self, headers: Mapping[str, str]) -> str:
        """The key of ``x-api-key``."""
        return headers.get("x-api-key", "").strip()

    def prompt(self, body: Mapping[str, Any]) -> str:
        """The system text, then the texts of all messages."""
        contents = [body.get("system"), *(message.get("content") for message in body["messages"])]
        return "\n".join(text for content in contents for text in texts_of(content))

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The schema of ``output_config.format``, formerly ``output_format``, or of the forced tool."""
        wish = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        found = wish.get("schema") or tool_named(body.get("tools"), self.forced_tool(body)).get("input_schema")
        return found if isinstance(found, dict) else None

    def forced_tool(self, body: Mapping[str, Any]) -> str:
        """The tool named in ``tool_choice``."""
        choice = body.get("tool_choice") or {}
        return str(choice.get("name", "")) if choice.get("type") == "tool" else ""

    def limit(self, body: Mapping[str, Any]) -> int | None:
        """``max_tokens``, which every request has."""
        return int(body["max_tokens"])

    def error(self, refused: Refused) -> dict[str, Any]:
        """The body of an error."""
        kind = refused.type or _TYPES.get(refused.status, "invalid_request_error")
        told = {"type": kind, "message": refused.message}
        return {"type": "error", "error": told, "request_id": "req_scripted"}

    def whole(self, spoken: Spoken, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an answer that is not streamed; a real server always counts, so without usage it says zero."""
        thinking = [_thinking(spoken.reasoning)] if spoken.reasoning else []
        said = _tool(spoken, spoken.arguments) if spoken.tool else {"type": "text", "text": spoken.text}
        head = self._message(spoken) | {"content": [*thinking, said], "stop_reason": _stop(spoken)}
        return head | {"usage": _usage(spoken, spoken.output)}

    def frames(self, spoken: Spoken, body: Mapping[str, Any], edge: int) -> Iterator[Frame]:
        """The whole stream, a ping in its midst."""
        opening = self._message(spoken) | {"usage": _usage(spoken, min(1, spoken.output))}
        yield Frame(_event("message_start", message=opening))
        if spoken.reasoning:
            yield from _block(0, _thinking(""), _thought(spoken.reasoning))
        index = int(bool(spoken.reasoning))
        block = _tool(spoken, {}) if spoken.tool else {"type": "text", "text": ""}
        yield Frame(_event("content_block_start", index=index, content_block=block))
        yield Frame(_event("ping"))
        for piece, sent in spoken.pieces(edge):
            kind, name = ("input_json_delta", "partial_json") if spoken.tool else ("text_delta", "text")
            delta = {"type": kind, name: piece}
            yield Frame(_event("content_block_delta", index=index, delta=delta), sent)
        sent = len(spoken.text)
        yield Frame(_event("content_block_stop", index=index), sent, closing=True)
        stop = {"stop_reason": _stop(spoken), "stop_sequence": None}
        counted = {"output_tokens": spoken.output if spoken.usage else 0}
        yield Frame(_event("message_delta", delta=stop, usage=counted), sent, closing=True)
        yield Frame(_event("message_stop"), sent, closing=True)

    def error_event(self, refused: Refused) -> bytes:
        """An error inside a stream."""
        return event(self.error(refused), "error")

    def raw_event(self, chunk: str) -> bytes:
        """An event with these bytes where JSON should be."""
        return raw_event(chunk, "content_block_delta")

    def _message(self, spoken: Spoken) -> dict[str, Any]:
        return {
            "id": f"msg_{spoken.number:08d}", "type": "message", "role": "assistant", "model": spoken.model,
            "content": [], "stop_reason": None, "stop_sequence": None,
        }  # fmt: skip


def _event(kind: str, **more: object) -> bytes:
    return event({"type": kind, **more}, kind)


def _tool(spoken: Spoken, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{spoken.number:08d}", "name": spoken.tool, "input": given}


def _stop(spoken: Spoken) -> str:
    return "tool_use" if spoken.tool and spoken.ending is Ending.END else _STOPS[spoken.ending]


def _thinking(text: str) -> dict[str, str]:
    return {"type": "thinking", "thinking": text, "signature": "scripted" if text else ""}


def _thought(text: str) -> tuple[dict[str, str], ...]:
    return {"type": "thinking_delta", "thinking": text}, {"type": "signature_delta", "signature": "scripted"}


def _block(index: int, opening: dict[str, str], deltas: tuple[dict[str, str], ...]) -> Iterator[Frame]:
    yield Frame(_event("content_block_start", index=index, content_block=opening))
    yield from (Frame(_event("content_block_delta", index=index, delta=delta)) for delta in deltas)
    yield Frame(_event("content_block_stop", index=index))


def _usage(spoken: Spoken, output: int) -> dict[str, int]:
    """Cached tokens are no part of ``input_tokens`` in this protocol."""
    counts = (spoken.input - spoken.cached, 0, spoken.cached, output) if spoken.usage else (0, 0, 0, 0)
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return dict(zip(names, counts, strict=True))
