"""eval gates on the shipped sets and on files of one's own: figures, mistakes, and no secret on the screen."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def written(path: Path, *lines: object) -> str:
    """A labelled file; answers its path."""
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n\n", "utf-8")
    return str(path)


def test_the_shipped_sets_are_judged_on_the_held_part_unless_told_otherwise(cli: Cli) -> None:
    held = cli.json("eval", "gates")
    assert (held["ok"], held["part"], list(held["gates"])) == (True, "held", ["transient", "sensitive"])
    for gate in held["gates"].values():
        assert gate["items"] >= 150
        assert gate["precision"] >= 0.95
        assert gate["recall"] >= 0.9
        assert gate["missed"] + gate["wrongly"] == len(gate["misses"])
        assert {"zh", "en"} <= set(gate["languages"])
        assert sum(score["items"] for score in gate["kinds"].values()) == gate["items"]
    tune, everything = cli.json("eval", "gates", "--part", "tune"), cli.json("eval", "gates", "--part", "all")
    assert held["items"] + tune["items"] == everything["items"]


def test_a_person_sees_a_table_for_each_gate_and_every_mistake_with_its_place(cli: Cli) -> None:
    told = cli.run("eval", "gates", "--part", "tune").out
    misses = cli.json("eval", "gates", "--part", "tune")["gates"]["transient"]["misses"]
    assert "transient" in told
    assert "precision" in told
    assert [
        miss["line"] for miss in misses if f"transient.jsonl:{miss['line']} [{miss['kind']}] missed" not in told
    ] == []


def test_a_file_of_ones_own_is_judged_line_by_line(cli: Cli, tmp_path: Path) -> None:
    file = written(
        tmp_path / "own.jsonl",
        {"name": "a", "description": "the build is red right now", "label": "transient", "kind": "mine"},
        {"name": "b", "description": "the moon is full", "label": "transient", "part": "held"},
        {"name": "c", "description": "busy with it today", "label": "lasting"},
        {"name": "d", "description": "indent with tabs", "label": "lasting", "part": "tune"},
    )
    gate = cli.json("eval", "gates", "--file", file)["gates"]["transient"]
    assert [gate[key] for key in ("items", "dropped", "wrongly", "missed", "passed")] == [3, 1, 1, 1, 0]
    assert (gate["precision"], gate["recall"]) == (0.5, 0.5)
    assert gate["kinds"]["mine"]["dropped"] == 1
    assert [(miss["line"], miss["expected"], miss["found"], miss["text"]) for miss in gate["misses"]] == [
        (2, "drop", None, "b | the moon is full"),
        (3, "pass", "now", "c | busy with it today"),
    ]
    assert cli.json("eval", "gates", "--file", file, "--part", "all")["gates"]["transient"]["passed"] == 1


def test_nothing_of_a_secret_is_shown_whether_it_was_found_or_missed(cli: Cli, tmp_path: Path) -> None:
    file = written(
        tmp_path / "own.jsonl",
        {"text": "our secret word is wintergarten", "label": "sensitive", "kind": "password"},
        {"text": "password=hunter2 is the example of the manual", "label": "clean"},
        {"name": "keys", "description": "password=hunter3 stays", "label": "transient"},
    )
    for part in ((), ("--json",)):
        told = cli.run("eval", "gates", "--file", file, *part)
        assert told.code == 0
        assert [word for word in ("wintergarten", "hunter2", "hunter3") if word in told.out + told.err] == []
    misses = cli.json("eval", "gates", "--file", file)["gates"]["sensitive"]["misses"]
    assert [(miss["line"], miss["kind"], miss["expected"]) for miss in misses] == [
        (1, "password", "drop"),
        (2, "clean", "pass"),
    ]
    assert misses[1]["text"] == "password=[redacted:password] is the example of the manual"


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("no json", "line 2 of own.jsonl"),
        ('{"description": "d", "label": "odd"}', "line 2 of own.jsonl"),
        ('{"text": "t", "label": "transient"}', "line 2 of own.jsonl"),
        ('{"text": "{{poem:1:2:3}}", "label": "clean"}', "line 2 of own.jsonl"),
        ('["list"]', "line 2 of own.jsonl"),
        ('{"text": "t", "label": "clean", "part": "other"}', "line 2 of own.jsonl"),
        ('{"text": "t", "label": "clean", "part": "tune"}', "no labelled examples in the part held"),
    ],
)
def test_a_wrong_labelled_file_is_refused_with_the_line(cli: Cli, tmp_path: Path, line: str, tells: str) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(f"\n{line}", "utf-8")
    error = cli.json("eval", "gates", "--file", str(path), code=1)["error"]
    assert error["code"] == "VALIDATION_FAILED"
    assert tells in error["message"]


def test_it_speaks_the_persons_language_and_opens_no_store(cli: Cli) -> None:
    assert cli.run("settings", "set", "ui.language", "zh").code == 0
    before = sorted(cli.home.rglob("*"))
    assert cli.run("eval", "gates").code == 0
    assert sorted(cli.home.rglob("*")) == before
