"""memory add, edit, archive, unarchive, delete as a person or script meets them."""

import io
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.support import undeletable

WORDS = ("--scope", "user", "--type", "feedback", "--name", "answers", "--description", "short answers")


def test_an_added_memory_is_a_file_and_in_every_list(cli: Cli) -> None:
    entry_id = cli.json(
        "memory", "add", *WORDS, "--entities", "Arco Design，postgres, ,k8s", "--body", "**Why:** time"
    )["entry"]["id"]
    text = cli.file(entry_id).read_text("utf-8")
    assert "description: short answers" in text
    assert text.endswith("**Why:** time")
    listed = cli.json("memory", "list")
    assert [each["id"] for each in listed["entries"]] == [entry_id]
    assert listed["entries"][0]["entities"] == ["Arco Design", "postgres", "k8s"]
    assert f"- [answers]({entry_id}.md) — short answers" in (cli.home / "memory" / "user" / "MEMORY.md").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("how", ["option", "stdin", "file stdin", "file"])
def test_a_body_comes_byte_for_byte_from_anywhere(cli: Cli, tmp_path: Path, how: str) -> None:
    body = "  indented\r\nline — 中文\n\n---\nnot a fence\n\n"
    (tmp_path / "body.md").write_bytes(body.encode())
    given = {
        "option": ("--body", body),
        "stdin": ("--body", "-"),
        "file stdin": ("--body-file", "-"),
        "file": ("--body-file", str(tmp_path / "body.md")),
    }[how]
    entry_id = cli.json("memory", "add", *WORDS, *given, stdin=body.encode())["entry"]["id"]
    assert cli.shown(entry_id)["body"] == body


def test_a_body_that_is_no_utf8_is_refused(cli: Cli) -> None:
    error = cli.json("memory", "add", *WORDS, "--body", "-", code=1, stdin=b"\xff\xfe\x00")["error"]
    assert (error["code"], error["byte"]) == ("VALIDATION_FAILED", 0)
    assert cli.json("memory", "list")["total"] == 0


def test_a_past_last_day_makes_a_memory_that_is_born_expired(cli: Cli) -> None:
    entry = cli.json("memory", "add", *WORDS, "--valid-until", "2020-02-29")["entry"]
    assert (entry["state"], entry["valid_until"]) == ("expired", "2020-02-29")
    assert cli.json("memory", "list")["total"] == 0
    assert cli.json("memory", "list", "--state", "expired")["total"] == 1
    assert cli.json("memory", "add", *WORDS)["entry"]["state"] == "active"
    assert cli.shown(entry["id"])["entry"]["state"] == "invalid"


def test_scopes_keep_their_own_places(cli: Cli) -> None:
    project = cli.add("p", scope="project")
    agent = cli.json("memory", "add", "--scope", "agent", "--agent", "codex", *WORDS[2:])["entry"]
    assert (cli.project / ".spark-agent" / "memory" / f"{project}.md").exists()
    assert (cli.home / "memory" / "agent" / "codex" / agent["file"]).exists()
    assert agent["scope_ref"] == "codex"


def test_an_edit_makes_a_new_version_and_keeps_the_old_one(cli: Cli) -> None:
    entry_id = cli.add("n", "before", "--body", "old text")
    edited = cli.json("memory", "edit", entry_id, "--description", "after", "--body", "-", stdin=b"new text")["entry"]
    assert (edited["version"], edited["description"]) == (2, "after")
    history = cli.json("memory", "show", entry_id, "--history")
    assert history["body"] == "new text"
    assert [(each["version"], each["description"], each["body"]) for each in history["revisions"]] == [
        (1, "before", "old text")
    ]
    assert history["derivations"] == []


def test_an_edit_changes_only_what_is_named(cli: Cli) -> None:
    entry_id = cli.add("n", "d", "--body", "text", "--valid-until", "2999-01-01", "--entities", "Go")
    cli.json("memory", "edit", entry_id, "--type", "reference")
    cli.json("memory", "edit", entry_id, "--name", "other", "--entities", "Rust,C++")
    shown = cli.shown(entry_id)
    assert shown["body"] == "text"
    assert shown["entry"]["valid_until"] == "2999-01-01"
    assert (shown["entry"]["name"], shown["entry"]["type"], shown["entry"]["entities"]) == (
        "other",
        "reference",
        ["Rust", "C++"],
    )
    assert cli.json("memory", "edit", entry_id, "--valid-until", "none")["entry"]["valid_until"] is None


def test_a_stale_edit_is_a_conflict_that_tells_both_versions(cli: Cli) -> None:
    entry_id = cli.add("n", "one")
    cli.json("memory", "edit", entry_id, "--description", "two", "--expected-version", "1")
    error = cli.json("memory", "edit", entry_id, "--description", "three", "--expected-version", "1", code=3)["error"]
    assert (error["code"], error["current_version"], error["base_version"]) == ("VERSION_CONFLICT", 2, 1)
    assert cli.shown(entry_id)["entry"]["description"] == "two"


def test_a_taken_name_is_a_conflict(cli: Cli) -> None:
    first = cli.add("answers")
    error = cli.json("memory", "add", *WORDS, code=3)["error"]
    assert (error["code"], error["id"]) == ("ALREADY_EXISTS", first)


def test_bulk_verbs_answer_for_each_id_once(cli: Cli) -> None:
    one, two = cli.add("one"), cli.add("two")
    told = cli.json("memory", "archive", one, "usr_00000000", two, one, code=1)
    assert told["ok"] is False
    assert [(each["id"], each["outcome"]) for each in told["results"]] == [
        (one, "done"), ("usr_00000000", "NOT_FOUND"), (two, "done"),
    ]  # fmt: skip
    assert told["results"][0]["version"] == 2
    assert told["results"][1]["message"]
    assert cli.json("memory", "archive", one)["results"] == [{"id": one, "outcome": "unchanged", "version": 2}]
    assert cli.json("memory", "unarchive", one, two)["ok"] is True
    assert cli.json("memory", "list")["total"] == 2


