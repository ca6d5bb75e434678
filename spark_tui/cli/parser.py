"""The grammar every command shares: options that work anywhere, groups that load a verb only when it is called."""

import importlib
import os
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

import click

from engine.clock import parse_day
from engine.errors import ValidationFailed
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation

Verbs = Mapping[str, tuple[str, str]]
"""Name of a verb → where it is (``module:attribute``) and its line in the help."""


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        _invocation(context).output.as_json = True


def _set_home(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        _invocation(context).home_option = value


def _set_workspace(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        _invocation(context).workspace_option = value


def _show_help(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        tell(context, {"help": context.get_help()}, context.get_help())


def tell(context: click.Context, document: dict[str, Any], text: str) -> NoReturn:
    """Answer an option that stands for a whole command (``--help``, ``--version``) and end well."""
    output = _invocation(context).output
    output.document(document) if output.as_json else output.text(text)
    context.exit(Exit.OK)


def _invocation(context: click.Context) -> Invocation:
    return context.ensure_object(Invocation)


def everywhere() -> list[click.Parameter]:
    """Fresh copies of the options that every command takes."""
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    return [
        click.Option(["--json"], is_flag=True, is_eager=True, expose_value=False, callback=_set_json,
                     help="Print one JSON document and nothing else."),
        click.Option(["--home"], type=click.Path(file_okay=False, path_type=Path), expose_value=False, is_eager=True,
                     callback=_set_home, metavar="PATH", help="Where memories and settings live (or SPARK_HOME)."),
        click.Option(["--workspace"], type=folder, expose_value=False, is_eager=True, callback=_set_workspace,
                     metavar="PATH", help="The project folder (default: the git root from here)."),
        click.Option(["--help"], is_flag=True, is_eager=True, expose_value=False, callback=_show_help,
                     help="Show this text."),
    ]  # fmt: skip


class Verb(click.Command):
    """A command that takes the options of every command."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"add_help_option": False})
        self.params += everywhere()


class LazyGroup(click.Group):
    """A group that knows its verbs by name and imports the module of one only when it is called."""

    def __init__(self, *args: Any, verbs: Verbs, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"add_help_option": False})
        self.verbs = verbs
        self.params += everywhere()

    def list_commands(self, context: click.Context) -> list[str]:
        """The verbs in the order of the contract."""
        return list(self.verbs)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The verb of this name, imported now."""
        if name not in self.verbs:
            return None
        module, _, attribute = self.verbs[name][0].partition(":")
        found: click.Command = getattr(importlib.import_module(f"spark_tui.cli.{module}"), attribute)
        return found

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, from what is written here: help imports nothing."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_place, line) in self.verbs.items()])

    def shell_complete(self, context: click.Context, incomplete: str) -> list[Any]:
        """Verbs that begin like this, then options; nothing is imported for it."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=line) for name, (_, line) in self.verbs.items() if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, context, incomplete)


class Text(click.ParamType):
    """Text a person typed: UTF-8 as terminals send it, whatever the locale says about file names."""

    name = "text"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The text as it was typed; bytes that are no UTF-8 stay as Python read them and are refused by the engine."""
        if not isinstance(value, str) or sys.getfilesystemencoding() == "utf-8":
            return value
        try:
            return os.fsencode(value).decode("utf-8")
        except UnicodeError:
            return value


class Day(click.ParamType):
    """A calendar day, ``YYYY-MM-DD``; with ``or_none`` also the word ``none``."""

    name = "day"

    def __init__(self, or_none: bool = False) -> None:
        self.or_none = or_none

    def get_metavar(self, *_: Any, **__: Any) -> str:
        """How help writes it."""
        return "YYYY-MM-DD|none" if self.or_none else "YYYY-MM-DD"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> date | str:
        """The day, or ``none``; anything else is wrong usage."""
        if isinstance(value, date) or (self.or_none and value == "none"):
            return value
        try:
            return parse_day(value)
        except ValidationFailed as error:
            self.fail(f"{error.message}; {error.hint}", parameter, context)


def words(enumeration: type) -> click.Choice[str]:
    """A choice among the values of a StrEnum, kept as plain text."""
    return click.Choice([member.value for member in enumeration], case_sensitive=True)  # type: ignore[attr-defined]
