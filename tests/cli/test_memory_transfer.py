"""memory export, import, audit, gate-log at the command line: documents, exit codes, and what people read."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Two notes, one of which must not come in, and a rule file."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "good.md").write_text("# Deploys\n\nOn Tuesdays.\n", "utf-8")
    (folder / "secret.md").write_text("password: hunter2-and-more\n", "utf-8")
    (folder / "AGENTS.md").write_text("- use tabs\n", "utf-8")
    return folder


def test_an_import_tells_every_item_and_drops_are_logged(cli: Cli, notes: Path) -> None:
    told = cli.json("memory", "import", str(notes))
    assert (told["ok"], told["dry_run"], told["counts"]) == (True, False, {"queued": 1, "added": 1, "dropped": 1})
    items = {each["file"]: each for each in told["items"]}
    assert items["good.md"]["id"].startswith("usr_")
    assert items["secret.md"]["gate"] == "sensitive"
    [candidate] = cli.json("candidates", "list")["candidates"]
    assert (candidate["id"], candidate["origin"]) == (items["AGENTS.md"]["id"], "import")
    assert "hunter2" not in str(told)
    log = cli.json("memory", "gate-log")
    assert log["total"] == 1
    assert {key: log["entries"][0][key] for key in ("scope", "name", "gate", "session")} == {
        "scope": "user", "name": "secret", "gate": "sensitive", "session": None,
    }  # fmt: skip
    spoken = cli.run("memory", "gate-log")
    assert "sensitive" in spoken.out
    assert "hunter2" not in spoken.out + cli.run("memory", "import", str(notes)).out


def test_a_dry_run_promises_what_an_import_does(cli: Cli, notes: Path) -> None:
    promised = cli.json("memory", "import", str(notes), "--dry-run")
    assert promised["dry_run"] is True
    assert cli.json("memory", "list")["total"] == 0
    done = cli.json("memory", "import", str(notes))
    for each in done["items"]:
        each.pop("id", None)
    assert done["items"] == promised["items"]


def test_an_export_and_import_move_a_store_to_another_home(cli: Cli, tmp_path: Path) -> None:
    cli.add("tabs", "prefers tabs", "--body", "since Go\n")
    cli.json("memory", "archive", cli.add("old", "archived"))
    told = cli.json("memory", "export", str(tmp_path / "out"))
    assert (told["ok"], {each["outcome"] for each in told["results"]}) == (True, {"written"})
    before = cli.json("memory", "list", "--state", "all")
    other = ("--home", str(tmp_path / "other"))
    cli.run("settings", "set", "memory.embeddingProviderId", "none", *other)
    assert cli.json("memory", "import", str(tmp_path / "out"), *other)["counts"] == {"skipped": 1, "added": 2}
    assert cli.json("memory", "list", "--state", "all", *other) == before


def test_an_export_that_meets_foreign_files_fails_and_says_which(cli: Cli, tmp_path: Path) -> None:
    cli.add("n")
    (tmp_path / "INDEX.md").write_text("mine", "utf-8")
    told = cli.json("memory", "export", str(tmp_path), code=1)
    assert [(each["file"], each["outcome"]) for each in told["results"]][1:] == [("INDEX.md", "kept")]
    assert (tmp_path / "INDEX.md").read_text("utf-8") == "mine"
    assert "INDEX.md" in cli.run("memory", "export", str(tmp_path)).out


def test_an_audit_names_what_to_look_at_and_the_command_works(cli: Cli) -> None:
    one, two = cli.add("one", "prefers tabs"), cli.add("two", "Prefers TABS")
    told = cli.json("memory", "audit")
    (finding,) = told["findings"]
    assert (finding["kind"], set(finding["ids"])) == ("duplicate", {one, two})
    program, *arguments = finding["fix"].split()
    assert program == "spark-tui"
    cli.json(*arguments)
    assert cli.json("memory", "audit")["findings"] == []
    assert "prefers tabs" not in cli.run("memory", "audit").out
