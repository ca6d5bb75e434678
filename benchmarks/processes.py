"""Runs whole processes one at a time and takes the time and CPU of each; reads nothing of what they print."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
# What would make a person's start differ from another's.
_FOREIGN = ("SPARK_", "TEXTUAL_", "PYTHON", "NO_COLOR", "COLORTERM", "LC_", "LANGUAGE")


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one process from start to end, and seconds of CPU it used."""

    wall: float
    cpu: float


def spark_tui() -> list[str]:
    """The installed command of this environment; where there is none, the module."""
    script = Path(PYTHON).with_name("spark-tui")
    return [str(script)] if script.exists() else [PYTHON, "-m", "spark_tui"]


def environment(home: Path | None = None) -> Mapping[str, str]:
    """A plain environment, the same on every machine; compiled modules are kept as they are for a person."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return kept | {"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"} | ({"SPARK_HOME": str(home)} if home else {})


def took(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Took:
    """Run one process to its end. Raises ``RuntimeError`` with its last words when it fails."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[1:]} ended with {process.returncode}: {said[-2_000:]}")
    return Took(wall, usage.ru_utime + usage.ru_stime)


def in_turn(contenders: Mapping[str, Callable[[], Took]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Every contender once a round, after one that is not counted; (wall, CPU) in seconds."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for number in range(-1, rounds):
        for name, call in contenders.items():
            one = call()
            if number >= 0:
                taken[name].append((one.wall, one.cpu))
    return taken
