"""settings list, get, set, unset, rebuild-vectors: the settings file of the home, one key at a time."""

from typing import Any

import click

from engine.config import QUOTA, Settings, setting
from engine.settings_table import SCOPES, Setting, Value
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import LazyGroup, Text, Verb
from spark_tui.cli.person import person_only
from spark_tui.cli.vectors import fill_shown

VERBS = {
    "list": ("settings:list_", "Every setting with its value."),
    "get": ("settings:get", "One setting: value, default, allowed range."),
    "set": ("settings:set_", "Give a setting a value."),
    "unset": ("settings:unset", "Go back to the default."),
    "test-extraction": ("settings:test_extraction", "Ask the model that extracts memories, once, for real."),
    "rebuild-vectors": ("settings:rebuild_vectors", "Make every vector of the index anew."),
}
EFFECT = "takes effect at the next turn (external agents: at their next session)"


@click.group(cls=LazyGroup, verbs=VERBS)
def settings() -> None:
    """Settings of this home, kept in config.toml."""


@click.command("list", cls=Verb)
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """Every setting with the value in force; values that are not the default are marked."""
    found = Settings.load(invocation.home.config)
    if invocation.as_json:
        told = [_told(found, each, value) for each, value in found.items()]
        invocation.output.document({"settings": told, "problems": list(found.problems)})
        return
    from spark_tui.cli.upkeep_rows import setting_rows

    rows = [(each.key, _written(value), found.is_set(each.key), each.meaning) for each, value in found.items()]
    invocation.output.rows(setting_rows(rows, invocation.output.width))
    _tell_problems(invocation, found)


@click.command(cls=Verb)
@click.argument("key")
@click.pass_obj
def get(invocation: Invocation, key: str) -> None:
    """The value of KEY."""
    found = Settings.load(invocation.home.config)
    value = _value(found, key)
    if invocation.as_json:
        told = {"key": key, "value": value} if key == QUOTA else _told(found, setting(key), found.get(key))
        invocation.output.document(told)
        return
    invocation.output.text(_written(value))
    _tell_problems(invocation, found)


@click.command("set", cls=Verb)
@click.argument("key")
@click.argument("value", type=Text())
@click.pass_obj
@person_only
def set_(invocation: Invocation, key: str, value: str) -> None:
    """Give KEY the value VALUE; memory.quota takes an object like {"user": 100}."""
    found = Settings.load(invocation.home.config)
    if key == "memory.embeddingProviderId":
        _check_embedding_provider(found, value)
    found.set(key, value)
    _tell_change(invocation, found, key)


@click.command(cls=Verb)
@click.argument("key")
@click.pass_obj
@person_only
def unset(invocation: Invocation, key: str) -> None:
    """Take KEY out of the file, so that its default is in force."""
    found = Settings.load(invocation.home.config)
    found.unset(key)
    _tell_change(invocation, found, key)


@click.command("test-extraction", cls=Verb)
@click.pass_obj
def test_extraction(invocation: Invocation) -> int:
    """One real call on a made-up turn: who answered, how fast, and what it would have looked at; nothing is stored."""
    from spark_tui.text.i18n import _
    from spark_tui.text.safe import one_line

    with invocation.engine(refresh=False) as engine:
        told = engine.try_extraction()
        if invocation.as_json:
            invocation.output.document({
                "ok": told.readable,
                "provider": told.provider,
                "model": told.model,
                "latency_ms": told.latency_ms,
                "sample": told.sample,
                "names": list(told.names),
            })  # fmt: skip
            return Exit.OK if told.readable else Exit.FAILED
        invocation.speak(engine)
        out = invocation.output
        out.line(
            _("{provider} {model} answered in {ms} ms").format(
                provider=told.provider, model=told.model, ms=told.latency_ms
            ),
            "good" if told.readable else "warning",
        )
        out.line(one_line(told.sample), "dim")
        if not told.readable:
            out.line(_("that is no list of memories; another model may do better"), "warning")
        elif told.names:
            out.line(_("it would look at: {names}").format(names=", ".join(told.names)))
        else:
            out.line(_("it found nothing worth keeping in the sample"), "warning")
        return Exit.OK if told.readable else Exit.FAILED


@click.command("rebuild-vectors", cls=Verb)
@click.pass_obj
def rebuild_vectors(invocation: Invocation) -> None:
    """Forget every vector and make them again with the model that is set."""
    with invocation.engine() as engine:
        engine.database.check_writable()
        engine.embeddings.rebuild()
        done, total = fill_shown(invocation, engine)
        model = engine.embeddings.state().model
        if invocation.as_json:
            invocation.output.document({"ok": True, "model": model, "done": done, "total": total})
        elif model is None:
            invocation.output.line("no embedding model is set; search uses words only", "warning")
        else:
            invocation.output.line(f"{done} of {total} vectors by {model}")


def _check_embedding_provider(found: Settings, name: str) -> None:
    from engine.providers.choice import LOCAL, NONE, checked_embedding_provider

    if name not in ("", LOCAL, NONE):
        checked_embedding_provider(found, name)


def _tell_change(invocation: Invocation, found: Settings, key: str) -> None:
    value = _value(found, key)
    if invocation.as_json:
        invocation.output.document({"ok": True, "key": key, "value": value, "note": EFFECT})
        return
    invocation.output.line(f"{key} = {_written(value)}")
    invocation.output.note(EFFECT)


def _tell_problems(invocation: Invocation, found: Settings) -> None:
    for problem in found.problems:
        invocation.output.note(problem, "warning")


def _value(found: Settings, key: str) -> Any:
    if key == QUOTA:
        return {scope: found.get(f"{QUOTA}.{scope}") for scope in SCOPES}
    return found.get(key)


def _told(found: Settings, each: Setting, value: Value) -> dict[str, Any]:
    return {
        "key": each.key,
        "value": value,
        "default": each.default,
        "is_set": found.is_set(each.key),
        "allowed": each.allowed,
        "meaning": each.meaning,
    }


def _written(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
