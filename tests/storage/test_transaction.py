"""Files and rows change together or not at all; what a dead process left is finished or undone by the next (02 §2)."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import pytest

from engine.clock import ManualClock
from engine.errors import IoFailed, StoreBusy
from engine.storage import files, intents
from engine.storage.database import Database, open_database
from engine.storage.intents import Intent, IntentKind
from engine.storage.lock import exclusive
from engine.storage.recovery import Finished
from engine.storage.transaction import FileDelete, FileMoved, FileTransactions, FileWrite
from tests.support import undeletable


class Shelf:
    """A subject with one folder: its rows are the hashes of its files, kept where any table would do."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "files"
        self.clock = ManualClock()
        self.database: Database = open_database(root / "home" / "spark.db", self.clock)
        self.finished: list[Finished] = []
        self.transactions = FileTransactions(
            self.database, root / "home" / "run" / "store.lock", self.clock, "shelf", self.folder_of, self.finish
        )

    def folder_of(self, layer: str) -> Path | None:
        return self.folder if layer == "shelf" else None

    def finish(self, connection: apsw.Connection, finished: Sequence[Finished]) -> None:
        for each in finished:
            self.put(connection, each.path.name, each.data)
        self.finished += finished

    def put(self, connection: apsw.Connection, name: str, data: bytes) -> None:
        sql = "INSERT OR REPLACE INTO memory_index_state VALUES (?, ?)"
        connection.execute(sql, (name, files.content_hash(data)))

    def write(self, **contents: bytes) -> None:
        """Replace several files in one operation."""
        writes = [self.file_write(f"{name}.md", data) for name, data in contents.items()]

        def apply(connection: apsw.Connection, signatures: Sequence[files.Signature]) -> None:
            assert len(signatures) == len(writes)
            for write in writes:
                self.put(connection, write.file, write.data)

        self.transactions.write("op", writes, apply)

    def file_write(self, name: str, data: bytes) -> FileWrite:
        return FileWrite("shelf", name, self.folder, data, files.content(self.folder / name), "edit", "manual_user")

    def rows(self) -> dict[str, str]:
        with self.database.read() as connection:
            return dict(list(connection.execute("SELECT key, value FROM memory_index_state WHERE key LIKE '%.md'")))

    def agrees(self) -> bool:
        """Whether every row has its file and nothing else lies about."""
        on_disk = {path.name: files.content_hash(path.read_bytes()) for path in self.folder.iterdir()}
        return on_disk == self.rows() and self.transactions.pending() == []

    def leave(
        self, kind: IntentKind, *names: str, data: bytes = b"new", stage: bool = False, applied: bool = False
    ) -> None:
        """What a process leaves that dies after its intents (and staged files)."""
        with self.database.write() as connection:
            for name in names:
                staged = f".{name}.0123456789ab.tmp"
                there = self.folder / name
                intent = Intent(
                    0, "dead", kind, "edit", "shelf", name, staged, files.content_hash(data), "extraction", 5, False,
                    files.content_hash(there.read_bytes()) if there.is_file() else None,
                )  # fmt: skip
                seq = intents.record(connection, "shelf", intent)
                if applied:
                    intents.mark_applied(connection, [seq])
                if stage:
                    files.stage(self.folder / name, data, staged)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.database.close()


def test_several_files_and_their_rows_change_in_one_operation(shelf: Shelf) -> None:
    shelf.write(a=b"1", b=b"2")
    shelf.write(a=b"3", b=b"4", c=b"5")
    assert {path.name: path.read_bytes() for path in shelf.folder.iterdir()} == {
        "a.md": b"3",
        "b.md": b"4",
        "c.md": b"5",
    }
    assert shelf.agrees()


def test_when_the_rows_fail_the_files_stay_as_they_were(shelf: Shelf) -> None:
    shelf.write(a=b"1")

    def apply(connection: apsw.Connection, signatures: Sequence[files.Signature]) -> None:
        shelf.put(connection, "a.md", b"2")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        shelf.transactions.write("op", [shelf.file_write("a.md", b"2"), shelf.file_write("b.md", b"2")], apply)
    assert shelf.agrees()
    assert (shelf.folder / "a.md").read_bytes() == b"1"


def test_when_a_later_file_fails_the_earlier_ones_are_put_back(shelf: Shelf) -> None:
    shelf.write(a=b"1")
    (shelf.folder / "b.md").mkdir()  # a rename onto a folder fails
    writes = [
        FileWrite("shelf", name, shelf.folder, b"2", base, "edit", "manual_user")
        for name, base in (("a.md", b"1"), ("new.md", None), ("b.md", None))
    ]
    with pytest.raises(IoFailed):
        shelf.transactions.write("op", writes, lambda connection, _: shelf.put(connection, "a.md", b"2"))
    (shelf.folder / "b.md").rmdir()
    assert (shelf.folder / "a.md").read_bytes() == b"1"
    assert shelf.agrees()


@pytest.mark.parametrize("base", [None, b"something older"])
def test_a_file_that_moved_on_is_never_overwritten(shelf: Shelf, base: bytes | None) -> None:
    shelf.write(a=b"by hand")
    stale = FileWrite("shelf", "a.md", shelf.folder, b"mine", base, "edit", "manual_user")
    first = shelf.file_write("first.md", b"1")
    with pytest.raises(FileMoved):
        shelf.transactions.write("op", [first, stale], lambda connection, _: shelf.put(connection, "a.md", b"mine"))
    assert (shelf.folder / "a.md").read_bytes() == b"by hand"
    assert shelf.agrees()


