"""The whole command ``memory reindex`` on a home whose database is gone, beside reading the same files once."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import homes
from benchmarks.figures import Figure, Goal, figure
from benchmarks.homes import Place
from benchmarks.processes import Took, environment, in_turn, spark_tui, took
from benchmarks.setting import Setting
from benchmarks.timing import timed

SIZE = 10_000
GOAL = Goal(plus=20_000)


def run(setting: Setting) -> Iterator[Figure | str]:
    """Without vectors, as the command does it by default."""
    (size,) = setting.sizes(SIZE)
    place = homes.built(setting.folder, size)
    files = [path for folder in _folders(place) for path in sorted(folder.glob("*_*.md"))]
    calls = {"reindex": lambda: _reindex(place), "read": lambda: _read(files)}
    taken = {name: timed(pairs) for name, pairs in in_turn(calls, setting.either(3, 1)).items()}
    yield figure(
        f"memory reindex, {len(files):,} files, no vectors",
        taken["reindex"],
        ("read, hash and parse the YAML of each", taken["read"]),
        GOAL,
    )


def _folders(place: Place) -> list[Path]:
    home = place.home
    return [home.memory_user, place.project / ".spark-agent" / "memory", *home.memory_agents.iterdir()]


def _reindex(place: Place) -> Took:
    for path in place.home.root.glob(f"{place.home.database.name}*"):
        path.unlink()
    return took([*spark_tui(), "memory", "reindex"], place.project, environment(place.home.root))


def _read(files: list[Path]) -> Took:
    """What no implementation can do without, with the YAML parser in C."""
    import yaml

    wall, cpu = time.perf_counter(), time.process_time()
    for path in files:
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        yaml.load(data.split(b"---\n", 2)[1], yaml.CSafeLoader)
    return Took(time.perf_counter() - wall, time.process_time() - cpu)