def test_unarchiving_into_a_taken_name_is_a_conflict(cli: Cli) -> None:
    first = cli.add("n")
    cli.json("memory", "archive", first)
    cli.add("n", "another")
    told = cli.json("memory", "unarchive", first, code=3)
    assert told["results"][0]["outcome"] == "ALREADY_EXISTS"
    assert cli.shown(first)["entry"]["state"] == "archived"


def test_delete_removes_every_trace(cli: Cli) -> None:
    entry_id = cli.add("n", "unheard-of zebra", "--body", "zebra body")
    assert cli.json("memory", "delete", entry_id, "--yes") == {
        "ok": True,
        "results": [{"id": entry_id, "outcome": "done"}],
    }
    assert not cli.file(entry_id).exists()
    assert cli.json("memory", "show", entry_id, code=1)["error"]["code"] == "NOT_FOUND"
    assert not [path for path in cli.home.rglob("*") if path.is_file() and b"zebra" in path.read_bytes()]


def test_delete_without_a_terminal_wants_yes(cli: Cli) -> None:
    entry_id = cli.add("n")
    assert cli.json("memory", "delete", entry_id, code=2)["error"]["code"] == "USAGE"
    assert cli.file(entry_id).exists()


class Terminal(io.StringIO):
    """A person at a terminal who types this."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("typed", ["\n", "", "n\n", "delete\n"])
def test_delete_asks_and_does_nothing_without_a_clear_yes(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    from spark_tui.cli.main import main

    entry_id = cli.add("zebra-name")
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert main(["memory", "delete", entry_id]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "zebra-name" in err
    assert "[y/N]" in err
    assert cli.file(entry_id).exists()


def test_delete_with_a_yes_deletes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_tui.cli.main import main

    entry_id = cli.add("n")
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert main(["memory", "delete", entry_id]) == 0
    assert not cli.file(entry_id).exists()


def test_a_file_that_will_not_go_is_blocked_locally(cli: Cli) -> None:
    entry_id = cli.add("n")
    with undeletable(cli.file(entry_id)):
        told = cli.json("memory", "delete", entry_id, "--yes", code=1)
        assert told["results"][0]["outcome"] == "blocked_locally"
        assert told["results"][0]["path"] == str(cli.file(entry_id))
        rows = {row["id"]: row for row in cli.json("doctor", code=1)["rows"]}
        assert rows["deletions"]["state"] == "fail"
        assert str(cli.file(entry_id)) in rows["deletions"]["evidence"]
    cli.add("another")
    assert not cli.file(entry_id).exists()
    assert cli.json("doctor")["ok"] is True


def test_changes_can_be_undone_by_group(cli: Cli) -> None:
    entry_id = cli.add("n", "before")
    cli.json("memory", "edit", entry_id, "--description", "after")
    newest, oldest = cli.json("memory", "changes")["changes"]
    assert (newest["action"], newest["before"], newest["after"], newest["fields"]) == ("edit", 1, 2, ["description"])
    assert (oldest["action"], oldest["before"], oldest["after"]) == ("add", None, 1)
    undone = cli.json("memory", "undo", newest["group"])
    assert undone["ok"] is True
    assert [(each["description"], each["version"]) for each in undone["entries"]] == [("before", 3)]
    error = cli.json("memory", "undo", oldest["group"], code=3)["error"]
    assert error["code"] == "VERSION_CONFLICT"
    assert cli.json("memory", "undo", "op_00000000", code=1)["error"]["code"] == "NOT_FOUND"


def test_restore_brings_an_older_version_and_a_vanished_file_back(cli: Cli) -> None:
    entry_id = cli.add("n", "one")
    cli.json("memory", "edit", entry_id, "--description", "two")
    assert cli.json("memory", "restore", entry_id, "--version", "1")["entry"]["description"] == "one"
    cli.file(entry_id).unlink()
    assert cli.json("memory", "list", "--state", "missing")["total"] == 1
    assert cli.json("memory", "restore", entry_id)["entry"]["state"] == "active"
    assert cli.file(entry_id).exists()
    assert cli.json("memory", "restore", entry_id, "--version", "99", code=1)["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "SPARK_AGENT"])
def test_an_agent_may_read_but_not_write(cli: Cli, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    entry_id = cli.add("n")
    monkeypatch.setenv(variable, "1")
    for command in (
        ("memory", "add", *WORDS),
        ("memory", "edit", entry_id, "--description", "x"),
        ("memory", "archive", entry_id),
        ("memory", "unarchive", entry_id),
        ("memory", "delete", entry_id, "--yes"),
        ("memory", "undo", "op_00000000"),
        ("memory", "restore", entry_id),
        ("memory", "import", "."),
        ("settings", "set", "memory.enabled", "false"),
        ("settings", "unset", "memory.enabled"),
    ):
        error = cli.json(*command, code=1)["error"]
        assert (error["code"], error["marker"]) == ("PERSON_REQUIRED", variable), command
    for command in (("memory", "list"), ("memory", "search", "n"), ("memory", "show", entry_id), ("inject",)):
        cli.json(*command)
    assert cli.shown(entry_id)["entry"]["version"] == 1


def test_where_codex_keeps_its_files_is_no_sign_of_an_agent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", os.devnull)
    monkeypatch.setenv("CLAUDECODE", "")
    assert cli.add("n")
