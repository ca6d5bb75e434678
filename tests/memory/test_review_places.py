"""Clones, moved repositories, odd clocks and hand-written secrets: each once went wrong and is held here."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.clock import iso, parse_iso
from engine.errors import ValidationFailed
from engine.memory.model import Draft, Scope
from engine.storage.lock import exclusive
from tests.support import Place, draft, everything, memory_md, run_python, state_of


def project_draft(name: str) -> Draft:
    return replace(draft(name), scope=Scope.PROJECT)


def test_a_clone_of_an_absent_project_gets_none_of_its_private_memories(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        private = engine.store.add(project_draft("private"))
    clone = tmp_path / "clone"
    (clone / ".spark-agent").mkdir(parents=True)
    shutil.copy(place.project / ".spark-agent" / "workspace.json", clone / ".spark-agent")
    away = place.project.rename(tmp_path / "away")
    with place.open(clone) as engine:
        assert everything(engine) == []
    away.rename(place.project)
    with place.open() as engine:
        assert state_of(engine, private.id) == "active"


def test_a_moved_project_keeps_its_history(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        entry = engine.store.add(project_draft("ours"))
        engine.store.archive([entry.id])
        engine.store.unarchive([entry.id])
    moved = place.project.rename(tmp_path / "moved")
    with place.open(moved) as engine:
        assert len(engine.history.revisions(entry.id)) == 2


def test_the_first_write_in_a_clone_keeps_git_out(place: Place) -> None:
    folder = place.project / ".spark-agent"
    folder.mkdir()
    (folder / "workspace.json").write_text('{"id": "ws_0000abcd", "memories": "undecided"}', "utf-8")
    subprocess.run(["git", "init", "-q", str(place.project)], check=True)
    with place.open() as engine:
        entry = engine.store.add(project_draft("ours"))
    git = ["git", "-C", str(place.project), "status", "--porcelain", "--untracked-files=all"]
    assert entry.id not in subprocess.run(git, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "not a time"])
def test_a_time_that_cannot_be_written_back_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        parse_iso(text)


@pytest.mark.parametrize(
    "text", ["0001-02-01T00:00:00+14:00", "9999-12-01T23:59:59-14:00", "2026-10-31T08:00:00+08:00"]
)
def test_a_time_that_is_taken_can_be_written_back(text: str) -> None:
    assert parse_iso(iso(parse_iso(text))) == parse_iso(text)


@pytest.mark.parametrize("zone", ["CST-8", "Asia/Shanghai", "UTC", "nonsense/zone", "EST5EDT"])
def test_the_zone_has_a_name_that_can_be_read_back(zone: str) -> None:
    script = (
        "from datetime import datetime\nfrom engine.clock import SystemClock\n"
        "zone = SystemClock().zone()\nprint(zone.key, datetime.now(zone).utcoffset())"
    )
    told = run_python(script, TZ=zone).stdout.split(maxsplit=1)
    assert ZoneInfo(told[0]).key == told[0]
    if zone in ("CST-8", "Asia/Shanghai"):
        assert told[1].strip() == "8:00:00"


@pytest.mark.parametrize(
    "line",
    [
        "# sk-ant-api03-{}",
        "mine:\n  key: sk-ant-api03-{}",
        "mine:\n  - a: sk-ant-api03-{}",
        "source_session_id: sk-ant-api03-{}",
        "links: [a] # sk-ant-api03-{}",
    ],
)
def test_a_secret_anywhere_in_a_hand_written_head_keeps_the_file_out(place: Place, line: str) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs"))
        path = place.path(entry)
        secret = line.format("Qm4xV7tKp2LwZc9RbN3sYd8HfJ6gTq1eUaXoWv5iMyBkPzAn")
        path.write_text(path.read_text("utf-8").replace("---\n", f"---\n{secret}\n", 1), "utf-8")
        before = path.read_bytes()
        engine.refresh()
        assert state_of(engine, entry.id) == "quarantined"
        assert path.read_bytes() == before


def test_plain_files_of_the_store_stay_in(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs", entities=("Makefile", "缩进"), links=("https://example.org/a#b",)))
        path = place.path(entry)
        path.write_text(path.read_text("utf-8").replace("---\n", "---\n# my own note\nmine: {a: [1, 2]}\n", 1), "utf-8")
        engine.refresh()
        assert state_of(engine, entry.id) == "active"


def test_reading_waits_a_moment_for_a_writer_and_then_goes_on(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs"))
    path = place.path(entry)
    path.write_text(path.read_text("utf-8").replace("short answers", "long answers"), "utf-8")
    with exclusive(place.home.run / "store.lock", 1), place.open() as engine:
        assert engine.listing.entry(entry.id).description == "prefers short answers"
    with place.open() as engine:
        assert engine.listing.entry(entry.id).description == "prefers long answers"


def test_many_hand_edits_leave_one_true_list(place: Place) -> None:
    with place.open() as engine:
        entries = [engine.store.add(draft(f"fact-{number}", "short")) for number in range(12)]
        for entry in entries:
            path = place.path(entry)
            path.write_text(path.read_text("utf-8").replace("description: short", "description: long"), "utf-8")
        engine.refresh()
        assert all(line.endswith("— long") for line in memory_md(place.home.memory_user))
        assert len(memory_md(place.home.memory_user)) == 12
