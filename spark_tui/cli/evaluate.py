"""eval search: how well search finds labelled memories, in a home of its own that is thrown away afterwards."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.clock import ManualClock
from engine.config import Settings
from engine.errors import SparkError
from engine.memory.evaluation import PACKAGED, Miss, Probes, Report, Score, judge, load, plant
from engine.paths import Home
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import LazyGroup, Verb

if TYPE_CHECKING:
    from engine.runtime import Engine

VERBS = {
    "gates": ("evaluate_gates:gates", "Precision and recall of the gates on labelled texts, and what they got wrong."),
    "search": ("evaluate:search", "Recall and nDCG of search on labelled questions, with and without decay."),
}
QUOTA = "memory.quota.user"


@click.group("eval", cls=LazyGroup, verbs=VERBS)
def evaluate() -> None:
    """Measure the product's own judgements on labelled examples."""


@click.command(cls=Verb)
@click.option(
    "--file",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=PACKAGED,
    show_default="the set that comes with the product",
    help="Labelled memories and queries as JSON lines.",
)
@click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="How many hits count (k).")
@click.pass_obj
def search(invocation: Invocation, file: Path, limit: int) -> None:  # fmt: skip
    """Plant labelled memories in a temporary home, ask every question, and tell what was found and what was missed."""
    probes = load(file)
    with _home(invocation) as engine:
        assert isinstance(engine.clock, ManualClock)
        keys = plant(probes, engine.store, engine.clock)
        vectors = _embedded(invocation, engine)
        rate = engine.memory_settings().time_decay_lambda
        runs = {rate_: _run(engine, probes, keys, limit, rate_) for rate_ in dict.fromkeys((rate, 0.0))}
    if invocation.as_json:
        invocation.output.document({
            "ok": True,
            "memories": len(probes.memories),
            "questions": len(probes.questions),
            "k": limit,
            "vectors": vectors,
            "runs": [{"lambda": rate_} | _report_json(report) for rate_, report in runs.items()],
        })  # fmt: skip
        return
    invocation.output.line(f"{len(probes.memories)} memories, {len(probes.questions)} questions, k = {limit}")
    for rate_, report in runs.items():
        _tell(invocation, rate_, report, limit)


@contextmanager
def _home(invocation: Invocation) -> Iterator["Engine"]:
    """An engine on an empty temporary home with the person's own settings, room for every memory of a set, and its own clock."""
    from engine.clock import SystemClock
    from engine.runtime import open_engine

    with tempfile.TemporaryDirectory(prefix="spark-tui-eval-") as folder:
        home = Home(Path(folder) / "home")
        home.root.mkdir()
        if invocation.home.config.is_file():
            shutil.copyfile(invocation.home.config, home.config)
        Settings.load(home.config).set(QUOTA, "100000")
        with open_engine(home, home.root, clock=ManualClock(SystemClock().now_ms())) as engine:
            yield engine


def _embedded(invocation: Invocation, engine: "Engine") -> bool:
    try:
        done, _total = engine.embeddings.fill()
    except SparkError as error:
        invocation.output.note(f"no vectors, words only: {error.message}", "warning")
        return False
    return done > 0


def _run(engine: "Engine", probes: Probes, keys: dict[str, str], limit: int, rate: float) -> Report:
    settings = replace(engine.memory_settings(), time_decay_lambda=rate)
    layers = engine.layers.person()

    def ask(question: str) -> list[str]:
        found = engine.retrieval.search(question, layers, settings, None, limit)
        return [keys[hit.entry.id] for hit in found.hits]

    return judge(probes.questions, ask)


def _tell(invocation: Invocation, rate: float, report: Report, limit: int) -> None:
    from spark_tui.presenters.tables import laid_out
    from spark_tui.text.safe import one_line

    out = invocation.output
    out.line()
    out.line(f"decay λ = {rate:g}", "heading")
    scores = {"all": report.total} | report.kinds
    body = [[("text", kind), *(("text", text) for text in _columns(score))] for kind, score in scores.items()]
    out.rows(laid_out(["kind", "questions", f"recall@{limit}", f"nDCG@{limit}", "near miss won"], body, out.width, 0))
    for miss in report.misses:
        wanted, got = ", ".join(miss.expected), ", ".join(miss.found) or "nothing"
        out.line(f"  [{miss.kind}] {one_line(miss.question)}: wanted {wanted}, found {got}", "dim")


def _columns(score: Score) -> tuple[str, ...]:
    return str(score.questions), f"{score.recall:.3f}", f"{score.ndcg:.3f}", f"{score.near_misses:.3f}"


def _report_json(report: Report) -> dict[str, Any]:
    kinds = {kind: _score_json(score) for kind, score in report.kinds.items()}
    return _score_json(report.total) | {"kinds": kinds, "misses": [_miss_json(miss) for miss in report.misses]}


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "questions": score.questions,
        "recall": round(score.recall, 4),
        "ndcg": round(score.ndcg, 4),
        "near_misses": round(score.near_misses, 4),
    }


def _miss_json(miss: Miss) -> dict[str, Any]:
    return {
        "query": miss.question,
        "kind": miss.kind,
        "expected": list(miss.expected),
        "found": list(miss.found),
        "beaten_by": list(miss.beaten_by),
    }
