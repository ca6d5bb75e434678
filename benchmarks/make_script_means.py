"""Computes the mean vector of each script for the embedded model and writes engine/providers/script_means.json.

Run it from the root of the repository (``python -m benchmarks.make_script_means``) when the model or
``script_means.tsv`` changes, and raise ``script_means.VERSION`` then: vectors made with other means cannot be
compared. The sentences are our own: no evaluation data goes into what is shipped.
"""

import base64
import json
from array import array
from collections.abc import Sequence
from pathlib import Path

from engine.providers import script_means
from engine.providers.e5_engine import MODEL, E5Engine

HERE = Path(__file__).parent
TARGET = HERE.parent / "engine" / "providers" / "script_means.json"
COLUMNS = {"latin": 1, "han": 2}


def main() -> None:
    """Embed both columns as queries and as passages, and write their means."""
    rows = [line.split("\t") for line in (HERE / "script_means.tsv").read_text("utf-8").splitlines()]
    statements = [row for row in rows if row[0] == "statement"]
    engine = E5Engine()

    def means(chosen: Sequence[list[str]], *, is_query: bool) -> dict[str, str]:
        return {
            script: encoded(engine.embed([row[column] for row in chosen], is_query=is_query))
            for script, column in COLUMNS.items()
        }

    content = {
        "version": script_means.VERSION,
        "model": MODEL,
        "dimension": engine.dimension,
        "query": means(rows, is_query=True),
        "passage": means(statements, is_query=False),
    }
    TARGET.write_text(json.dumps(content, indent=1) + "\n", "ascii")
    print(f"{TARGET.name}: {len(statements)} statements and {len(rows) - len(statements)} queries in both languages")


def encoded(vectors: Sequence["array[float]"]) -> str:
    """The mean of the vectors as base64 of little-endian float32."""
    mean = array("f", [sum(column) / len(vectors) for column in zip(*vectors, strict=True)])
    return base64.b64encode(mean.tobytes()).decode("ascii")


if __name__ == "__main__":
    main()
