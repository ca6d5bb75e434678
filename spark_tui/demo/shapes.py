"""Writes the JSON of an answer down the ways models write it; knows no protocol."""

import json
from collections.abc import Mapping
from typing import Any

from spark_tui.demo.steps import Say, Shape


def written(say: Say, schema: Mapping[str, Any] | None) -> str:
    """The text the model sends; ``schema`` is the JSON schema the request asked for."""
    text = say.text
    match say.shape:
        case Shape.PLAIN:
            return _as_schema_wants(text, schema) if schema else text
        case Shape.AS_IS:
            return text
        case Shape.FENCED:
            return f"```json\n{text}\n```"
        case Shape.PROSE:
            return f"Here is what I found in this turn:\n\n{text}\n\nLet me know if you need anything else."
        case Shape.WRAPPED:
            return f'{{"memories": {text}}}'
        case Shape.TRAILING_COMMA:
            return _with_trailing_commas(text)
        case Shape.SINGLE:
            return _first_alone(text)
        case Shape.EMPTY:
            return "[]"
        case Shape.BROKEN:
            return text[: max(1, len(text) * 2 // 3)]


def _as_schema_wants(text: str, schema: Mapping[str, Any]) -> str:
    """An array in the one property that a schema of an object has for it; any other text unchanged."""
    properties = schema.get("properties", {})
    arrays = [name for name, of in properties.items() if isinstance(of, dict) and of.get("type") == "array"]
    content = _parsed(text)
    if not isinstance(content, list) or schema.get("type") != "object" or len(arrays) != 1:
        return text
    return json.dumps({arrays[0]: content}, ensure_ascii=False)


def _with_trailing_commas(text: str) -> str:
    """A comma before the last bracket, and before that of the last item where the text is an array of objects."""
    content = _parsed(text)
    if not isinstance(content, list) or not content:
        stripped = text.rstrip()
        return f"{stripped[:-1]},{stripped[-1:]}"
    items = (json.dumps(item, ensure_ascii=False) for item in content)
    commaed = (f"{item[:-1]},{item[-1]}" if item[-1] in "]}" and len(item) > 2 else item for item in items)
    return "[\n" + "".join(f"  {item},\n" for item in commaed) + "]"


def _first_alone(text: str) -> str:
    content = _parsed(text)
    alone = content[0] if isinstance(content, list) and content else content
    return text if alone is None else json.dumps(alone, ensure_ascii=False)


def _parsed(text: str) -> object:
    try:
        content: object = json.loads(text)
    except ValueError:
        return None
    return content
