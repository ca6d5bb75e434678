"""What a command does when the home is broken, held, newer, read-only or full: it says so, and files stay whole."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from engine.storage import migrations
from tests.cli.conftest import Cli
from tests.support import child_environment, run_sql

ADD = ("memory", "add", "--scope", "user", "--type", "user", "--name", "late", "--description", "d")


@pytest.fixture
def stocked(cli: Cli) -> Cli:
    """A home with three memories."""
    cli.add("one", "prefers tabs", "--body", "because\n")
    cli.add("two", "builds with vite")
    cli.json("memory", "archive", cli.add("three", "archived zebra"))
    return cli


def seen(cli: Cli) -> tuple[object, ...]:
    """Everything a person can read, in a comparable form."""
    listed = cli.json("memory", "list", "--state", "all")
    shown = [cli.json("memory", "show", each["id"]) for each in listed["entries"]]
    found = [cli.json("memory", "search", query) for query in ("tabs", "vite", "zebra")]
    for hit in (hit for each in found for hit in each["hits"]):
        hit |= {"score": 0, "decay": 0}  # they depend on the moment of asking
    return listed, shown, found


def database(cli: Cli) -> Path:
    return cli.home / "spark.db"


def drop(cli: Cli) -> None:
    for path in cli.home.glob("spark.db*"):
        path.unlink()


@pytest.mark.parametrize("first", [("memory", "reindex"), ("memory", "list")], ids=" ".join)
def test_a_deleted_database_comes_back_from_the_files(stocked: Cli, first: tuple[str, ...]) -> None:
    before = seen(stocked)
    drop(stocked)
    stocked.json(*first)
    assert seen(stocked) == before


def test_reindex_tells_what_it_did(stocked: Cli) -> None:
    drop(stocked)
    told = stocked.json("memory", "reindex")
    assert (told["ok"], told["created"], told["entries"], told["adopted"]) == (True, True, 3, 3)
    assert (told["quarantined"], told["missing"], told["set_aside"]) == (0, 0, None)
    again = stocked.json("memory", "reindex")
    assert (again["created"], again["entries"], again["adopted"]) == (False, 3, 0)


def test_reindex_notices_a_change_under_the_same_time_stamp_and_size(stocked: Cli) -> None:
    entry_id = stocked.json("memory", "search", "tabs")["hits"][0]["entry"]["id"]
    path = stocked.file(entry_id)
    old = path.stat().st_mtime_ns - 10_000_000_000
    os.utime(path, ns=(old, old))
    stocked.json("memory", "list")
    path.write_text(path.read_text("utf-8").replace("prefers tabs", "prefers rats"), "utf-8")
    os.utime(path, ns=(old, old))
    assert stocked.json("memory", "reindex")["adopted"] == 1
    assert [hit["entry"]["id"] for hit in stocked.json("memory", "search", "rats")["hits"]] == [entry_id]


def test_reindex_mends_a_full_text_index_that_lost_entries(stocked: Cli) -> None:
    run_sql(database(stocked), "DELETE FROM memory_fts WHERE rowid = 1")
    rows = {row["id"]: row for row in stocked.json("doctor", code=1)["rows"]}
    assert (rows["full-text"]["state"], rows["full-text"]["fix"]) == ("fail", "spark-tui memory reindex")
    stocked.json("memory", "reindex")
    assert stocked.json("doctor")["ok"] is True
    assert len(stocked.json("memory", "search", "tabs")["hits"]) == 1


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty"])
def test_a_damaged_database_is_set_aside_and_rebuilt(stocked: Cli, damage: str) -> None:
    before = seen(stocked)
    run_sql(database(stocked), "PRAGMA wal_checkpoint(TRUNCATE)")
    for path in stocked.home.glob("spark.db-*"):
        path.unlink()
    data = database(stocked).read_bytes()
    database(stocked).write_bytes({"truncated": data[: len(data) // 2], "garbage": b"x" * 5000, "empty": b""}[damage])
    done = stocked.run("memory", "reindex", "--json")
    assert (done.code, done.json["entries"]) == (0, 3)
    if damage != "empty":
        assert (stocked.home / done.json["set_aside"]).exists()
        assert done.json["set_aside"] in done.err
    assert seen(stocked) == before


def test_a_newer_database_is_read_but_not_written(stocked: Cli) -> None:
    before = seen(stocked)
    run_sql(database(stocked), f"PRAGMA user_version = {migrations.newest_version() + 1}")
    assert seen(stocked) == before
    for command in (ADD, ("memory", "reindex"), ("settings", "rebuild-vectors")):
        error = stocked.json(*command, code=1)["error"]
        assert error["code"] == "STORE_NEWER"
        assert "update" in error["hint"]
    rows = {row["id"]: row["state"] for row in stocked.json("doctor")["rows"]}
    assert rows["database"] == "warn"


@pytest.fixture
def held(stocked: Cli) -> Iterator[Cli]:
    """The store while another program is in the middle of a write."""
    holder = apsw.Connection(str(database(stocked)))
    holder.execute("BEGIN IMMEDIATE")
    yield stocked
    holder.execute("ROLLBACK")
    holder.close()


def test_a_held_database_can_be_read_and_a_write_says_busy(held: Cli) -> None:
    assert held.json("memory", "list")["total"] == 2
    error = held.json(*ADD, code=1)["error"]
    assert (error["code"], bool(error["hint"])) == ("STORE_BUSY", True)
    assert len(list((held.home / "memory" / "user").glob("usr_*.md"))) == 3
    assert not list((held.home / "memory" / "user").glob(".*.tmp"))


def _obey_modes() -> None:
    """Even root minds the mode of a file from now on: PR_CAPBSET_DROP of CAP_DAC_OVERRIDE, before the program starts."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1)


