"""provider offers: what is on this machine, and the command that accepts it."""

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def test_an_agent_program_on_the_path_is_offered_and_its_command_accepts_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    offers = cli.json("provider", "offers")["offers"]
    mine = [each for each in offers if each["kind"] == "claude-cli"]
    assert len(mine) == 1
    words = shlex.split(mine[0]["accept"])
    assert words[0] == "spark-tui"
    assert cli.json(*words[1:])["ok"]
    assert [each["name"] for each in cli.json("provider", "list")["providers"]] == [mine[0]["name"]]


def test_people_are_told_the_command_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "provider add" in cli.run("provider", "offers").out
