"""What Anthropic's server refuses in a request for a message, in its words; sends nothing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spark_tui.demo.openai_checks import strict_complaints
from spark_tui.demo.wire import Refused, tool_named

_KNOWN: Final = {
    "model", "messages", "max_tokens", "system", "stream", "stop_sequences", "temperature", "top_p", "top_k",
    "metadata", "tools", "tool_choice", "thinking", "service_tier", "output_config", "output_format",
    "context_management", "container", "mcp_servers", "cache_control",
}  # fmt: skip


def complaint(headers: Mapping[str, str], body: Mapping[str, Any]) -> Refused | None:
    """The first thing wrong with a request, or None."""
    return next(_complaints(headers, body), None)


def _complaints(headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[Refused]:
    if "anthropic-version" not in headers:
        yield _bad("anthropic-version: header is required")
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            yield _bad(f"{name}: Field required", name)
    if not isinstance(body["model"], str) or not body["model"]:
        yield _bad("model: String should have at least 1 character", "model")
    limit = body["max_tokens"]
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        yield _bad("max_tokens: Input should be greater than or equal to 1", "max_tokens")
    beta = "anthropic-beta" in headers  # lets clients of the vendor say more than the documented fields
    yield from _message_complaints(body["messages"], ("user", "assistant", *(["system"] if beta else [])))
    if "system" in body and not isinstance(body["system"], str | list):
        yield _bad("system: Input should be a valid string or list", "system")
    for name in sorted(set(body) - _KNOWN) if not beta else ():
        yield _bad(f"{name}: Extra inputs are not permitted", name)
    yield from _format_complaints(body)
    choice = body.get("tool_choice")
    if choice is not None and not isinstance(choice, dict):
        yield _bad("tool_choice: Input should be a valid dictionary", "tool_choice")
    elif choice and choice.get("type") == "tool" and not tool_named(body.get("tools"), str(choice.get("name"))):
        yield _bad(f"Tool '{choice.get('name')}' not found in provided tools", "tool_choice")


def _message_complaints(messages: object, roles: tuple[str, ...]) -> Iterator[Refused]:
    if not isinstance(messages, list):
        yield _bad("messages: Input should be a valid list", "messages")
        return
    if not messages:
        yield _bad("messages: at least one message is required", "messages")
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in roles:
            said = f'messages: Unexpected role "{role}". The Messages API accepts a top-level `system` parameter'
            yield _bad(f"{said}, not a message of that role.", "messages")
            return
        yield from _content_complaints(at, message.get("content"))
    if messages and messages[0].get("role") != "user":
        yield _bad('messages: first message must use the "user" role', "messages")


def _content_complaints(at: int, content: object) -> Iterator[Refused]:
    if not isinstance(content, str | list):
        yield _bad(f"messages.{at}.content: Field required", "messages")
    elif not content:
        yield _bad(f"messages.{at}: all messages must have non-empty content", "messages")
    elif isinstance(content, list) and any(_is_blank(part) for part in content):
        yield _bad("messages: text content blocks must be non-empty", "messages")
    elif isinstance(content, str) and not content.strip():
        yield _bad("messages: text content blocks must contain non-whitespace text", "messages")


def _is_blank(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and not str(part.get("text", "")).strip()


def _format_complaints(body: Mapping[str, Any]) -> Iterator[Refused]:
    config = body.get("output_config")
    if config is not None and not isinstance(config, dict):
        yield _bad("output_config: Input should be a valid dictionary", "output_config")
        return
    wish = (config or {}).get("format") or body.get("output_format")
    if wish is None:
        return
    if not isinstance(wish, dict) or wish.get("type") != "json_schema" or not isinstance(wish.get("schema"), dict):
        yield _bad("output_config.format: a `json_schema` with a `schema` is required", "output_config")
        return
    # Optional properties are allowed here, unlike at OpenAI; open objects are not.
    open_objects = (said for said in strict_complaints(wish["schema"]) if "additionalProperties" in said)
    yield from (_bad(f"output_config.format.schema: {said}", "output_config") for said in open_objects)


def _bad(message: str, field: str | None = None) -> Refused:
    return Refused(400, message, field=field)
