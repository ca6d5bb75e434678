"""Reads values out of JSON that a server sent: whatever is of another type counts as absent, nothing raises."""

import json
from collections.abc import Mapping


class NotJson(ValueError):
    """What arrived is no JSON; keeps none of it."""


def parsed(text: str | bytes) -> object:
    """The JSON value of a text. Raises ``NotJson``."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        raise NotJson from None
    return value


def mapping(value: object) -> Mapping[str, object]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """The text, or the texts of an array of parts; half a surrogate pair, which nothing can store, becomes ``?``."""
    if isinstance(value, list):
        return "".join(text(mapping(part).get("text")) for part in value)
    return storable(value) if isinstance(value, str) else ""


def storable(value: str) -> str:
    """The text with every half of a surrogate pair replaced, so that it has UTF-8."""
    return value.encode("utf-8", "replace").decode("utf-8")


def count(value: object) -> int:
    """The number of tokens, or 0 where it is no such number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