def run_obedient(cli: Cli, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that may do only what the modes of files allow."""
    return subprocess.run(
        [sys.executable, "-m", "spark_tui", *arguments, "--json"],
        env=child_environment(SPARK_HOME=str(cli.home)), cwd=cli.project, capture_output=True,
        text=True, check=False, preexec_fn=_obey_modes,
    )  # fmt: skip


@pytest.fixture
def read_only(stocked: Cli) -> Iterator[Cli]:
    """The home with no right to write anywhere in it."""
    everything = [stocked.home, *stocked.home.rglob("*")]
    for path in everything:
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield stocked
    for path in everything:
        path.chmod(0o700 if path.is_dir() else 0o600)


def test_a_read_only_home_can_be_read_and_refuses_writes(read_only: Cli) -> None:
    listed = run_obedient(read_only, "memory", "list")
    assert listed.returncode == 0, listed.stderr
    assert {each["name"] for each in json.loads(listed.stdout)["entries"]} == {"one", "two"}
    found = json.loads(run_obedient(read_only, "memory", "search", "vite").stdout)
    assert [hit["entry"]["name"] for hit in found["hits"]] == ["two"]
    refused = run_obedient(read_only, *ADD)
    assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (1, "READ_ONLY")
    told = run_obedient(read_only, "doctor")
    states = {row["id"]: row["state"] for row in json.loads(told.stdout)["rows"]}
    assert (told.returncode, states["home"], states["database"]) == (1, "fail", "fail")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB; skips where none can be made."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_and_leaves_no_half_file(cli: Cli, small_disk: Path) -> None:
    home = ("--home", str(small_disk / "home"))
    cli.run("settings", "set", "memory.embeddingProviderId", "none", *home)
    first = cli.json(*ADD, *home)["entry"]
    body = "x" * 200_000
    ended = [cli.run(*ADD[:7], f"n{n}", *ADD[8:], "--body", body, "--json", *home) for n in range(8)]
    failed = [done for done in ended if done.code]
    assert failed
    assert {done.json["error"]["code"] for done in failed} == {"IO_FAILED"}
    assert "full" in failed[0].json["error"]["message"]
    folder = small_disk / "home" / "memory" / "user"
    assert not list(folder.glob(".*.tmp"))
    kept = [path for path in folder.glob("usr_*.md") if path.stem != first["id"]]
    assert all(path.read_text("utf-8").endswith(body) for path in kept)
    assert len(kept) == len(ended) - len(failed)


def test_settings_that_are_no_toml_stop_with_the_line_and_doctor_still_answers(cli: Cli) -> None:
    (cli.home / "config.toml").write_text("[memory\nenabled = maybe", "utf-8")
    error = cli.json("memory", "list", code=1)["error"]
    assert (error["code"], "line 1" in error["message"]) == ("CONFIG_BROKEN", True)
    told = cli.json("doctor", code=1)
    assert {row["id"]: row["state"] for row in told["rows"]}["settings"] == "fail"
    assert cli.json("settings", "set", "memory.enabled", "true", code=1)["error"]["code"] == "CONFIG_BROKEN"
    assert (cli.home / "config.toml").read_text("utf-8") == "[memory\nenabled = maybe"


def test_a_home_that_is_a_file_is_told(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("not a folder", "utf-8")
    assert cli.json("memory", "list", "--home", str(place), code=2)["error"]["code"] == "USAGE"


def test_a_directory_that_went_away_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    error = cli.json("memory", "list", code=1)["error"]
    assert (error["code"], "--workspace" in error["hint"]) == ("FOLDER_GONE", True)
    assert cli.json("memory", "list", "--workspace", str(cli.project))["total"] == 0
