"""Prints the figures of ``results.json`` as tables of markdown, for docs/measured.md; measures nothing."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.__main__ import RESULTS

HEAD = "| what | reference | figure (min–max) | ratio | goal | met |\n|---|---|---|---|---|---|"


def main() -> int:
    """Print the last results, or those of the file that is named."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    if not path.exists():
        sys.stderr.write(f"there is no {path}; python -m benchmarks makes one\n")
        return 1
    print(markdown(json.loads(path.read_text("utf-8"))))
    return 0


def markdown(results: dict[str, Any]) -> str:
    """The machine in one line and a table for each subject."""
    machine = results["machine"]
    line = f"{machine['system']} {machine['processor']}, {machine['cores']} cores, Python {machine['python']}"
    return "\n\n".join([f"Measured on {line}, SQLite {machine['sqlite']}.", *_subjects(results["subjects"])])


def _subjects(subjects: dict[str, Any]) -> Iterator[str]:
    for name, subject in subjects.items():
        low, high = subject["load"]
        busy = f"Load {low:g} to {high:g}; 100,000 rounds of Python took {subject['pace_ms']:.1f} ms."
        rows = "\n".join([HEAD, *map(_row, subject["figures"])]) if subject["figures"] else ""
        yield "\n\n".join(part for part in (f"### {name}", busy, *map(_sentence, subject["notes"]), rows) if part)


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


def _row(figure: dict[str, Any]) -> str:
    unit, reference = figure["unit"], figure["reference"]
    share = "" if figure["quantile"] == 0.5 else f", p{figure['quantile'] * 100:.0f}"
    cells = (
        figure["what"] + share,
        f"{reference['what']}: {_number(reference['value'])} {unit}" if reference else "",
        f"{_number(figure['value'])} {unit} ({_number(figure['min'])}–{_number(figure['max'])})",
        f"{figure['ratio']:.2f}" if figure["ratio"] else "",
        figure["goal"] or "",
        {True: "yes", False: "no", None: ""}[figure["met"]],
    )
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == 0 or abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
