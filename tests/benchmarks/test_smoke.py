"""Every benchmark can be run and says what it should; how fast anything is, is not asked here."""

import importlib
import json
import os
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import processes
from benchmarks.figures import Figure, Goal, document, row
from benchmarks.pty import Terminal
from benchmarks.timing import Samples, interleaved


@pytest.mark.parametrize("name", command.SUBJECTS)
def test_every_subject_can_be_run(name: str) -> None:
    assert callable(importlib.import_module(f"benchmarks.{name}").run)


def test_the_smallest_size_gives_figures_beside_references_and_goals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.json"
    options = ["--quick", "--folder", str(tmp_path / "homes"), "--results", str(results)]
    assert command.main([*options, "search", "commit"]) == 0
    told = json.loads(results.read_text("utf-8"))
    figures = [figure for subject in told["subjects"].values() for figure in subject["figures"]]
    assert all(figure["min"] <= figure["value"] <= figure["max"] for figure in figures)
    assert all(figure["ratio"] > 0 for figure in figures if figure["reference"])
    printed = capsys.readouterr().out
    assert all(figure["what"] in printed for figure in figures)


def test_a_name_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["speed"])
    assert "there are search" in capsys.readouterr().err


def test_contenders_take_turns_and_warm_up() -> None:
    calls: list[tuple[str, int]] = []
    taken = interleaved({name: lambda number, name=name: calls.append((name, number)) for name in "ab"}, 2)
    assert calls == [("a", -1), ("b", -1), ("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert [len(each.wall.values) for each in taken.values()] == [2, 2]


def test_a_goal_may_be_a_ratio_an_amount_or_both() -> None:
    reference = ("bare", Samples((10.0, 20.0, 30.0)))
    at_limit = Figure("x", Samples((200.0,)), reference, Goal(times=2.5, plus=150))
    assert (at_limit.met, at_limit.ratio, row(at_limit)[5]) == (True, 10.0, "≤ 2.5 × + 150 ms")
    assert not Figure("x", Samples((201.0,)), reference, Goal(times=2.5, plus=150)).met
    assert Figure("x", Samples((0.7,), ""), goal=Goal(plus=0.64, at_least=True)).met
    assert document(at_limit)["reference"]["value"] == 20


def test_a_process_that_fails_is_no_figure(tmp_path: Path) -> None:
    took = processes.took([processes.PYTHON, "-c", "sum(range(200_000))"], tmp_path, os.environ)
    assert 0 < took.cpu < took.wall + 1
    with pytest.raises(RuntimeError, match="so it ends"):
        processes.took([processes.PYTHON, "-c", "raise SystemExit('so it ends')"], tmp_path, os.environ)


def test_a_terminal_tells_when_something_was_shown_and_what_was_written(tmp_path: Path) -> None:
    program = "import time; print('here', flush=True); input(); print('x' * 100, flush=True); input()"
    with Terminal([processes.PYTHON, "-c", program], tmp_path, os.environ) as terminal:
        assert terminal.until(lambda seen: b"here" in seen) > 0
        terminal.quiet(0.1, 1.0)
        terminal.send(b"\n")
        assert terminal.during(0.3) >= 100
        assert terminal.cpu() > 0
        assert terminal.resident() > 1
        terminal.send(b"\n")
