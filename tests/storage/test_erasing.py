"""Text that is deleted is not in the file any more, whatever was written, grown, moved and deleted around it."""

import random
from pathlib import Path

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.storage.connection import connect
from engine.storage.erasing import apart, rewrite

SCHEMA = "CREATE TABLE note(seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, text TEXT, result TEXT)"
WORD = b"wombatlearn"
HISTORIES = 40
WHOLE = st.integers(-(2**63), 2**63 - 1)
VALUES = st.one_of(st.none(), WHOLE, st.floats(allow_nan=False), st.text(max_size=3000), st.binary())


def file_after(path: Path, seed: int, *, roomy: bool, rewritten: bool) -> bytes:
    """The database after a random history of notes that were all emptied, the last one as the first."""
    path.unlink(missing_ok=True)
    chance = random.Random(seed)
    connection = connect(path)
    connection.execute(SCHEMA)
    for number in range(40):
        text = f'"{WORD.decode() * chance.randint(1, 200)}"'
        row = (f"note_{number}", apart(text) if roomy else text)
        connection.execute("INSERT INTO note(id, text) VALUES (?, ?)", row)
        for _ in range(chance.randint(0, 2)):
            emptied = ("r" * chance.randint(1, 900), f"note_{chance.randint(0, number)}")
            connection.execute("UPDATE note SET text = NULL, result = ? WHERE id = ?", emptied)
    connection.execute("UPDATE note SET text = NULL")
    if rewritten:
        rewrite(connection, "note")
    assert next(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))[0] == 0
    connection.close()
    return path.read_bytes()


def leaks(path: Path, *, roomy: bool, rewritten: bool) -> int:
    return sum(WORD in file_after(path, seed, roomy=roomy, rewritten=rewritten) for seed in range(HISTORIES))


def test_sqlite_alone_leaves_copies_and_each_of_our_ways_leaves_none(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    assert leaks(path, roomy=False, rewritten=False) > 0  # else this module could go
    assert leaks(path, roomy=True, rewritten=False) == 0
    assert leaks(path, roomy=False, rewritten=True) == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES))
def test_a_rewritten_table_is_the_same_table(values: list[object]) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE note(seq INTEGER PRIMARY KEY AUTOINCREMENT, a, b TEXT, c REAL)")
    connection.execute("CREATE INDEX by_b ON note(b)")
    for value in values:
        connection.execute("INSERT INTO note(a, b, c) VALUES (?, ?, 1)", (value, str(value)))
    connection.execute("DELETE FROM note WHERE seq % 3 = 0")
    before = list(connection.execute("SELECT *, typeof(a), typeof(b), typeof(c) FROM note"))
    rewrite(connection, "note")
    assert list(connection.execute("SELECT *, typeof(a), typeof(b), typeof(c) FROM note")) == before
    assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    connection.execute("INSERT INTO note(a) VALUES (0)")
    assert connection.last_insert_rowid() == len(values) + 1


def test_a_rewrite_that_is_rolled_back_changes_nothing(tmp_path: Path) -> None:
    connection = connect(tmp_path / "notes.db")
    connection.execute(SCHEMA)
    connection.execute("INSERT INTO note(id) VALUES ('one')")
    connection.execute("BEGIN")
    rewrite(connection, "note")
    connection.execute("ROLLBACK")
    assert list(connection.execute("SELECT id FROM note")) == [("one",)]
    rewrite(connection, "note")  # and it can be done again
    assert list(connection.execute("SELECT id FROM note")) == [("one",)]
