"""The database stays private, stays one, opens on a full disk, and keeps no more connections than it has readers."""

import logging
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from engine import logs
from engine.clock import ManualClock
from engine.errors import IoFailed, StoreBroken, StoreReadOnly
from engine.memory.injection import Request
from engine.memory.model import Changes
from engine.storage import files
from engine.storage.database import Database, open_database
from tests.support import Place, complaints, draft, everything, matches


@pytest.fixture
def open_umask() -> Iterator[None]:
    """The umask most machines have: new files are readable by everybody."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_mode & 0o777 for each in folder.iterdir() if each.is_file()}


def rows(database: Database) -> list[tuple[object, ...]]:
    with database.read() as connection:
        return list(connection.execute("SELECT layer, counter FROM memory_layer_state"))


def write_row(database: Database) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO memory_layer_state VALUES ('user', 1)")


def in_thread(call: Callable[[], object]) -> object:
    """What a call answers, or raises, in a thread of its own."""
    answers: list[object] = []

    def run() -> None:
        try:
            answers.append(call())
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], None]]:
    """A disk of 2 MB on the folder; gives the call that fills it. Skips where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")

    def fill() -> None:
        with open(folder / "filler", "wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(b"x" * 4_096)

    try:
        yield fill
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_fresh_database_is_readable_by_its_owner_alone(tmp_path: Path, open_umask: None) -> None:
    database = open_database(tmp_path / "spark.db", ManualClock())
    write_row(database)
    found = modes(tmp_path)
    database.close()
    assert {"spark.db", "spark.db-wal", "spark.db-shm"} <= set(found)
    assert set(found.values()) == {0o600}


def test_a_database_that_others_could_read_is_closed_to_them(tmp_path: Path, open_umask: None) -> None:
    path = tmp_path / "spark.db"
    first = open_database(path, ManualClock())
    write_row(first)
    for name in modes(tmp_path):
        (tmp_path / name).chmod(0o644)
    second = open_database(path, ManualClock())
    assert set(modes(tmp_path).values()) == {0o600, 0o644}, "the lock file holds nothing"
    assert {name for name, mode in modes(tmp_path).items() if mode == 0o644} == {"spark.db.lock"}
    assert rows(second) == [("user", 1)]
    first.close()
    second.close()


def test_memory_files_are_private_and_keep_the_mode_a_person_gave_them(place: Place, open_umask: None) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("x", "one"))
        folder = place.home.memory_user
        assert modes(folder) == {entry.file: 0o600, "MEMORY.md": 0o600}
        place.path(entry).chmod(0o640)
        (folder / "MEMORY.md").chmod(0o644)
        engine.store.edit(entry.id, Changes(description="two"))
        assert modes(folder) == {entry.file: 0o640, "MEMORY.md": 0o644}


def test_a_staged_file_is_private_before_it_has_any_content(tmp_path: Path, open_umask: None) -> None:
    staged = files.stage(tmp_path / "a.md", b"text")
    assert modes(tmp_path) == {staged.name: 0o600}


def test_a_full_disk_is_opened_for_reading(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as fill:
        place = Place(tmp_path / "disk")
        with place.open() as engine:
            entry = engine.store.add(draft("drinks", "likes tea"))
        fill()
        with place.open() as engine:
            assert engine.database.opening.temporary
            assert isinstance(engine.database.opening.read_only, StoreReadOnly)
            assert matches(engine, "tea") == [entry.id]
            assert engine.inject(Request()).injected
            with pytest.raises((StoreReadOnly, IoFailed)):
                engine.store.edit(entry.id, Changes(body="more"))
        (tmp_path / "disk" / "filler").unlink()
        with place.open() as engine:
            assert engine.database.opening.read_only is None
            engine.store.edit(entry.id, Changes(body="more"))
            assert complaints(place, engine) == []


def test_threads_that_ended_leave_no_connection_behind(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("x", "tea"))
        in_thread(lambda: everything(engine))
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            in_thread(lambda: everything(engine))
        assert len(os.listdir("/proc/self/fd")) <= before + 3


def test_a_thread_that_wakes_late_does_not_open_a_closed_database(tmp_path: Path) -> None:
    database = open_database(tmp_path / "spark.db", ManualClock())
    database.close()
    assert isinstance(in_thread(lambda: rows(database)), apsw.ConnectionClosedError)


def test_a_new_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    database = open_database(tmp_path / "spark.db", ManualClock())
    with database.write():
        assert in_thread(lambda: rows(database)) == []
    database.close()


def test_a_process_notices_that_another_one_set_the_database_aside(tmp_path: Path) -> None:
    path = tmp_path / "spark.db"
    old = open_database(path, ManualClock())
    write_row(old)
    (tmp_path / "spark.db.damaged").touch()  # what a process leaves that met damage
    new = open_database(path, ManualClock())
    assert new.opening.set_aside is not None
    with pytest.raises(StoreBroken, match="replaced"):
        write_row(old)
    with pytest.raises(StoreBroken, match="replaced"), old.read():
        write_row(old)
    assert isinstance(in_thread(lambda: rows(old)), StoreBroken)
    old.close()
    assert not (tmp_path / "spark.db.damaged").exists(), "the new one is not taken for the damaged one"
    write_row(new)
    again = open_database(path, ManualClock())
    assert (again.opening.set_aside, rows(again)) == (None, [("user", 1)])
    new.close()
    again.close()


def test_setting_the_log_up_again_on_a_full_disk_stops_nothing(tmp_path: Path) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    with small_disk(tmp_path / "disk") as fill:
        logs.setup(tmp_path / "disk" / "spark.log", "info", str)
        logging.getLogger("engine").info("opened")
        fill()
        for number in range(3_000):
            logging.getLogger("engine").info("a line of some length, number %d", number)
        logs.setup(tmp_path / "elsewhere.log", "info", str)
        logging.getLogger("engine").info("here")
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    assert "here" in (tmp_path / "elsewhere.log").read_text("utf-8")


def test_a_log_record_is_one_line_whatever_its_values_hold(tmp_path: Path) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    logs.setup(tmp_path / "spark.log", "info", str)
    for forged in ("a\nb", "a\rb", "a\x1b[2Jb", "a\u2028b", "a\u202eb"):
        logging.getLogger("engine").info("session=%s", forged)
    try:
        raise ValueError("wrong")
    except ValueError:
        logging.getLogger("engine").exception("failed")
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    text = (tmp_path / "spark.log").read_text("utf-8")
    told = [line.rpartition("session=")[2] for line in text.splitlines() if "session=" in line]
    assert told == ["a\\nb", "a\\rb", "a\\x1b[2Jb", "a\\u2028b", "a\\u202eb"]
    assert text.rstrip().endswith("ValueError: wrong"), "a traceback keeps its lines"
