"""Opening the index in every condition a machine can leave it in; the memory files always survive (issue list of 09)."""

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from engine.clock import ManualClock
from engine.errors import IoFailed, StoreBroken, StoreBusy, StoreNewer, StoreReadOnly
from engine.memory.injection import Request
from engine.memory.listing import Filter
from engine.memory.model import Changes
from engine.storage import migrations
from engine.storage.connection import connect
from engine.storage.database import Database, open_database
from tests.support import Place, complaints, draft, durable, everything, matches, run_python, run_sql


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return open_database(tmp_path / "home" / "spark.db", ManualClock())


def test_a_fresh_database_is_made_private_with_our_pragmas(database: Database) -> None:
    assert database.opening.created
    assert database.path.parent.stat().st_mode & 0o077 == 0
    with database.write() as connection:
        pragmas = {
            name: next(connection.execute(f"PRAGMA {name}"))[0]
            for name in ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "temp_store")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1, "temp_store": 2}
    database.close()


def test_a_failed_write_leaves_nothing_and_the_next_one_works(database: Database) -> None:
    with pytest.raises(apsw.ConstraintError), database.write() as connection:
        connection.execute("INSERT INTO memory_layer_state VALUES ('user', 1), ('user', 2)")
    with database.write() as connection, database.write() as same:  # a nested one belongs to the outer
        same.execute("INSERT INTO memory_layer_state VALUES ('user', 2)")
        assert connection is same
    with database.read() as connection:
        assert list(connection.execute("SELECT counter FROM memory_layer_state")) == [(2,)]
    database.close()


def test_a_read_sees_one_snapshot_whatever_is_written_meanwhile(database: Database) -> None:
    def count(connection: apsw.Connection) -> int:
        return next(connection.execute("SELECT count(*) FROM memory_layer_state"))[0]

    with database.read() as connection:
        assert count(connection) == 0
        with database.write() as writer:
            writer.execute("INSERT INTO memory_layer_state VALUES ('user', 1)")
        assert count(connection) == 0
        with database.read() as nested:
            assert count(nested) == 0
    with database.read() as connection:
        assert count(connection) == 1
    database.close()


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreReadOnly), database.read() as connection:
        connection.execute("INSERT INTO memory_layer_state VALUES ('user', 1)")
    database.close()


def test_many_threads_read_and_write_through_one_database(database: Database) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(40):
                with database.write() as connection:
                    connection.execute(
                        "INSERT INTO memory_gate_log(at, scope, name, gate, reason) VALUES (1,'u','n','g','r')"
                    )
                with database.read() as connection:
                    assert next(connection.execute("SELECT count(*) FROM memory_gate_log"))[0] > step
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with database.read() as connection:
        assert next(connection.execute("SELECT count(*) FROM memory_gate_log"))[0] == 240
    database.close()


def test_data_version_moves_when_another_connection_commits(database: Database) -> None:
    before = database.data_version()
    assert database.data_version() == before
    other = open_database(database.path, ManualClock())
    with other.write() as connection:
        connection.execute("INSERT INTO memory_layer_state VALUES ('user', 1)")
    assert database.data_version() != before
    other.close()
    database.close()


