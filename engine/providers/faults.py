"""Why a model brought no answer: one table from statuses and error bodies to faults, sentences and next steps.

Reads what a server says about an error only to recognise it: its words, which may repeat a prompt, go nowhere.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.errors import ModelFailed, ModelUnavailable


class ModelFault(StrEnum):
    """What was in the way of an answer; ``details['fault']`` of a ``ModelFailed``."""

    AUTH = "auth"
    FORBIDDEN = "forbidden"
    NO_CREDIT = "no_credit"
    NOT_FOUND = "not_found"
    BAD_URL = "bad_url"
    BAD_REQUEST = "bad_request"
    TOO_LONG = "too_long"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    CUT = "cut"
    BAD_ANSWER = "bad_answer"
    OUTDATED = "outdated"
    REFUSED = "refused"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Explained:
    """One row of the table: what is said, what to do, and whether the very same call may work a moment later."""

    sentence: str
    hint: str | None = None
    retryable: bool = False


TABLE: Final[Mapping[ModelFault, Explained]] = {
    ModelFault.AUTH: Explained("the key was refused", "check the provider's key"),
    ModelFault.FORBIDDEN: Explained("this key may not use it", "check what the provider's key is allowed to do"),
    ModelFault.NO_CREDIT: Explained("the account has no credit left", "look at the provider's billing page"),
    ModelFault.NOT_FOUND: Explained("no such model or address", "check the base URL and the model's name"),
    ModelFault.BAD_URL: Explained("the base URL cannot be asked", "check the base URL"),
    ModelFault.BAD_REQUEST: Explained("the request was refused", "check the model's name; provider test shows more"),
    ModelFault.TOO_LONG: Explained("the request is longer than the model reads", "choose a model with a larger window"),
    ModelFault.RATE_LIMITED: Explained("too many requests", "the provider limits requests; try again later", True),
    ModelFault.OVERLOADED: Explained("the provider is overloaded", "try again later", True),
    ModelFault.SERVER: Explained("the provider failed", "try again later", True),
    ModelFault.TIMEOUT: Explained("no answer in time", "try again, or raise its timeouts in config.toml", True),
    ModelFault.CONNECTION: Explained("no connection", "check that it runs and that the base URL is right"),
    ModelFault.CUT: Explained("the answer broke off", "try again"),
    ModelFault.BAD_ANSWER: Explained("the answer is not of its protocol", "check the kind and the base URL"),
    ModelFault.OUTDATED: Explained("this release cannot be asked safely", "update it"),
    ModelFault.REFUSED: Explained("the provider declined to answer this", None),
    ModelFault.CANCELLED: Explained("the call was cancelled", None),
}
_PASSING: Final = {
    ModelFault.RATE_LIMITED, ModelFault.OVERLOADED, ModelFault.SERVER, ModelFault.TIMEOUT, ModelFault.CUT,
    ModelFault.BAD_ANSWER,
}  # fmt: skip
_UNREACHABLE: Final = {
    ModelFault.AUTH, ModelFault.FORBIDDEN, ModelFault.NO_CREDIT, ModelFault.NOT_FOUND, ModelFault.BAD_URL,
    ModelFault.CONNECTION, ModelFault.OUTDATED,
}  # fmt: skip

_BY_STATUS: Final[Mapping[int, ModelFault]] = {
    401: ModelFault.AUTH,
    402: ModelFault.NO_CREDIT,
    403: ModelFault.FORBIDDEN,
    404: ModelFault.NOT_FOUND,
    405: ModelFault.NOT_FOUND,
    408: ModelFault.TIMEOUT,
    410: ModelFault.NOT_FOUND,
    413: ModelFault.TOO_LONG,
    429: ModelFault.RATE_LIMITED,
    503: ModelFault.OVERLOADED,
    504: ModelFault.TIMEOUT,
    529: ModelFault.OVERLOADED,
}
# ``type`` and ``code`` of error bodies: OpenAI and Anthropic, then DeepSeek, llama.cpp and gateways before them.
_BY_WORD: Final[Mapping[str, ModelFault]] = {
    "invalid_api_key": ModelFault.AUTH,
    "authentication_error": ModelFault.AUTH,
    "permission_error": ModelFault.FORBIDDEN,
    "unsupported_country_region_territory": ModelFault.FORBIDDEN,
    "insufficient_quota": ModelFault.NO_CREDIT,
    "billing_error": ModelFault.NO_CREDIT,
    "insufficient_balance": ModelFault.NO_CREDIT,
    "model_not_found": ModelFault.NOT_FOUND,
    "not_found_error": ModelFault.NOT_FOUND,
    "context_length_exceeded": ModelFault.TOO_LONG,
    "exceed_context_size_error": ModelFault.TOO_LONG,
    "request_too_large": ModelFault.TOO_LONG,
    "string_above_max_length": ModelFault.TOO_LONG,
    "rate_limit_exceeded": ModelFault.RATE_LIMITED,
    "rate_limit_error": ModelFault.RATE_LIMITED,
    "overloaded_error": ModelFault.OVERLOADED,
    "timeout_error": ModelFault.TIMEOUT,
    "content_filter": ModelFault.REFUSED,
    "content_policy_violation": ModelFault.REFUSED,
}
# What several servers say in words alone, under a type that means nothing.
_BY_PHRASE: Final = (
    (re.compile(r"credit balance is too low|insufficient balance", re.I), ModelFault.NO_CREDIT),
    (
        re.compile(r"prompt is too long|(maximum|available|exceeds?)\b.{0,40}\bcontext|context (length|window) ", re.I),
        ModelFault.TOO_LONG,
    ),
)


def classify(status: int, body: object) -> ModelFault:
    """The fault of an error answer; ``body`` is its JSON (or None), in OpenAI's, Anthropic's or any other shape."""
    if status in (401, 403):  # whatever a gateway writes below it
        return _BY_STATUS[status]
    if status < 400:  # neither an answer nor an error: something else stands at this address
        return ModelFault.BAD_URL
    words, message = _said(body)
    named = next((_BY_WORD[word] for word in words if word in _BY_WORD), None)
    if named is not None:
        return named
    if status < 500:
        spoken = next((fault for phrase, fault in _BY_PHRASE if phrase.search(message)), None)
        if spoken is not None:
            return spoken
    return _BY_STATUS.get(status) or (ModelFault.SERVER if status >= 500 else ModelFault.BAD_REQUEST)


def classify_event(body: object) -> ModelFault:
    """The fault of an error that came after the status said 200; unknown ones are the server's."""
    words, message = _said(body)
    named = next((_BY_WORD[word] for word in words if word in _BY_WORD), None)
    spoken = next((fault for phrase, fault in _BY_PHRASE if phrase.search(message)), None)
    return named or spoken or ModelFault.SERVER


