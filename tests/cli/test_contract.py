"""What holds for every command: one JSON document, the exit codes, options that work anywhere."""

import json
from pathlib import Path

import pytest

import engine
from tests.cli.conftest import Cli

ADD = ("memory", "add", "--scope", "user", "--type", "user", "--name", "a-name", "--description", "a description")
COMMANDS = [
    ("memory", "list"),
    ("memory", "search", "nothing"),
    ("memory", "changes"),
    ("memory", "gate-log"),
    ("memory", "audit"),
    ("memory", "reindex"),
    ("memory", "import", "."),
    ("memory", "export", "exported"),
    ("inject",),
    ("settings", "list"),
    ("settings", "get", "memory.quota"),
    ("settings", "get", "memory.enabled"),
    ("settings", "rebuild-vectors"),
    ("doctor",),
    ("provider", "list"),
    ("jobs", "list"),
    ("jobs", "run"),
    ("jobs", "retry", "--all"),
    ("work", "--once"),
    ("candidates", "list"),
    ("consolidate",),
    ("eval", "gates"),
    ("completion", "bash"),
    ("completion", "zsh"),
    ("completion", "fish"),
    ADD,
    ("--version",),
    ("--help",),
    ("memory", "add", "--help"),
]
ENTRY_KEYS = [
    "id", "scope", "scope_ref", "type", "name", "description", "confidence", "state", "version", "created_at",
    "updated_at", "valid_from", "valid_until", "invalid_at", "superseded_by", "archived", "hit_count", "entities",
    "author_role", "source", "source_session_id", "file",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_prints_one_document_and_nothing_else(cli: Cli, command: tuple[str, ...]) -> None:
    assert isinstance(cli.json(*command), dict)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_speaks_to_people_too(cli: Cli, command: tuple[str, ...]) -> None:
    done = cli.run(*command)
    assert done.code == 0
    assert done.out + done.err
    assert "\x1b" not in done.out + done.err


def test_an_entry_has_exactly_the_fields_of_the_contract(cli: Cli) -> None:
    entry = cli.json(*ADD)["entry"]
    assert list(entry) == ENTRY_KEYS
    assert entry["file"] == f"{entry['id']}.md"
    assert entry["state"] == "active"
    assert entry["created_at"].endswith("+00:00")


@pytest.mark.parametrize("place", ["root", "group", "verb"])
def test_options_of_every_command_work_before_and_after_the_verb(
    cli: Cli, tmp_path: Path, project: Path, place: str
) -> None:
    options = ["--json", "--home", str(tmp_path / "elsewhere"), "--workspace", str(project)]
    before, between, after = [options if place == each else [] for each in ("root", "group", "verb")]
    words = ["--scope", "project", "--type", "user", "--name", "n", "--description", "d"]
    done = cli.run(*before, "memory", *between, "add", *words, *after)
    assert done.code == 0
    assert done.json["entry"]["scope"] == "project"
    assert (tmp_path / "elsewhere" / "spark.db").exists()
    assert not (cli.home / "spark.db").exists()


def test_the_innermost_option_wins(cli: Cli, tmp_path: Path) -> None:
    cli.run("--home", str(tmp_path / "outer"), "memory", "list", "--home", str(tmp_path / "inner"))
    assert (tmp_path / "inner" / "spark.db").exists()
    assert not (tmp_path / "outer").exists()


def test_the_version_is_told_in_both_forms(cli: Cli) -> None:
    assert cli.run("--version").out == f"spark-tui {engine.__version__}\n"
    assert cli.json("--version") == {"version": engine.__version__}


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("memory", "nonsense"),
        ("memory",),
        ("memory", "list", "--nonsense"),
        ("memory", "list", "--state", "odd"),
        ("memory", "list", "--limit", "-1"),
        ("memory", "list", "--as-of", "yesterday"),
        ("memory", "show"),
        ("memory", "search"),
        ("memory", "add", "--scope", "user"),
        ("memory", "add", "--scope", "galaxy", "--type", "user", "--name", "n", "--description", "d"),
        (*ADD, "--valid-until", "2026-13-01"),
        (*ADD, "--body", "x", "--body-file", __file__),
        (*ADD, "--agent", "main"),
        ("memory", "edit", "usr_00000000"),
        ("memory", "import", "no-such-folder"),
        ("memory", "list", "--workspace", "no-such-folder"),
        ("completion", "tcsh"),
        (),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_is_told_as_json_too(cli: Cli, arguments: tuple[str, ...]) -> None:
    error = cli.json(*arguments, code=2)["error"]
    assert error["code"] == "USAGE"
    assert error["message"]
    spoken = cli.run(*arguments)
    assert (spoken.code, spoken.out) == (2, "")
    assert "--help" in spoken.err


def test_a_failure_is_a_document_with_json_and_a_sentence_without(cli: Cli) -> None:
    document = cli.json("memory", "show", "usr_00000000", code=1)
    assert document["ok"] is False
    assert document["error"]["code"] == "NOT_FOUND"
    assert document["error"]["hint"]
    spoken = cli.run("memory", "show", "usr_00000000")
    assert (spoken.code, spoken.out) == (1, "")
    assert document["error"]["message"] in spoken.err
    assert document["error"]["hint"] in spoken.err


def test_help_names_every_verb_without_importing_one(cli: Cli) -> None:
    told = cli.run("memory", "--help").out
    for verb in ("add", "list", "show", "search", "edit", "archive", "unarchive", "delete", "reindex", "export"):
        assert f"  {verb} " in told
    for verb in ("import", "gate-log", "audit", "changes", "undo", "restore"):
        assert f"  {verb} " in told


def test_an_interruption_ends_with_130_and_changes_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr("spark_tui.cli.text_input.read_stdin", interrupted)
    done = cli.run(*ADD, "--body", "-", "--json")
    assert done.code == 130
    assert done.json["error"]["code"] == "INTERRUPTED"
    assert cli.json("memory", "list")["total"] == 0


def test_documents_hold_any_character_as_it_is(cli: Cli) -> None:
    entry_id = cli.add("引号", '他说："a\\b" — 🙂')
    out = cli.run("memory", "show", entry_id, "--json").out
    assert "他说" in out
    assert json.loads(out)["entry"]["description"] == '他说："a\\b" — 🙂'


def test_an_unexpected_error_tells_where_it_was_and_nothing_of_what_it_says(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("canary text of a memory")

    monkeypatch.setattr("spark_tui.cli.invocation.Invocation.open", broken)
    error = cli.json("memory", "list", code=1)["error"]
    assert error["code"] == "INTERNAL"
    assert "RuntimeError" in error["message"]
    assert "invocation.py" in error["message"]
    assert "canary" not in str(error)
