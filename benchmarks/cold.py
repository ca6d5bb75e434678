"""Whole commands from start to end, each a process of its own, beside bare Pythons."""

from collections.abc import Iterator
from functools import partial

from benchmarks import homes
from benchmarks.figures import Figure, Goal, figure
from benchmarks.processes import PYTHON, environment, in_turn, spark_tui, took
from benchmarks.setting import Setting
from benchmarks.timing import timed

SIZE = 350
GOAL = Goal(times=2.5, plus=150)
BARE = {"python -c pass": ["-c", "pass"], 'python -c "import sqlite3"': ["-c", "import sqlite3"]}
WITH_SQLITE = 'python -c "import sqlite3"'
VERBS = {
    "--version": ["--version"],
    "memory list": ["memory", "list"],
    "memory search, words alone": ["memory", "search", "deployments", "on", "Tuesday", "团队"],
}
JUDGED = "memory search, words alone"
MODEL_VERB = {"memory search, with the embedded model": VERBS[JUDGED]}


def run(setting: Setting) -> Iterator[Figure | str]:
    """Words alone and then with the model, whose load is part of the second."""
    (size,) = setting.sizes(SIZE)
    place = homes.built(setting.folder, size)
    environ = environment(place.home.root)
    for embedding, verbs in (("none", VERBS), ("", MODEL_VERB)):
        place.open(embedding=embedding).close()
        commands = {name: [PYTHON, *arguments] for name, arguments in BARE.items()}
        commands |= {name: [*spark_tui(), *arguments] for name, arguments in verbs.items()}
        calls = {name: partial(took, command, place.project, environ) for name, command in commands.items()}
        taken = {name: timed(pairs) for name, pairs in in_turn(calls, setting.either(20, 3)).items()}
        for name in verbs:
            reference = (WITH_SQLITE, taken[WITH_SQLITE])
            yield figure(
                f"spark-tui {name}, {size:,} entries", taken[name], reference, GOAL if name == JUDGED else None
            )
    yield figure(WITH_SQLITE, taken[WITH_SQLITE], ("python -c pass", taken["python -c pass"]))
