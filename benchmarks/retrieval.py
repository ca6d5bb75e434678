"""Evidence recall on public question sets, as ``retrieval_quality`` scores it; skipped where the data is missing."""

from collections.abc import Iterator

from benchmarks import corpus, retrieval_quality
from benchmarks.figures import Figure, Goal
from benchmarks.setting import Setting
from benchmarks.timing import Samples

# Floors of the specification; what is aimed at stands in retrieval_quality.GOALS.
FLOORS = {"R@10": 0.64, "nDCG@10": 0.48}


def run(setting: Setting) -> Iterator[Figure | str]:
    """The figures of every setting beside those of words alone; some minutes, since every text is embedded."""
    if not corpus.available():
        yield f"skipped: no data at {corpus.DATA}; set SPARK_BENCH_DATA (see docs/measured.md)"
        return
    if setting.quick:
        yield "skipped: the embedding takes minutes; run it without --quick"
        return
    scores = dict(retrieval_quality.run(setting.folder / "retrieval"))
    for name, figures in scores.items():
        words = scores[name.replace("hybrid", "words")]
        goals = retrieval_quality.GOALS.get(name, {})
        for measure in ("R@5", "R@10", "nDCG@10"):
            yield _figure(name, measure, figures, words, goals.get(measure))


def _figure(name: str, measure: str, figures: dict[str, float], words: dict[str, float], goal: float | None) -> Figure:
    return Figure(
        f"{name}, {measure}, {figures['questions']:.0f} questions",
        Samples((figures[measure],), ""),
        None if figures is words else ("words alone", Samples((words[measure],), "")),
        Goal(plus=goal, at_least=True) if goal is not None else None,
    )
