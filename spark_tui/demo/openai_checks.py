"""What OpenAI's server refuses in a request for a chat completion, in its words; sends nothing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spark_tui.demo.wire import Refused, texts_of

_ROLES: Final = {"system", "developer", "user", "assistant", "tool"}
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_KNOWN: Final = {
    "model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "response_format",
    "temperature", "top_p", "n", "stop", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs",
    "top_logprobs", "seed", "user", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "verbosity",
    "metadata", "store", "service_tier", "prompt_cache_key", "safety_identifier", "modalities", "prediction",
}  # fmt: skip


def complaint(body: Mapping[str, Any]) -> Refused | None:
    """The first thing wrong with a request, or None."""
    return next(_complaints(body), None)


def _complaints(body: Mapping[str, Any]) -> Iterator[Refused]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield Refused(400, "you must provide a model parameter")
    if "messages" not in body:
        yield Refused(400, "Missing required parameter: 'messages'.", "missing_required_parameter", "messages")
    yield from _message_complaints(body.get("messages"))
    for name in sorted(set(body) - _KNOWN):
        yield Refused(400, f"Unrecognized request argument supplied: {name}", "unknown_parameter", name)
    yield from _limit_complaints(body)
    if body.get("stream_options") is not None and not body.get("stream"):
        said = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield Refused(400, said, field="stream_options")
    yield from _format_complaints(body)


def _message_complaints(messages: object) -> Iterator[Refused]:
    if not isinstance(messages, list):
        yield Refused(400, "Invalid type for 'messages': expected an array of objects.", "invalid_type", "messages")
        return
    if not messages:
        said = "Invalid 'messages': empty array. Expected an array with minimum length 1."
        yield Refused(400, said, "empty_array", "messages")
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            yield Refused(400, f"Invalid value: '{role}'.", "invalid_value", f"messages[{at}].role")
        elif not isinstance(message.get("content"), str | list) and role != "assistant":
            said = f"Invalid value for 'content': expected a string or an array, in messages[{at}]."
            yield Refused(400, said, "invalid_type", f"messages[{at}].content")


def _limit_complaints(body: Mapping[str, Any]) -> Iterator[Refused]:
    if all(name in body for name in _LIMITS):
        yield Refused(400, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    for name in _LIMITS:
        value = body.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            yield Refused(400, f"Invalid '{name}': expected an integer >= 1.", "integer_below_min_value", name)


def _format_complaints(body: Mapping[str, Any]) -> Iterator[Refused]:
    wish = body.get("response_format")
    if wish is None:
        return
    kind = wish.get("type") if isinstance(wish, dict) else None
    if kind == "json_object":
        texts = (text for message in body["messages"] for text in texts_of(message.get("content")))
        if not any("json" in text.lower() for text in texts):
            said = (
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
            )
            yield Refused(400, said, field="messages")
    elif kind == "json_schema":
        yield from _schema_complaints(wish.get("json_schema"))
    elif kind != "text":
        yield Refused(400, f"Invalid value: '{kind}'.", "invalid_value", "response_format.type")


def _schema_complaints(named: object) -> Iterator[Refused]:
    field = "response_format.json_schema"
    if not isinstance(named, dict) or not named.get("name"):
        yield Refused(
            400, f"Missing required parameter: '{field}.name'.", "missing_required_parameter", f"{field}.name"
        )
        return
    schema = named.get("schema")
    start = f"Invalid schema for response_format '{named['name']}'"
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind != "object":
        yield Refused(400, f"{start}: schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'.")
    elif named.get("strict"):
        yield from (Refused(400, f"{start}: {said}", field="response_format") for said in strict_complaints(schema))


def strict_complaints(schema: object) -> Iterator[str]:
    """Where a schema is looser than strict mode allows: every object closed and every property required."""
    if isinstance(schema, list):
        for each in schema:
            yield from strict_complaints(each)
    if not isinstance(schema, dict):
        return
    if isinstance(properties := schema.get("properties"), dict):
        if schema.get("additionalProperties") is not False:
            yield "'additionalProperties' is required to be supplied and to be false."
        if set(properties) - set(schema.get("required", ())):
            yield "'required' is required to be supplied and to be an array including every key in properties."
    for each in schema.values():
        yield from strict_complaints(each)
