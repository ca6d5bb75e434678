"""The schema grows one step a file, each in its own transaction, whoever comes first."""

import threading
from pathlib import Path

import apsw

from engine.storage import migrations, steps
from engine.storage.connection import connect


def test_steps_are_numbered_without_gaps_and_one_to_a_file() -> None:
    numbers = [number for number, _ in migrations.known_steps()]
    assert numbers == list(range(1, len(numbers) + 1))
    files = [path.stem for path in Path(steps.__path__[0]).glob("*.py") if path.stem != "__init__"]
    assert sorted(files) == [name for _, name in migrations.known_steps()]


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    connection = connect(tmp_path / "spark.db")
    assert migrations.version_of(connection) == 0
    assert migrations.migrate(connection) == migrations.newest_version()
    before = list(connection.execute("SELECT type, name, sql FROM sqlite_master"))
    assert migrations.migrate(connection) == 0
    assert list(connection.execute("SELECT type, name, sql FROM sqlite_master")) == before
    connection.close()


def test_several_who_start_at_once_migrate_once(tmp_path: Path) -> None:
    ran: list[int] = []

    def start(connection: apsw.Connection) -> None:
        ran.append(migrations.migrate(connection))
        connection.close()

    connections = [connect(tmp_path / "spark.db") for _ in range(6)]
    threads = [threading.Thread(target=start, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(ran) == migrations.newest_version()


def test_numbers_of_deleted_rows_are_never_given_out_again(tmp_path: Path) -> None:
    connection = connect(tmp_path / "spark.db")
    migrations.migrate(connection)
    reused = []
    for table, columns in {
        "memory_entry": _entry(),
        "memory_entity": {"layer": "user", "name": "n", "normalised": "n"},
    }.items():
        sql = f"INSERT INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        connection.execute(sql, tuple(columns.values()))
        first = connection.last_insert_rowid()
        connection.execute(f"DELETE FROM {table}")
        list(connection.execute("VACUUM"))
        connection.execute(sql, tuple(columns.values()))
        reused.append(connection.last_insert_rowid() == first)
    assert reused == [False, False]
    connection.close()


def _entry() -> dict[str, object]:
    texts = ("layer", "id", "scope", "type", "name", "description", "body", "source", "author_role", "file_hash")
    numbers = ("confidence", "created_at", "updated_at", "valid_from", "version", "file_mtime_ns", "file_size")
    return dict.fromkeys(texts, "x") | dict.fromkeys(numbers, 1)


def test_the_index_lets_one_live_entry_hold_a_name(tmp_path: Path) -> None:
    connection = connect(tmp_path / "spark.db")
    migrations.migrate(connection)

    def insert(**fields: object) -> bool:
        row = _entry() | fields
        sql = f"INSERT INTO memory_entry({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        try:
            connection.execute(sql, tuple(row.values()))
        except apsw.ConstraintError:
            return False
        return True

    assert insert(id="a")
    assert not insert(id="b")
    assert not insert(id="c", valid_until=1)  # an expired one still holds it until it gives way
    assert insert(id="d", archived=1)
    assert insert(id="e", invalid_at=1)
    assert insert(id="f", file_state="quarantined")
    assert insert(id="g", layer="y")
    assert not insert(id="a", name="y")
    connection.close()
