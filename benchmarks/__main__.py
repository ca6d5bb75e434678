"""Runs all or the named benchmarks, prints each figure beside its reference and goal, writes ``results.json``."""

import argparse
import importlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from benchmarks.figures import Figure, document, row, table
from benchmarks.setting import Setting
from benchmarks.timing import pace

# In this order: the one that takes a home's database away comes after those that read it.
SUBJECTS = ("search", "inject", "cold", "tui", "commit", "reindex", "retrieval")
RESULTS = Path(__file__).with_name("results.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Always 0: a missed goal is something to read, not a failed test."""
    wanted = _parsed(arguments)
    with _folder(wanted.folder) as folder:
        setting = Setting(folder, wanted.quick, wanted.most)
        subjects = {name: _run(name, setting) for name in wanted.names or SUBJECTS}
    told = {"machine": _machine(), "quick": wanted.quick, "subjects": subjects}
    wanted.results.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    missed = [each["what"] for subject in subjects.values() for each in subject["figures"] if each["met"] is False]
    print(f"{len(missed)} goals missed" + "".join(f"\n  {what}" for what in missed))
    return 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="no home of more than N memories")
    parser.add_argument("--folder", type=Path, help="keep the homes here and use them again; must lie on a real disk")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go as JSON")
    found = parser.parse_args(arguments)
    unknown = [name for name in found.names if name not in SUBJECTS]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(SUBJECTS)}")
    return found


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="spark-tui-benchmarks-") as fresh:
        yield Path(fresh).resolve()


def _run(name: str, setting: Setting) -> dict[str, Any]:
    started, load, speed = time.monotonic(), os.getloadavg()[0], pace()
    figures: list[Figure] = []
    notes: list[str] = []
    for each in importlib.import_module(f"benchmarks.{name}").run(setting):
        figures.append(each) if isinstance(each, Figure) else notes.append(each)
    loads, seconds = (round(load, 1), round(os.getloadavg()[0], 1)), round(time.monotonic() - started, 1)
    busy = f"load {loads[0]:g} to {loads[1]:g}, 100,000 rounds of Python in {speed.low:.1f} to {speed.high:.1f} ms"
    print(f"{name} ({seconds:g} s, {busy})", *notes, table(map(row, figures)) if figures else "", "", sep="\n")
    sys.stdout.flush()
    return {
        "seconds": seconds,
        "load": loads,
        "pace_ms": speed.median,
        "notes": notes,
        "figures": [document(each) for each in figures],
    }


def _machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
    }


if __name__ == "__main__":
    sys.exit(main())
