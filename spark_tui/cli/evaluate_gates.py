"""eval gates: how often the gates are right about labelled texts; it opens no store and shows no secret."""

import os
from pathlib import Path
from typing import Any

import click

from engine.config import Settings
from engine.memory.gates.evaluation import Miss, Report, Score, evaluate
from engine.memory.gates.labelled import PACKAGED, Part, load
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.output import Output
from spark_tui.cli.parser import Verb
from spark_tui.text.i18n import _, chosen_language, ngettext, use_language

ALL = "all"
NUMBERS = ("items", "dropped", "wrongly", "missed", "passed")


@click.command(cls=Verb)
@click.option(
    "--file",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    show_default="the sets that come with the product",
    help="Labelled texts as JSON lines.",
)
@click.option(
    "--part",
    type=click.Choice([*(part.value for part in Part), ALL]),
    default=Part.HELD.value,
    show_default=True,
    help="held was kept apart while the rules were written, tune was not.",
)
@click.pass_obj
def gates(invocation: Invocation, file: Path | None, part: str) -> None:
    """Ask the transient and the sensitive gate about labelled texts; tell precision, recall and every mistake."""
    examples = load((file,) if file else PACKAGED, None if part == ALL else Part(part))
    reports = evaluate(examples)
    if invocation.as_json:
        told = {report.gate.value: _report_json(report) for report in reports}
        invocation.output.document({"ok": True, "part": part, "items": len(examples), "gates": told})
        return
    settings = Settings.load(invocation.home.config)
    use_language(chosen_language(str(settings.get("ui.language")), os.environ))
    for report in reports:
        _tell(invocation.output, report)


def _tell(out: Output, report: Report) -> None:
    from spark_tui.presenters.tables import laid_out

    titles = [report.gate.value, _("items"), _("precision"), _("recall"), _("wrongly dropped"), _("missed")]
    scores = {_("all"): report.total} | report.languages | report.kinds
    body = [[("text", name), *(("text", text) for text in _columns(score))] for name, score in scores.items()]
    out.rows(laid_out(titles, body, out.width, 0))
    for miss in report.misses:
        out.line(_mistake(miss), "dim")
    count = len(report.misses)
    out.note(ngettext("{n} mistake", "{n} mistakes", count).format(n=count))
    out.line()


def _mistake(miss: Miss) -> str:
    from spark_tui.text.safe import one_line

    example, place = miss.example, f"{miss.example.file}:{miss.example.line}"
    verdict = _("missed") if miss.found is None else _("wrongly dropped as {reason}").format(reason=miss.found)
    return f"  {place} [{one_line(example.kind)}] {verdict}: {one_line(miss.shown)}"


def _columns(score: Score) -> tuple[str, ...]:
    shares = (f"{share:.3f}" if share is not None else "-" for share in (score.precision, score.recall))
    return str(score.items), *shares, str(score.wrongly), str(score.missed)


def _report_json(report: Report) -> dict[str, Any]:
    return _score_json(report.total) | {
        "languages": {name: _score_json(score) for name, score in report.languages.items()},
        "kinds": {name: _score_json(score) for name, score in report.kinds.items()},
        "misses": [_miss_json(miss) for miss in report.misses],
    }


def _score_json(score: Score) -> dict[str, Any]:
    shares = {"precision": score.precision, "recall": score.recall}
    rounded = {name: None if share is None else round(share, 4) for name, share in shares.items()}
    return {name: getattr(score, name) for name in NUMBERS} | rounded


def _miss_json(miss: Miss) -> dict[str, Any]:
    example = miss.example
    return {
        "file": example.file,
        "line": example.line,
        "kind": example.kind,
        "language": example.language.value,
        "expected": "drop" if example.drop else "pass",
        "found": miss.found,
        "text": miss.shown,
    }
