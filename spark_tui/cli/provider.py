"""provider add, list, test, set-default, remove: whose models answer; prints names, places and findings, never a key."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from engine.config import Settings
from engine.settings_providers import CLI_KINDS, KEYED_KINDS, ProviderKind
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.output import read_stdin
from spark_tui.cli.parser import LazyGroup, Text, Verb, words
from spark_tui.cli.person import person_only
from spark_tui.text.i18n import _

VERBS = {
    "add": ("provider:add", "Name an endpoint or an agent program whose models may be asked."),
    "offers": ("provider_offers:offers", "Look for model servers and agent programs on this machine."),
    "list": ("provider:list_", "Every provider: where it is, where its key is, what it can do."),
    "test": ("provider_trial:trial", "Ask one real question and find out what the model can do."),
    "set-default": ("provider:set_default", "Use a provider where nothing else is chosen."),
    "remove": ("provider:remove", "Forget a provider and its stored key."),
}


@click.group(cls=LazyGroup, verbs=VERBS)
def provider() -> None:
    """Endpoints and agent programs whose models answer; kept in config.toml."""


@click.command(cls=Verb)
@click.argument("name", type=Text())
@click.option("--kind", type=words(ProviderKind), required=True, help="The protocol it speaks.")
@click.option("--base-url", default="", help="Where it is; anthropic, openai, deepseek and ollama have one.")
@click.option("--api-key-env", default="", metavar="VAR", help="The environment variable that holds its key.")
@click.option("--model", "models", multiple=True, type=Text(), help="A model it has, the usual one first.")
@click.option("--key-stdin", is_flag=True, help="Read the key from standard input into keyring or a file of yours.")
@click.pass_obj
@person_only
def add(
    invocation: Invocation,
    name: str,
    kind: str,
    base_url: str,
    api_key_env: str,
    models: tuple[str, ...],
    key_stdin: bool,
) -> None:
    """Add the provider NAME; a key is never given as an argument, where other users could see it."""
    if api_key_env and key_stdin:
        raise click.UsageError("--api-key-env and --key-stdin cannot be used together")
    from engine.providers.registry import NewProvider, Registry

    settings = Settings.load(invocation.home.config)
    registry = Registry(settings)
    key = _key(invocation) if key_stdin else None
    place = registry.add(NewProvider(name, kind, base_url, api_key_env, models, key))
    from spark_tui.cli.provider_shapes import provider_json

    told = provider_json(registry.get(name), settings, invocation.home)
    if invocation.as_json:
        invocation.output.document({"ok": True, "provider": told})
        return
    from spark_tui.cli.provider_rows import key_place, speak

    speak(settings)
    invocation.output.line(_("{name} added; its key: {place}").format(name=name, place=key_place(place)))
    missing = _missing(told["key"], kind)
    if missing:
        invocation.output.note(missing, "warning")
    elif models or kind in CLI_KINDS:
        invocation.output.note(_("next: spark-tui provider test {name}").format(name=name))
    else:
        invocation.output.note(_("next: spark-tui provider test {name} --model MODEL").format(name=name))


def _missing(key: Mapping[str, Any], kind: str) -> str:
    """What a provider still needs before it can be asked; empty where nothing is known to be missing."""
    if key["from"] == "none" and kind in KEYED_KINDS:
        return _("it needs a key: remove it, and add it again with --api-key-env VAR or --key-stdin")
    if key["from"] == "environment" and not key["present"]:
        return _("that variable is not set here: export it wherever spark-tui is started")
    return str(key.get("problem", ""))


@click.command("list", cls=Verb)
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """Every provider with its kind, models, the place of its key, and what its last test found."""
    from engine.providers.registry import Registry
    from spark_tui.cli.provider_shapes import provider_json

    settings = Settings.load(invocation.home.config)
    registry = Registry(settings)
    told = [provider_json(each, settings, invocation.home) for each in registry.all()]
    name, model = registry.default()
    if invocation.as_json:
        default = {"provider": name, "model": model} if name else None
        problems = [each for each in settings.problems if each.startswith("providers.")]
        invocation.output.document({"providers": told, "default": default, "problems": problems})
        return
    from spark_tui.cli.provider_rows import provider_rows, speak

    speak(settings)
    invocation.output.rows(provider_rows(told, invocation.output.width))
    if not told:
        invocation.output.note(
            _("no provider yet: spark-tui provider offers looks on this machine, provider add --help")
        )
    if name:
        invocation.output.line(_("default: {model}").format(model=f"{name} {model}".strip()), "dim")
    for problem in (*settings.problems, *_unusable(told)):
        invocation.output.note(problem, "warning")


def _unusable(told: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why stored keys cannot be used; a variable that is not set is told in its row."""
    keys = [each["key"] for each in told if each["key"]["from"] in ("keyring", "file")]
    return [key["problem"] for key in keys if "problem" in key]


@click.command("set-default", cls=Verb)
@click.argument("name", type=Text())
@click.option("--model", default="", type=Text(), help="Its model; without one its first.")
@click.pass_obj
@person_only
def set_default(invocation: Invocation, name: str, model: str) -> None:
    """Use NAME where nothing else is chosen, for extraction outside a conversation of its own."""
    from engine.providers.registry import Registry

    settings = Settings.load(invocation.home.config)
    chosen = Registry(settings).set_default(name, model)
    if invocation.as_json:
        invocation.output.document({"ok": True, "provider": name, "model": chosen})
        return
    from spark_tui.cli.provider_rows import speak

    speak(settings)
    shown = f"{name} {chosen}".strip()
    invocation.output.line(_("{model} answers where nothing else is chosen").format(model=shown))


@click.command(cls=Verb)
@click.argument("name", type=Text())
@click.option("--force", is_flag=True, help="Also unset the settings that name it.")
@click.pass_obj
@person_only
def remove(invocation: Invocation, name: str, force: bool) -> None:
    """Forget the provider NAME, its stored key and what its tests found."""
    from engine.providers.findings import forget_probe
    from engine.providers.registry import Registry

    settings = Settings.load(invocation.home.config)
    unset = Registry(settings).remove(name, force=force)
    forget_probe(invocation.home, name)
    if invocation.as_json:
        invocation.output.document({"ok": True, "removed": name, "unset": list(unset)})
        return
    from spark_tui.cli.provider_rows import speak

    speak(settings)
    invocation.output.line(_("{name} removed").format(name=name))
    if unset:
        invocation.output.note(_("no longer set: {keys}").format(keys=", ".join(unset)))


def _key(invocation: Invocation) -> str:
    """The key from a pipe, or typed unseen on a terminal."""
    if invocation.output.can_ask():
        import getpass

        return getpass.getpass("key (not shown): ", stream=sys.stderr)
    return read_stdin().decode("utf-8", "replace")
