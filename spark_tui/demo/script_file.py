"""Reads a script from JSON: the same steps as in Python, named in small letters; refuses what it does not know."""

import dataclasses
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, get_args, get_origin, get_type_hints

from spark_tui.demo.steps import Say, Step, When

_NAMES: Final = {"".join(f"_{c.lower()}" if c.isupper() else c for c in k.__name__)[1:]: k for k in get_args(Step)}
_OPTIONS: Final = {"api_key": str, "models": list, "refuses": list, "port": int}
_PARTS: Final = ("steps", "rules", "default")


class ScriptError(ValueError):
    """A script that cannot be read; the message says where and what."""


def options_of(text: str) -> dict[str, Any]:
    """The arguments for a ``ModelServer`` that a script file asks for. Raises ``ScriptError``.

    ``{"steps": [STEP…], "rules": [{"when": TEXT or [TEXT…], "answer": STEP, "times": N}], "default": STEP,
    "api_key": …, "models": […], "refuses": […]}``; a list alone is the steps. A STEP is a text, or
    ``{"step": "say", "text": …}`` with the fields of its class; ``text`` may be JSON itself.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ScriptError(f"not JSON: {error}") from None
    given = {"steps": content} if isinstance(content, list) else _object(content, "the script")
    if unknown := set(given).difference(_OPTIONS, _PARTS):
        raise ScriptError(f"unknown: {', '.join(sorted(unknown))}")
    for name in set(given).intersection(_OPTIONS):
        if not isinstance(given[name], _OPTIONS[name]):
            raise ScriptError(f"{name} is no {_OPTIONS[name].__name__}")
    options = {name: given[name] for name in _OPTIONS if name in given}
    options["steps"] = [step_of(each, f"steps[{at}]") for at, each in enumerate(_list(given, "steps"))]
    options["rules"] = [_rule(each, f"rules[{at}]") for at, each in enumerate(_list(given, "rules"))]
    return options | ({"default": step_of(given["default"], "default")} if "default" in given else {})


def step_of(given: object, place: str) -> Step:
    """One step; ``place`` is said when it is none. Raises ``ScriptError``."""
    if isinstance(given, str):
        return Say(given)
    fields = _object(given, place)
    kind = _NAMES.get(str(fields.pop("step", "")))
    if kind is None:
        raise ScriptError(f"{place}: step is one of {', '.join(_NAMES)}")
    if "text" in fields and not isinstance(fields["text"], str):
        fields["text"] = json.dumps(fields["text"], ensure_ascii=False)
    if "answer" in fields:
        fields["answer"] = _say(fields["answer"], f"{place}.answer")
    step: Step = _made(kind, fields, place)
    return step


def _say(given: object, place: str) -> Say:
    step = step_of({"step": "say"} | given if isinstance(given, dict) else given, place)
    if not isinstance(step, Say):
        raise ScriptError(f"{place}: only what is said can stand in another step")
    return step


def _rule(given: object, place: str) -> When:
    fields = _object(given, place)
    when = fields.pop("when", None)
    texts = [when] if isinstance(when, str) else when
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) for each in texts):
        raise ScriptError(f"{place}: when is a text or a list of texts")
    answer = step_of(fields.pop("answer", "[]"), f"{place}.answer")
    rule: When = _made(When, fields | {"contains": tuple(texts), "answer": answer}, place)
    return rule


def _made(kind: type, fields: Mapping[str, Any], place: str) -> Any:
    """A step or rule of checked fields; words are turned into their enumeration."""
    types = get_type_hints(kind)
    checked = {}
    for name, value in fields.items():
        if name not in types:
            raise ScriptError(f"{place}: {kind.__name__} has no {name}; it has {', '.join(types)}")
        checked[name] = _value(value, types[name], f"{place}.{name}")
    missing = [f.name for f in dataclasses.fields(kind) if f.name not in checked and f.default is dataclasses.MISSING]
    if missing:
        raise ScriptError(f"{place}: {', '.join(missing)} is missing")
    return kind(**checked)


def _value(value: object, of: Any, place: str) -> object:
    kinds = [get_origin(each) or each for each in (get_args(of) or (of,))]
    if isinstance(value, bool) and bool not in kinds:
        raise ScriptError(f"{place} cannot be {json.dumps(value)}")
    for kind in kinds:
        if issubclass(kind, StrEnum) and value in list(kind):
            return kind(value)
        if not issubclass(kind, StrEnum) and isinstance(value, (int, float) if kind is float else kind):
            return value
    raise ScriptError(f"{place} cannot be {json.dumps(value)}")


def _object(given: object, place: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ScriptError(f"{place} is no object")
    return dict(given)


def _list(given: Mapping[str, Any], name: str) -> list[Any]:
    found = given.get(name, [])
    if not isinstance(found, list):
        raise ScriptError(f"{name} is no list")
    return found
