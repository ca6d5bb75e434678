"""Whatever is handed to a command: a clear error, and nothing is lost or half written."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Cli

GIVEN = {"--scope": "user", "--type": "user", "--name": "a-name", "--description": "a description"}
SECRET = "-----BEGIN RSA PRIVATE KEY-----"


def words(**changes: str) -> list[str]:
    """The arguments of ``memory add`` with some of them changed; ``scope="x"`` for ``--scope x``."""
    merged = GIVEN | {f"--{key}": value for key, value in changes.items()}
    return [part for pair in merged.items() for part in pair]


@pytest.mark.parametrize(
    ("changes", "code", "tells"),
    [
        ({"description": "two\nlines"}, "VALIDATION_FAILED", "more than one line"),
        ({"description": "two\u2028lines"}, "VALIDATION_FAILED", "more than one line"),
        ({"description": "x" * 201}, "VALIDATION_FAILED", "201 characters"),
        ({"description": "   "}, "VALIDATION_FAILED", "empty"),
        ({"description": "nul \0 inside"}, "VALIDATION_FAILED", "cannot be stored"),
        ({"description": "half \ud83d pair"}, "VALIDATION_FAILED", "cannot be stored"),
        ({"body": "half \ud83d pair"}, "VALIDATION_FAILED", "cannot be stored"),
        ({"name": "Two Words"}, "VALIDATION_FAILED", "two-words"),
        ({"name": "../escape"}, "VALIDATION_FAILED", "escape"),
        ({"name": "!!!"}, "VALIDATION_FAILED", "letter or digit"),
        ({"name": "x" * 81}, "VALIDATION_FAILED", "80"),
        ({"scope": "agent"}, "VALIDATION_FAILED", "--agent"),
        ({"scope": "agent", "agent": "../../etc"}, "VALIDATION_FAILED", "agent id"),
        ({"scope": "agent", "agent": ".."}, "VALIDATION_FAILED", "agent id"),
        ({"scope": "agent", "agent": "a/b"}, "VALIDATION_FAILED", "agent id"),
        ({"scope": "agent", "agent": ""}, "VALIDATION_FAILED", "agent"),
        ({"body": SECRET}, "SENSITIVE_CONTENT", "secret"),
        ({"description": "密码：hunter2-and-more"}, "SENSITIVE_CONTENT", "secret"),
    ],
)
def test_what_cannot_be_a_memory_is_refused_with_a_reason(
    cli: Cli, changes: dict[str, str], code: str, tells: str
) -> None:
    error = cli.json("memory", "add", *words(**changes), code=1)["error"]
    assert error["code"] == code
    assert tells in error["message"] + error.get("hint", "")
    assert SECRET not in str(error)
    assert not list(cli.home.rglob("usr_*")) + list(cli.home.rglob("agt_*"))
    assert cli.json("memory", "list", "--state", "all")["total"] == 0


def test_a_project_memory_without_a_project_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(cli.project))
    error = cli.json("memory", "add", *words(scope="project"), code=1)["error"]
    assert error["code"] == "VALIDATION_FAILED"
    assert "workspace" in error["message"]
    assert not list(cli.project.iterdir())


def test_a_full_layer_refuses_one_more(cli: Cli) -> None:
    cli.json("settings", "set", "memory.quota.user", "1")
    cli.add("first")
    error = cli.json("memory", "add", *words(), code=1)["error"]
    assert (error["code"], error["count"], error["quota"]) == ("QUOTA_EXCEEDED", 1, 1)


def test_a_bad_edit_leaves_the_memory_as_it_was(cli: Cli) -> None:
    entry_id = cli.add("n", "good", "--body", "text")
    before = cli.file(entry_id).read_bytes()
    for change in (("--description", "a\nb"), ("--body", SECRET), ("--name", "No"), ("--valid-until", "none")):
        cli.run("memory", "edit", entry_id, *change)
    assert cli.file(entry_id).read_bytes() == before
    assert cli.shown(entry_id)["entry"]["version"] == 1


@pytest.mark.parametrize("entry_id", ["usr_zzzzzzzz", "", "../../etc/passwd", "usr_00000000", "中文", "x" * 5000])
def test_an_unknown_id_is_not_found_by_any_verb(cli: Cli, entry_id: str) -> None:
    cli.add("n")
    for verb in (("show",), ("edit", "--description", "x"), ("restore",)):
        assert cli.run("memory", *verb, "--json", "--", entry_id).code == 1
    told = cli.run("memory", "delete", "--yes", "--json", "--", entry_id)
    assert (told.code, told.json["results"][0]["outcome"]) == (1, "NOT_FOUND")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text.replace("name:", "name: [", 1), "line"),
        (lambda text: "<<<<<<< ours\n" + text + ">>>>>>> theirs\n", "conflict"),
        (lambda text: text.replace("---", "--", 1), "frontmatter"),
        (lambda text: text.replace("id: usr_", "id: usr_0", 1), "id"),
        (
            lambda text: text.replace("version: 1", "version: one", 1).replace("version: '1'", "version: one", 1),
            "version",
        ),
        (lambda text: text + f"\n{SECRET}\n", "secret"),
        (lambda text: "", "frontmatter"),
    ],
    ids=["broken-yaml", "conflict", "no-fence", "wrong-id", "odd-version", "secret", "empty"],
)
def test_a_broken_file_is_quarantined_untouched_and_can_be_restored(cli: Cli, damage, reason: str) -> None:  # type: ignore[no-untyped-def]
    entry_id = cli.add("n", "findable zebra", "--body", "text")
    cli.file(entry_id).write_text(damage(cli.file(entry_id).read_text("utf-8")), "utf-8")
    broken = cli.file(entry_id).read_bytes()
    listed = cli.json("memory", "list", "--state", "quarantined")["entries"]
    assert [each["id"] for each in listed] == [entry_id]
    assert reason in listed[0]["file_reason"]
    assert cli.json("memory", "search", "zebra")["hits"] == []
    assert cli.json("memory", "edit", entry_id, "--description", "x", code=1)["error"]["code"] == "VALIDATION_FAILED"
    cli.json("memory", "reindex")
    assert cli.file(entry_id).read_bytes() == broken
    assert cli.json("memory", "restore", entry_id)["entry"]["state"] == "active"
    kept = list(cli.file(entry_id).parent.glob(f"{entry_id}.md.broken-*"))
    assert [path.read_bytes() for path in kept] == [broken]
    assert cli.shown(entry_id)["body"] == "text"


def test_a_file_that_is_no_text_is_quarantined(cli: Cli) -> None:
    cli.add("n")
    stray = cli.home / "memory" / "user" / "usr_0000abcd.md"
    stray.write_bytes(b"\x00\xff\xfe\x00")
    assert cli.json("memory", "list", "--state", "quarantined")["entries"][0]["id"] == "usr_0000abcd"
    assert stray.read_bytes() == b"\x00\xff\xfe\x00"


def test_a_body_file_that_cannot_be_read_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    assert (
        cli.json("memory", "add", *words(), "--body-file", str(tmp_path / "none"), code=2)["error"]["code"] == "USAGE"
    )
    assert cli.json("memory", "add", *words(), "--body-file", str(tmp_path), code=2)["error"]["code"] == "USAGE"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    description=st.text(min_size=1, max_size=220), body=st.text(max_size=200), query=st.text(min_size=1, max_size=60)
)
def test_any_text_is_stored_as_it_is_or_refused_and_any_query_is_answered(
    cli: Cli, description: str, body: str, query: str
) -> None:
    done = cli.run("memory", "add", *words(description=description, body=body), "--json")
    if done.code == 0:
        shown = cli.shown(done.json["entry"]["id"])
        assert (shown["entry"]["description"], shown["body"]) == (description, body)
        assert cli.json("memory", "delete", shown["entry"]["id"], "--yes")["ok"]
    else:
        assert done.json["error"]["code"] in ("VALIDATION_FAILED", "SENSITIVE_CONTENT", "USAGE")
    assert cli.run("memory", "search", "--json", "--", query).json["status"] in ("matched", "empty")