def test_what_was_only_intended_or_staged_is_undone(shelf: Shelf) -> None:
    shelf.write(a=b"1")
    shelf.leave(IntentKind.WRITE, "a.md", "new.md")
    shelf.leave(IntentKind.WRITE, "a.md", "new.md", stage=True)
    with shelf.transactions.exclusive():
        assert shelf.agrees()
    assert (shelf.folder / "a.md").read_bytes() == b"1"
    assert shelf.finished == []


@pytest.mark.parametrize("renamed", [1, 2])
def test_what_was_renamed_in_part_is_finished_and_credited_to_the_dead(shelf: Shelf, renamed: int) -> None:
    shelf.write(a=b"1", b=b"1")
    shelf.leave(IntentKind.WRITE, "a.md", "b.md", stage=True)
    for name in ("a.md", "b.md")[:renamed]:
        (shelf.folder / f".{name}.0123456789ab.tmp").replace(shelf.folder / name)
    with shelf.transactions.exclusive():
        assert shelf.agrees()
    assert {path.read_bytes() for path in shelf.folder.iterdir()} == {b"new"}
    assert [each.intent.author for each in shelf.finished] == ["extraction", "extraction"]


def test_a_first_file_edited_by_hand_after_the_crash_does_not_tear_the_operation(shelf: Shelf) -> None:
    shelf.write(a=b"1", b=b"1")
    shelf.leave(IntentKind.WRITE, "a.md", "b.md", stage=True)
    (shelf.folder / ".a.md.0123456789ab.tmp").replace(shelf.folder / "a.md")
    (shelf.folder / "a.md").write_bytes(b"new, and edited")
    with shelf.transactions.exclusive():
        assert shelf.agrees()
    assert (shelf.folder / "a.md").read_bytes() == b"new, and edited"
    assert (shelf.folder / "b.md").read_bytes() == b"new"


def test_an_undo_that_was_interrupted_is_undone_to_the_end(shelf: Shelf) -> None:
    shelf.write(a=b"1", b=b"1")
    shelf.leave(IntentKind.WRITE, "a.md", "b.md", stage=True)
    (shelf.folder / ".b.md.0123456789ab.tmp").unlink()  # the last one goes first
    with shelf.transactions.exclusive():
        assert shelf.agrees()
    assert {path.read_bytes() for path in shelf.folder.iterdir()} == {b"1"}


def test_a_deletion_that_was_only_intended_never_happens_and_an_applied_one_does(shelf: Shelf) -> None:
    shelf.write(a=b"1", b=b"1")
    shelf.leave(IntentKind.DELETE, "a.md")
    shelf.leave(IntentKind.DELETE, "b.md", applied=True)
    with shelf.database.write() as connection:
        connection.execute("DELETE FROM memory_index_state WHERE key = 'b.md'")
    with shelf.transactions.exclusive():
        assert shelf.agrees()
    assert [path.name for path in shelf.folder.iterdir()] == ["a.md"]


def test_a_deletion_whose_file_stays_is_told_and_remembered(shelf: Shelf) -> None:
    shelf.write(a=b"1", b=b"1")
    targets = [FileDelete("shelf", name, shelf.folder, "manual_user") for name in ("a.md", "b.md")]

    def apply(connection: apsw.Connection) -> None:
        connection.execute("DELETE FROM memory_index_state WHERE key LIKE '%.md'")

    with undeletable(shelf.folder / "a.md"):
        blocked = shelf.transactions.delete("op", targets, apply)
        assert targets[0] in blocked
        assert shelf.transactions.blocked("shelf", "a.md") == [shelf.folder / "a.md"]
        with shelf.transactions.exclusive():
            assert shelf.transactions.blocked("shelf", "a.md") == [shelf.folder / "a.md"]
    with shelf.transactions.exclusive():
        assert shelf.agrees()


def test_a_deletion_whose_rows_stay_leaves_the_file(shelf: Shelf) -> None:
    shelf.write(a=b"1")

    def apply(connection: apsw.Connection) -> None:
        connection.execute("DELETE FROM memory_index_state")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        shelf.transactions.delete("op", [FileDelete("shelf", "a.md", shelf.folder, "manual_user")], apply)
    assert shelf.agrees()


def test_leftovers_in_a_place_that_is_away_wait_and_stop_nobody(shelf: Shelf) -> None:
    with shelf.database.write() as connection:
        intent = Intent(0, "dead", IntentKind.WRITE, "edit", "away", "a.md", ".a.md.x.tmp", "0", "sync", 5, False)
        intents.record(connection, "shelf", intent)
    shelf.write(a=b"1")
    assert [each.layer for each in shelf.transactions.pending()] == ["away"]


def test_a_leftover_that_cannot_be_settled_stops_no_other_write(shelf: Shelf) -> None:
    shelf.write(a=b"1")
    (shelf.folder / "folder.md").mkdir()  # its content cannot be read, so nobody knows what became of it
    shelf.leave(IntentKind.WRITE, "folder.md")
    shelf.write(a=b"2")
    assert (shelf.folder / "a.md").read_bytes() == b"2"
    assert [each.file for each in shelf.transactions.pending()] == ["folder.md"]
    (shelf.folder / "folder.md").rmdir()
    with shelf.transactions.exclusive():
        assert shelf.agrees()


def test_the_lock_is_reentrant_in_a_thread_and_excludes_others(shelf: Shelf, tmp_path: Path) -> None:
    order: list[str] = []

    def other() -> None:
        with shelf.transactions.exclusive():
            order.append("other")

    with shelf.transactions.exclusive():
        thread = threading.Thread(target=other)
        thread.start()
        with shelf.transactions.exclusive():
            shelf.write(a=b"1")
        order.append("mine")
    thread.join()
    assert order == ["mine", "other"]
    with exclusive(tmp_path / "home" / "run" / "store.lock", 1), pytest.raises(StoreBusy):
        shelf.transactions.exclusive(timeout_s=0.05).__enter__()
