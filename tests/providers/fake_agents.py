"""Programs named ``claude`` and ``codex`` in a folder of PATH: they write down how they were called and say what a test wants."""

import json
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python} -IS
import json, os, sys, time
folder = {folder!r}
with open(os.path.join(folder, "calls"), "a", encoding="utf-8") as calls:
    call = dict(argv=sys.argv[1:], stdin=sys.stdin.buffer.read().decode("utf-8"), env=dict(os.environ), cwd=os.getcwd(),
                files={{name: open(name, encoding="utf-8").read() for name in os.listdir()}}, pid=os.getpid())
    calls.write(json.dumps(call) + "\\n")
for unknown, told in {unknown!r}:
    if unknown in sys.argv:
        sys.stderr.write(told + "\\n")
        sys.exit(1)
{body}
sys.stdout.write({out!r})
sys.stderr.write({err!r})
sys.exit({code})
"""


@dataclass(frozen=True)
class Call:
    """How a program was called once."""

    argv: list[str]
    stdin: str
    env: dict[str, str]
    cwd: str
    files: dict[str, str]
    pid: int


class FakeAgents:
    """The folder with the programs, and the environment that finds them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    @property
    def environ(self) -> dict[str, str]:
        """The environment of the test with nothing else on PATH."""
        return {**os.environ, "PATH": str(self.folder)}

    def program(
        self,
        name: str,
        out: str = "",
        *,
        err: str = "",
        code: int = 0,
        body: str = "",
        unknown: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Write a program; ``unknown``: options it refuses, and in what words. ``body`` is more Python of it."""
        path = self.folder / name
        given = {"python": sys.executable, "folder": str(self.folder), "unknown": list(unknown)}
        path.write_text(_PROGRAM.format(**given, out=out, err=err, code=code, body=body), "utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def calls(self) -> list[Call]:
        """All calls of all programs, in their order."""
        path = self.folder / "calls"
        return [Call(**json.loads(line)) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def claude_result(said: str, **more: Any) -> str:
    """What ``claude -p --output-format json`` prints, without what nobody reads."""
    usage = {"input_tokens": 12, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 7}
    models = {"claude-small": {"outputTokens": 1}, "claude-big": {"outputTokens": 7}}
    document = {
        "type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "num_turns": 1,
        "result": said, "stop_reason": "end_turn", "usage": usage, "modelUsage": models,
    }  # fmt: skip
    return json.dumps(document | more)


def codex_events(*said: str, end: dict[str, Any] | None = None) -> str:
    """What ``codex exec --json`` prints: a warning, some reasoning, these messages, and how the turn ended."""
    usage = {"input_tokens": 50, "cached_input_tokens": 30, "cache_write_input_tokens": 5, "output_tokens": 9}
    items = [{"type": "error", "message": "Codex is ignoring a setting."}, {"type": "reasoning", "text": "let me see"}]
    items += [{"type": "agent_message", "text": text} for text in said]
    events: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "x"}, {"type": "turn.started"}]
    events += [{"type": "item.completed", "item": {"id": f"item_{at}", **item}} for at, item in enumerate(items)]
    events.append(end or {"type": "turn.completed", "usage": usage})
    return "".join(f"{json.dumps(event)}\n" for event in events)
