"""Evidence recall of the real search on public question sets: words alone, hybrid, with and without the seed's decay."""

import json
import math
import sys
import tempfile
from collections.abc import Sequence
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


def scored(engine: Engine, questions: Sequence[Question]) -> dict[str, float]:
    """Mean recall at 5 and 10 and nDCG at 10 over the questions."""
    r5 = r10 = ndcg = 0.0
    for question in questions:
        result = engine.search(question.text, scope=Scope.AGENT, agent=question.agent, limit=10)
        names = [hit.entry.name for hit in result.hits]
        gains = [name in question.relevant for name in names]
        r5 += sum(gains[:5]) / len(question.relevant)
        r10 += sum(gains) / len(question.relevant)
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(question.relevant))))
        ndcg += sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains)) / ideal
    n = len(questions)
    return {"R@5": round(r5 / n, 4), "R@10": round(r10 / n, 4), "nDCG@10": round(ndcg / n, 4), "questions": n}


def run(folder: Path) -> dict[str, dict[str, float]]:
    """Build both homes under ``folder`` (reused when there) and score every setting."""
    home = Home(folder / "home")
    home.root.mkdir(parents=True, exist_ok=True)
    locomo, last = corpus.locomo(home.root)
    cmrc = corpus.cmrc(home.root)
    clock = ManualClock(max(last, 1_760_000_000_000 if not locomo else last))
    results: dict[str, dict[str, float]] = {}
    for channel, provider in (("words", "none"), ("hybrid", "local")):
        for decay in ("0", "0.01"):
            with open_engine(home, folder, clock=clock) as engine:
                engine.settings.set("memory.embeddingProviderId", provider)
                engine.settings.set("memory.timeDecayLambda", decay)
                if provider != "none":
                    engine.embeddings.fill()
                results[f"locomo {channel} λ={decay}"] = scored(engine, locomo)
                if decay == "0":
                    results[f"cmrc {channel} λ={decay}"] = scored(engine, cmrc)
    return results


def main() -> int:
    """Print every figure beside its goal; the folder given as argument keeps the homes for the next run."""
    if not corpus.available():
        print(f"no data at {corpus.DATA}: set SPARK_BENCH_DATA (see docs/measured.md)")
        return 0
    with tempfile.TemporaryDirectory() as fresh:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(fresh)
        for name, figures in run(folder).items():
            print(f"{name:24} {json.dumps(figures)}  goal {json.dumps(GOALS.get(name, {}))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
