"""One memory written, beside the least that is durable: a synced file, a rename and one SQLite commit."""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import apsw

from benchmarks import homes
from benchmarks.figures import Figure, Goal, figure
from benchmarks.homes import Place
from benchmarks.setting import Setting
from benchmarks.timing import interleaved
from engine.memory.model import Changes, Draft, MemoryType, Scope
from engine.runtime import Engine
from engine.storage.connection import PRAGMAS
from engine.storage.files import sync_folder

SIZES = (100, 10_000)
GOAL = Goal(times=3)
BODY = "Written to be measured.\n\n为测量而写。" * 8


def run(setting: Setting) -> Iterator[Figure | str]:
    """Adding and editing a memory of the user layer; half of a home's memories lie there."""
    for size in setting.sizes(*SIZES):
        place = homes.built(setting.folder, size)
        with place.open() as engine:
            yield from _figures(engine, place, size, setting.either(60, 6))


def _figures(engine: Engine, place: Place, size: int, rounds: int) -> Iterator[Figure]:
    added: list[str] = []

    def add(number: int) -> None:
        added.append(engine.store.add(_draft(number)).id)

    def edit(number: int) -> None:
        engine.store.edit(added[-1], Changes(description=f"measured again, the {number}. time, 又量了一遍"))

    bare = _Bare(place.home.root.parent / "bare")
    contenders = {"add": add, "edit": edit, "bare": bare.commit, "synced": bare.commit_with_folder}
    try:
        taken = interleaved(contenders, rounds, warm_up=2)
    finally:
        engine.store.delete(added)
        bare.close()
    least = ("write + fsync + rename + SQLite commit", taken["bare"])
    for verb in ("add", "edit"):
        yield figure(f"store.{verb}, {size:,} entries", taken[verb], least, GOAL)
    yield figure("the reference and the folder synced as well", taken["synced"], least)


def _draft(number: int) -> Draft:
    return Draft(
        scope=Scope.USER,
        type=MemoryType.USER,
        name=f"measured-{number + 10}",
        description=f"the {number}. memory written to be measured, 为测量而写的第 {number} 条",
        body=BODY,
        entities=("spark", "计量"),
    )


class _Bare:
    """A file and a row, durable, and nothing more."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._numbers = count()
        self._connection = apsw.Connection(str(folder / "bare.db"))
        for pragma in PRAGMAS:
            list(self._connection.execute(pragma))
        self._connection.execute("CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, body TEXT)")

    def commit(self, _round: int) -> None:
        self._write(lambda: None)

    def commit_with_folder(self, _round: int) -> None:
        """A rename alone may be forgotten in a power cut; the store syncs the folder, so this is the fairer half."""
        self._write(lambda: sync_folder(self._folder))

    def close(self) -> None:
        self._connection.close()

    def _write(self, after_rename: Callable[[], None]) -> None:
        target = self._folder / f"{next(self._numbers)}.md"
        staged = target.with_suffix(".tmp")
        with open(staged, "xb") as out:
            out.write(BODY.encode())
            out.flush()
            os.fsync(out.fileno())
        os.replace(staged, target)
        after_rename()
        self._connection.execute("INSERT INTO entry(body) VALUES (?)", (BODY,))