def failed(fault: ModelFault, host: str, status: int | None = None, *, wait_s: float | None = None) -> ModelFailed:
    """The failure of a call to ``host``; ``wait_s`` is how long the server asks to wait before the next."""
    row = TABLE[fault]
    named = f"HTTP {status} from {host}" if status else host
    waits = {} if wait_s is None else {"retry_after": wait_s}
    return ModelFailed(f"{named}: {row.sentence}", row.hint, fault=fault, status=status, **waits)


def transport_fault(error: Exception) -> ModelFault:
    """The fault behind an error of httpx, or of anything below it."""
    import httpx

    match error:
        case httpx.TimeoutException() | TimeoutError():
            return ModelFault.TIMEOUT
        case httpx.ConnectError() | httpx.ProxyError():
            return ModelFault.CONNECTION
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return ModelFault.BAD_URL
        case httpx.DecodingError():
            return ModelFault.BAD_ANSWER
        case _:
            return ModelFault.CUT


def fault_of(error: BaseException) -> ModelFault | None:
    """The fault a failure carries; None where it is not of a model."""
    found = error.details.get("fault") if isinstance(error, ModelFailed) else None
    return ModelFault(found) if found in list(ModelFault) else None


def is_passing(error: BaseException) -> bool:
    """Whether the same call is worth another try later without anybody changing anything."""
    return fault_of(error) in _PASSING


def is_unreachable(error: BaseException) -> bool:
    """Whether no model can be had as things are set: nobody listens, the key, the address or the account is wrong."""
    return isinstance(error, ModelUnavailable) or fault_of(error) in _UNREACHABLE


def error_body(text: str) -> object:
    """The JSON of an error answer; None where it is none."""
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body


def _said(body: object) -> tuple[list[str], str]:
    """The words of ``code`` and ``type``, the nearer first, and the message, at whatever level they stand."""
    outer = body if isinstance(body, dict) else {}
    inner = outer.get("error")
    told = inner if isinstance(inner, dict) else outer
    words = [told.get("code"), told.get("type"), outer.get("code"), outer.get("type")]
    message = inner if isinstance(inner, str) else told.get("message")
    return [word.casefold() for word in words if isinstance(word, str)], message if isinstance(message, str) else ""
