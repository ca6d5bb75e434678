"""Evidence recall of the real search on public question sets: words alone, hybrid, with and without the seed's decay."""

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import corpus
from benchmarks.corpus import Question
from engine.clock import ManualClock
from engine.memory.model import Scope
from engine.paths import Home
from engine.runtime import Engine, open_engine

GOALS = {
    "locomo hybrid λ=0": {"R@10": 0.66, "nDCG@10": 0.50},
    "cmrc hybrid λ=0": {"R@5": 0.995, "nDCG@10": 0.986},
}


def scored(engine: Engine, questions: Sequence[Question], decays: Sequence[str]) -> dict[str, dict[str, float]]:
    """Recall at 5 and 10 and nDCG at 10 for each λ; each question is embedded once and asked under every one."""
    sums = {decay: [0.0, 0.0, 0.0] for decay in decays}
    plain = engine.memory_settings()
    settings = {decay: replace(plain, time_decay_lambda=float(decay)) for decay in decays}
    for question in questions:
        layers = engine.layers.narrowed(engine.layers.person(), Scope.AGENT, question.agent)
        for decay in decays:
            result = engine.retrieval.search(question.text, layers, settings[decay], limit=10)
            gains = [hit.entry.name in question.relevant for hit in result.hits]
            ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(question.relevant))))
            found = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
            each = (sum(gains[:5]) / len(question.relevant), sum(gains) / len(question.relevant), found / ideal)
            sums[decay] = [total + value for total, value in zip(sums[decay], each, strict=True)]
    return {
        decay: dict(
            zip(("R@5", "R@10", "nDCG@10"), (round(total / len(questions), 4) for total in totals), strict=True)
        )
        | {"questions": len(questions)}
        for decay, totals in sums.items()
    }


def run(folder: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Build the home under ``folder`` (reused when there) and score every setting as it is ready."""
    home = Home(folder / "home")
    home.root.mkdir(parents=True, exist_ok=True)
    locomo, last = corpus.locomo(home.root)
    cmrc = corpus.cmrc(home.root)
    for channel, provider in (("words", "none"), ("hybrid", "local")):
        with open_engine(home, folder, clock=ManualClock(last)) as engine:
            engine.settings.set("memory.embeddingProviderId", provider)
            engine.memory_settings()
            engine.embeddings.fill()
            for decay, figures in scored(engine, locomo, ("0", "0.01")).items():
                yield f"locomo {channel} λ={decay}", figures
            yield f"cmrc {channel} λ=0", scored(engine, cmrc, ("0",))["0"]


def main() -> int:
    """Print every figure beside its goal; the folder given as argument keeps the homes for the next run."""
    if not corpus.available():
        print(f"no data at {corpus.DATA}: set SPARK_BENCH_DATA (see docs/measured.md)")
        return 0
    with tempfile.TemporaryDirectory() as fresh:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(fresh)
        for name, figures in run(folder):
            print(f"{name:24} {json.dumps(figures)}  goal {json.dumps(GOALS.get(name, {}))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
