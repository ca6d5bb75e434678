"""Runs the real command in a process of its own and reads its one JSON document; knows nothing of how it is built."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Command:
    """``spark-tui`` as a person or script starts it, from ``folder`` and with ``environment`` on top of the test's."""

    def __init__(self, program: Sequence[str | Path], folder: Path, **environment: str) -> None:
        self._program = [str(part) for part in program]
        self._folder = folder
        self._environment = environment

    def text(self, *arguments: str) -> str:
        """What it printed; fails unless it ended well."""
        done = subprocess.run(
            [*self._program, *arguments],
            cwd=self._folder,
            env={**os.environ, **self._environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def json(self, *arguments: str) -> Any:
        """The document it printed with ``--json``."""
        return json.loads(self.text(*arguments, "--json"))


def remember_and_find_again(command: Command) -> None:
    """Add a memory, list it, search it and see it in the block an agent would get."""
    words = [
        "--name",
        "deploy-window",
        "--description",
        "Deploys happen on Tuesday mornings",
        "--body",
        "Never on Friday.",
    ]
    added = command.json("memory", "add", "--scope", "user", "--type", "feedback", *words)
    entry = added["entry"]["id"]
    listed = command.json("memory", "list")
    assert [each["id"] for each in listed["entries"]] == [entry]
    found = command.json("memory", "search", "deploys on Tuesday")
    assert found["status"] == "matched"
    assert entry in [hit["entry"]["id"] for hit in found["hits"]]
    injected = command.json("inject", "--prompt", "when do we deploy?")
    assert injected["injected"] == [entry]
    assert "Deploys happen on Tuesday mornings" in injected["block"]
