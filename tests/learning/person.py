"""A person at the command line with a scripted model behind it: what they type, and what the program shows of a fault."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.paths import Home, find_home
from engine.runtime import Engine, open_engine
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Say
from tests.cli.conftest import NO_VECTORS, Cli
from tests.cli.conftest import cli as cli
from tests.cli.conftest import project as project
from tests.learning.conftest import EXTRACTS
from tests.providers.scripted import provider_config

Row = dict[str, str]


class Person:
    """Everything goes through commands; ``log`` and ``doctor`` are what they look at when something is missing."""

    def __init__(self, cli: Cli, server: ModelServer, desk: Path) -> None:
        self.cli = cli
        self.server = server
        self.desk = desk
        self.home: Home = find_home(cli.home)
        self.configure(NO_VECTORS + "extractionProviderId = 'mine'\n" + provider_config(server))

    def configure(self, text: str) -> None:
        """Write the settings file."""
        (self.cli.home / "config.toml").write_text(text, "utf-8")

    def turn(self, *items: object, code: int = 0, at: str = "", **said: str) -> Any:
        """A finished turn in which the model finds these items, learned from at once."""
        self.server.script.when(EXTRACTS, Say(json.dumps(list(items), ensure_ascii=False)), times=1)
        where = ("--workspace", at) if at else ()
        return self.cli.json(*where, *self.submit(**said), "--wait", code=code)

    def submit(
        self, user: str = "I said so", assistant: str = "Noted.", context: str = "", session: str = "", turn: str = ""
    ) -> tuple[str, ...]:
        """The words of the command that hands a turn over; its texts lie in files."""
        words = ["turn", "submit"]
        for name, text in (("user", user), ("assistant", assistant), ("context", context)):
            path = self.desk / f"{name}.txt"
            path.write_text(text, "utf-8")
            words += [f"--{name}-file", str(path)]
        return (*words, *(("--session", session) if session else ()), *(("--turn", turn) if turn else ()))

    def doctor(self, row: str) -> Row:
        """One row of a diagnosis."""
        found: dict[str, Row] = {each["id"]: each for each in self.cli.run("doctor", "--json").json["rows"]}
        return found[row]

    def names(self, *more: str) -> list[str]:
        """What is remembered and active, or as the options say."""
        return sorted(each["name"] for each in self.cli.json("memory", "list", *more)["entries"])

    def hits(self, *words: str) -> list[str]:
        """The names a search finds, best first."""
        return [each["entry"]["name"] for each in self.cli.json("memory", "search", *words)["hits"]]

    @property
    def log(self) -> str:
        """The log at its default level."""
        return self.home.log.read_text("utf-8")

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The engine an agent's door opens."""
        with open_engine(self.home, self.cli.project) as engine:
            yield engine


@pytest.fixture
def person(cli: Cli, tmp_path: Path) -> Iterator[Person]:
    """Somebody whose home has one provider, chosen for extraction, and searches by words."""
    desk = tmp_path / "desk"
    desk.mkdir()
    with ModelServer() as server:
        yield Person(cli, server, desk)


__all__ = ["Person", "cli", "person", "project"]
