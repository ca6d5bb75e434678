"""What a JSON schema promises, as providers ask it of one before they follow it to the letter."""

from collections.abc import Mapping


def is_closed(schema: object) -> bool:
    """Whether every object in it names all properties it may have; Anthropic's structured output demands that."""
    return all(each.get("additionalProperties") is False for each in _objects(schema))


def is_strict(schema: object) -> bool:
    """Whether it is closed and every property is required; OpenAI's strict mode demands that."""
    return is_closed(schema) and all(_requires_all(each) for each in _objects(schema))


def is_object(schema: object) -> bool:
    """Whether what it describes is an object; the input of a tool must be one."""
    return isinstance(schema, Mapping) and schema.get("type") == "object"


def _objects(schema: object) -> list[Mapping[str, object]]:
    if isinstance(schema, list | tuple):
        return [found for each in schema for found in _objects(each)]
    if not isinstance(schema, Mapping):
        return []
    here = [schema] if isinstance(schema.get("properties"), Mapping) else []
    return here + [found for each in schema.values() for found in _objects(each)]


def _requires_all(each: Mapping[str, object]) -> bool:
    properties, required = each["properties"], each.get("required", ())
    return isinstance(properties, Mapping) and isinstance(required, list | tuple) and set(properties) <= set(required)
