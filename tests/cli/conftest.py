"""The command as a test runs it: in this process, on a home and a project of the test's own, words-only search."""

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spark_tui.cli.main import main

NO_VECTORS = "[memory]\nembeddingProviderId = 'none'\n"


@dataclass(frozen=True)
class Done:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout; anything beside it fails here."""
        return json.loads(self.out)


class Cli:
    """Runs commands one after the other on one home."""

    def __init__(
        self, home: Path, project: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        self.home = home
        self.project = project
        self._capsys = capsys
        self._patch = patch

    def run(self, *arguments: str, stdin: bytes = b"") -> Done:
        """One command, whatever its end; standard input is no terminal."""
        self._capsys.readouterr()
        with self._patch.context() as patched:
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            code = main(arguments)
        out, err = self._capsys.readouterr()
        return Done(code, out, err)

    def json(self, *arguments: str, code: int = 0, stdin: bytes = b"") -> Any:
        """The document of a command that ends as expected; its stderr stays empty."""
        done = self.run(*arguments, "--json", stdin=stdin)
        assert done.code == code, done
        assert done.err == ""
        return done.json

    def add(self, name: str, description: str = "prefers short answers", *more: str, scope: str = "user") -> str:
        """A memory of type user; answers its id."""
        words = ("--scope", scope, "--type", "user", "--name", name, "--description", description)
        return str(self.json("memory", "add", *words, *more)["entry"]["id"])

    def file(self, entry_id: str) -> Path:
        """The file of a user memory."""
        return self.home / "memory" / "user" / f"{entry_id}.md"

    def shown(self, entry_id: str) -> dict[str, Any]:
        """What ``memory show`` says of an entry."""
        found: dict[str, Any] = self.json("memory", "show", entry_id)
        return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder."""
    folder = tmp_path / "projects" / "alpha"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def cli(home_dir: Path, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command, standing in the project."""
    home_dir.mkdir(mode=0o700)
    (home_dir / "config.toml").write_text(NO_VECTORS, encoding="utf-8")
    monkeypatch.chdir(project)
    return Cli(home_dir, project, capsys, monkeypatch)