def test_many_processes_may_open_a_fresh_home_at_once(tmp_path: Path) -> None:
    code = """
import sys, threading
from pathlib import Path
from engine.clock import ManualClock
from engine.storage.database import open_database
databases = []
def open_one():
    databases.append(open_database(Path(sys.argv[1]), ManualClock()))
threads = [threading.Thread(target=open_one) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(databases), sum(each.opening.created for each in databases), any(each.opening.read_only for each in databases))
"""
    results: list[str] = []
    callers = [
        threading.Thread(target=lambda: results.append(run_python(code, tmp_path / "home" / "spark.db").stdout))
        for _ in range(3)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    counts = [result.split() for result in results]
    assert [(opened, refused) for opened, _, refused in counts] == [("4", "False")] * 3
    assert sum(int(created) for _, created, _ in counts) == 1
    assert [path.name for path in (tmp_path / "home").iterdir() if "broken" in path.name] == []


def filled(place: Place, entries: int = 3) -> dict[str, object]:
    with place.open() as engine:
        for number in range(entries):
            engine.store.add(draft(f"fact-{number}", f"number {number}", "word " * 300))
        return durable(engine)


def damage(path: Path, kind: str) -> None:
    data = path.read_bytes()
    match kind:
        case "zero-length":
            path.write_bytes(b"")
        case "half":
            path.write_bytes(data[: len(data) // 2])
        case "one page short":
            path.write_bytes(data[:-4096])
        case "ten bytes":
            path.write_bytes(data[:10])
        case "garbage":
            path.write_bytes(os.urandom(len(data)))
        case "garbage after the header":
            path.write_bytes(data[:100] + os.urandom(len(data) - 100))
        case "text":
            path.write_text("this is no database\n" * 50, "utf-8")


DAMAGES = ["zero-length", "half", "one page short", "ten bytes", "garbage", "garbage after the header", "text"]


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_database_is_set_aside_and_rebuilt_from_the_files(place: Place, kind: str) -> None:
    kept = filled(place)
    damage(place.home.database, kind)
    damaged = place.home.database.read_bytes()
    with place.open() as engine:
        assert durable(engine) == kept
        assert engine.database.opening.created
        aside = engine.database.opening.set_aside
        if kind == "zero-length":
            assert aside is None
        else:
            assert aside is not None
            assert aside.read_bytes() == damaged
        engine.store.add(draft("another"))
        assert complaints(place, engine) == []
    with place.open() as engine:
        assert len(everything(engine)) == 4
        assert engine.database.opening.set_aside is None


@pytest.mark.parametrize("random_bytes", [True, False])
def test_damage_inside_a_database_is_mended_at_once_or_at_the_next_start(place: Place, random_bytes: bool) -> None:
    kept = filled(place, entries=25)
    sound = place.home.database.read_bytes()
    pages = len(sound) // 4096
    for page in range(1, pages, max(1, pages // 5)):
        data = bytearray(sound)
        data[page * 4096 : (page + 1) * 4096] = os.urandom(4096) if random_bytes else bytes(4096)
        for path in place.home.root.glob("spark.db*"):
            path.unlink()
        place.home.database.write_bytes(data)
        for _ in range(2):
            with suppress(StoreBroken), place.open() as engine:
                engine.search("number")
                engine.store.delete([engine.store.add(draft("another")).id])
                complaints(place, engine)  # looks at every page, also at those nothing else has touched
        with place.open() as engine:
            assert durable(engine) == kept
            assert len(matches(engine, "number")) == 20
            # Damage in a page that nobody reads may still be there.
            assert [each for each in complaints(place, engine) if not each.startswith("integrity")] == []


def test_two_processes_that_meet_a_damaged_database_mend_it_once(place: Place) -> None:
    kept = filled(place)
    damage(place.home.database, "garbage")
    opened: list[Database] = []
    threads = [
        threading.Thread(target=lambda: opened.append(open_database(place.home.database, place.clock)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each.opening.set_aside is not None for each in opened) == 1
    assert len({each.path.stat().st_ino for each in opened}) == 1
    for each in opened:
        with each.write() as connection:  # all of them stand on the same new file
            connection.execute("INSERT INTO memory_gate_log(at, scope, name, gate, reason) VALUES (1,'u','n','g','r')")
    with opened[0].read() as connection:
        assert next(connection.execute("SELECT count(*) FROM memory_gate_log"))[0] == 6
    for each in opened:
        each.close()
    with place.open() as engine:
        assert durable(engine) == kept


def test_a_log_left_by_a_killed_process_is_no_damage(place: Place) -> None:
    filled(place)
    code = """
import os, sys
from pathlib import Path
from engine.storage.connection import connect
connection = connect(Path(sys.argv[1]))
connection.execute("PRAGMA wal_autocheckpoint = 0")
sql = "INSERT INTO memory_gate_log(at, scope, name, gate, reason) VALUES (1, 'user', 'n', 'g', hex(randomblob(400000)))"
connection.execute(sql)
os.kill(os.getpid(), 9)
"""
    assert run_python(code, place.home.database).returncode == -9
    assert place.home.database.with_name("spark.db-wal").stat().st_size > 400_000
    with place.open() as engine:
        assert engine.database.opening.set_aside is None
        with engine.database.read() as connection:
            assert next(connection.execute("SELECT count(*) FROM memory_gate_log"))[0] == 1


def test_a_newer_database_is_read_but_never_written(place: Place) -> None:
    kept = filled(place)
    run_sql(place.home.database, f"PRAGMA user_version = {migrations.newest_version() + 1}")
    files = {path: path.read_bytes() for folder in place.folders() for path in folder.iterdir()}
    with place.open() as engine:
        assert isinstance(engine.database.opening.read_only, StoreNewer)
        assert durable(engine) == kept
        assert matches(engine, "number") != []
        assert engine.inject(Request(session="s")).status == "matched"
        [first, *_] = everything(engine)
        for verb in (
            lambda: engine.store.add(draft("another")),
            lambda: engine.store.edit(first.id, Changes(description="changed")),
            lambda: engine.history.undo("op_00000001"),
        ):
            with pytest.raises(StoreNewer) as caught:
                verb()
            assert caught.value.hint
        assert [each.outcome for each in engine.store.delete([first.id])] == ["STORE_NEWER"]
        assert [each.outcome for each in engine.store.archive([first.id])] == ["STORE_NEWER"]
    assert {path: path.read_bytes() for folder in place.folders() for path in folder.iterdir()} == files
    assert run_sql(place.home.database, "PRAGMA user_version") == [(migrations.newest_version() + 1,)]


def test_a_write_waits_for_a_lock_and_then_says_busy_without_losing_anything(place: Place) -> None:
    kept = filled(place)
    other = connect(place.home.database)
    with place.open() as engine:
        other.execute("BEGIN IMMEDIATE")
        try:
            assert durable(engine) == kept  # reading never waits
            with pytest.raises(StoreBusy) as caught:
                engine.store.add(draft("another", "zanzibarquux", "tanganyikaquux"))
            assert caught.value.hint
            assert "quux" not in str(caught.value) + repr(caught.value.details) + str(caught.value.hint)
        finally:
            other.execute("ROLLBACK")
            other.close()
        engine.store.add(draft("another", "zanzibarquux", "tanganyikaquux"))
        assert complaints(place, engine) == []
    assert "quux" not in place.home.log.read_text("utf-8")


def test_a_home_opens_for_reading_while_another_process_writes(place: Place) -> None:
    kept = filled(place)
    other = connect(place.home.database)
    other.execute("BEGIN IMMEDIATE")
    try:
        with place.open() as engine:
            assert durable(engine) == kept
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_a_home_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", "utf-8")
    database = open_database(tmp_path / "home" / "spark.db", ManualClock())
    assert isinstance(database.opening.read_only, StoreReadOnly)
    database.close()


READING = """
import os, sys, json
from pathlib import Path
from engine.errors import SparkError
from engine.memory.injection import Request
from engine.memory.listing import Filter
from engine.memory.model import Changes, Draft, MemoryType, Scope
from engine.paths import find_home
from engine.runtime import open_engine
home, project = find_home(Path(sys.argv[1])), Path(sys.argv[2])
told = {}
with open_engine(home, project) as engine:
    told["refusal"] = engine.database.opening.read_only.code
    told["path"] = str(engine.database.path)
    told["entries"] = engine.listing.ids(Filter())
    told["found"] = [hit.entry.id for hit in engine.search("number").hits]
    told["injected"] = engine.inject(Request(session="s")).status
    for name, verb in {
        "add": lambda: engine.store.add(Draft(Scope.USER, MemoryType.USER, "another", "x")),
        "project": lambda: engine.store.add(Draft(Scope.PROJECT, MemoryType.USER, "another", "x")),
        "edit": lambda: engine.store.edit(told["entries"][0], Changes(description="x")),
    }.items():
        try:
            verb()
        except SparkError as error:
            told[name] = error.code
    told["delete"] = engine.store.delete(told["entries"][:1])[0].outcome
    told["refresh"] = engine.refresh()
told["left"] = os.path.exists(told["path"])
print(json.dumps(told))
"""


def test_a_read_only_home_is_read_from_its_files_and_refuses_every_write(place: Place) -> None:
    import json

    filled(place)
    for database in (True, False):  # with the index there, and with the files alone
        if not database:
            for path in place.home.root.glob("spark.db*"):
                path.unlink()
        locked = [place.home.root, *[path for path in place.home.root.rglob("*") if path.is_dir()], place.project]
        for folder in locked:
            folder.chmod(0o555)
        for path in place.home.root.rglob("*"):
            if path.is_file():
                path.chmod(0o444)
        before = {path: path.read_bytes() for path in place.home.root.rglob("*") if path.is_file()}
        done = run_python(READING, place.home.root, place.project, powerless=True)
        for folder in locked:
            folder.chmod(0o755)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert len(told["entries"]) == len(told["found"]) == 3
        assert (told["refusal"], told["injected"]) == ("READ_ONLY", "matched")
        assert {told[verb] for verb in ("add", "project", "edit", "delete")} == {"READ_ONLY"}
        assert not told["left"]
        assert not told["path"].startswith(str(place.home.root))
        assert {path: path.read_bytes() for path in place.home.root.rglob("*") if path.is_file()} == before
        assert not (place.project / ".spark-agent").exists()


LIMITED = """
import resource, signal, sys
from pathlib import Path
from engine.errors import SparkError
from engine.memory.model import Changes, Draft, MemoryType, Scope
from engine.paths import find_home
from engine.runtime import open_engine
home, project, limit = find_home(Path(sys.argv[1])), Path(sys.argv[2]), int(sys.argv[3])
with open_engine(home, project) as engine:
    entry = engine.store.add(Draft(Scope.USER, MemoryType.USER, "kept", "kept", "small"))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    codes = []
    for verb in (
        lambda: engine.store.add(Draft(Scope.USER, MemoryType.USER, "big", "big", "words " * 10_000)),
        lambda: engine.store.edit(entry.id, Changes(body="words " * 10_000)),
    ):
        try:
            verb()
            codes.append("done")
        except SparkError as error:
            codes.append(error.code)
    print(" ".join(codes))
"""


@pytest.mark.parametrize("limit", [0, 5_000, 30_000, 150_000])
def test_a_file_that_may_not_grow_fails_with_a_typed_error_and_leaves_the_old(place: Place, limit: int) -> None:
    done = run_python(LIMITED, place.home.root, place.project, limit)
    assert done.returncode == 0, done.stderr
    codes = done.stdout.split()
    assert set(codes) <= {"IO_FAILED", "done"}
    if limit < 50_000:
        assert codes == ["IO_FAILED"] * 2
    with place.open() as engine:
        bodies = {entry.name: engine.listing.body(entry.id) for entry in everything(engine)}
        assert bodies["kept"] in ("small", "words " * 10_000)
        assert ("big" in bodies) == (codes[0] == "done")
        assert (bodies["kept"] == "small") == (codes[1] != "done")
        assert complaints(place, engine) == []


FULL = """
import sys
from pathlib import Path
from engine.errors import SparkError
from engine.memory.model import Changes, Draft, MemoryType, Scope
from engine.paths import find_home
from engine.runtime import open_engine
home, project, filler = find_home(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])
codes = []
with open_engine(home, project) as engine:
    ids = [engine.store.add(Draft(Scope.USER, MemoryType.USER, f"n{i}", f"d{i}", "old " * 500)).id for i in range(5)]
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    for round in range(16):
        for verb in (
            lambda: engine.store.add(Draft(Scope.USER, MemoryType.USER, f"m{round}", "d", "new " * 5_000)),
            lambda: engine.store.edit(ids[round % 5], Changes(body=f"{round} " * 10_000)),
        ):
            try:
                verb()
                codes.append("done")
            except SparkError as error:
                codes.append(error.code)
        codes.append(engine.store.archive([ids[round % 5]])[0].outcome)
        filler.open("r+b").truncate(max(0, filler.stat().st_size - 60_000))  # a little more room each round
print(" ".join(codes))
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="needs a small file system of its own")
def test_a_full_disk_fails_with_a_typed_error_and_never_leaves_half(tmp_path: Path) -> None:
    import subprocess

    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        place = Place(disk)
        done = run_python(FULL, place.home.root, place.project, disk / "filler")
        assert done.returncode == 0, done.stderr
        codes = done.stdout.split()
        assert set(codes) <= {"done", "unchanged", "IO_FAILED"}
        assert "IO_FAILED" in codes
        assert "done" in codes
        (disk / "filler").unlink()
        with place.open() as engine:
            for entry in everything(engine):
                words = set(engine.listing.body(entry.id).split())
                assert len(words) == 1  # old or new, never a mixture
            assert complaints(place, engine) == []
            assert engine.listing.count(Filter()) > 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_an_error_of_the_disk_is_no_error_of_the_person(tmp_path: Path) -> None:
    with pytest.raises(IoFailed):
        raise_full(tmp_path)


def raise_full(tmp_path: Path) -> None:
    from engine.storage import files

    files.write_through(tmp_path / ("x" * 300), b"too long a name")
