"""The vector index: one truth, two ways to rank it, and no way to find what may not be found."""

import array
import logging
import math
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ValidationFailed
from engine.storage.vector_extension import is_loaded, load_extension
from engine.storage.vectors import VectorIndex

SCHEMA = """
CREATE TABLE row(rid INTEGER PRIMARY KEY, layer TEXT, live INTEGER, expires INTEGER, type TEXT);
CREATE VIEW memory_vector_row AS SELECT rid, layer, live, expires, type FROM row;
CREATE TABLE memory_embedding(
  rid INTEGER PRIMARY KEY, generation INTEGER NOT NULL, input_hash TEXT NOT NULL, vector BLOB NOT NULL);
CREATE TABLE memory_index_state(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
INDEX = VectorIndex("memory")
NOW = 1_000


class Row(NamedTuple):
    layer: str = "user"
    live: bool = True
    expires: int | None = None
    type: str = "user"


PLAIN = Row()


def connect(path: Path, extension: bool = True) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5_000)
    for pragma in ("journal_mode = WAL", "secure_delete = ON", "synchronous = OFF"):
        list(connection.execute(f"PRAGMA {pragma}"))
    if extension:
        assert load_extension(connection) is None
    return connection


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "spark.db"
    connection = apsw.Connection(str(file))
    list(connection.execute(SCHEMA))
    connection.close()
    return file


def vector(seed: int, dimension: int = 8) -> bytes:
    draw = random.Random(seed)
    return array.array("f", [draw.gauss(0, 1) for _ in range(dimension)]).tobytes()


def put(connection: apsw.Connection, rid: int, row: Row = PLAIN, seed: int | None = None, dimension: int = 8) -> bool:
    connection.execute("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?)", (rid, *row))
    return INDEX.put(
        connection,
        rid,
        row.layer,
        vector(rid if seed is None else seed, dimension),
        generation=INDEX.generation(connection),
        input_hash=str(seed),
        live=row.live,
        expires=row.expires,
        type=row.type,
    )


def set_meta(connection: apsw.Connection, rid: int, row: Row) -> None:
    connection.execute("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?)", (rid, *row))
    INDEX.set_meta(connection, rid, live=row.live, expires=row.expires, type=row.type)


def delete(connection: apsw.Connection, rid: int) -> None:
    connection.execute("DELETE FROM row WHERE rid = ?", (rid,))
    INDEX.delete(connection, rid)


def found(connection: apsw.Connection, seed: int, layers: tuple[str, ...] = ("user",), **options: object) -> list[int]:
    hits = INDEX.search(connection, vector(seed), layers, NOW, **options)  # type: ignore[arg-type]
    return [rid for rid, _ in hits]


def cosine(one: bytes, other: bytes) -> float:
    a, b = array.array("f", one), array.array("f", other)
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


LAYERS = ("user", "project:1", "agent:main")
ROWS = st.builds(
    Row,
    layer=st.sampled_from(LAYERS),
    live=st.booleans(),
    expires=st.sampled_from([None, NOW - 1, NOW, NOW + 1, 2**40]),
    type=st.sampled_from(["user", "feedback", "a type with a longer name"]),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "meta", "delete"]), st.integers(1, 12), ROWS, st.integers(1, 10**6)
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(
    steps=STEPS,
    asked=st.lists(st.sampled_from(LAYERS), min_size=1, max_size=3),
    kind=st.sampled_from([None, "user", "a type with a longer name"]),
    k=st.integers(1, 8),
    blind=st.sets(st.integers(0, 39), max_size=3),
)
def test_index_and_fallback_find_what_an_exhaustive_look_at_the_rows_finds(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, Row, int]],
    asked: list[str],
    kind: str | None,
    k: int,
    blind: set[int],
) -> None:
    file = tmp_path_factory.mktemp("vectors") / "spark.db"
    sighted, plain = connect(file), connect(file, extension=False)
    list(sighted.execute(SCHEMA))
    INDEX.begin_generation(sighted, "m", 8)
    kept: dict[int, tuple[Row, int]] = {}
    for at, (step, rid, row, seed) in enumerate(steps):
        writer = plain if at in blind else sighted
        if step == "put":
            put(writer, rid, row, seed)
            kept[rid] = (row, seed)
        elif step == "delete":
            delete(writer, rid)
            kept.pop(rid, None)
        elif rid in kept:
            changed = row._replace(layer=kept[rid][0].layer)
            set_meta(writer, rid, changed)
            kept[rid] = (changed, kept[rid][1])
    visible = {
        rid: cosine(vector(0), vector(seed))
        for rid, (row, seed) in kept.items()
        if row.layer in asked and row.live and (row.expires is None or row.expires > NOW) and kind in (None, row.type)
    }
    wanted = sorted(visible, key=lambda rid: -visible[rid])[:k]

    before = INDEX.search(sighted, vector(0), asked, NOW, kind, k)
    INDEX.repair(sighted)
    assert not INDEX.is_dirty(sighted)
    for hits in (
        before,
        INDEX.search(sighted, vector(0), asked, NOW, kind, k),
        INDEX.search(plain, vector(0), asked, NOW, kind, k),
    ):
        assert [similarity for _, similarity in hits] == pytest.approx([visible[rid] for rid in wanted], abs=1e-5)
        assert {rid for rid, _ in hits} <= set(visible)
        assert all(similarity == pytest.approx(visible[rid], abs=1e-5) for rid, similarity in hits)
    sighted.close()
    plain.close()


@pytest.mark.parametrize("extension", [True, False])
def test_rows_that_may_not_be_found_never_take_a_place_among_the_nearest(path: Path, extension: bool) -> None:
    connection = connect(path, extension)
    INDEX.begin_generation(connection, "m", 8)
    for rid in range(1, 61):  # all nearer to the query than the one that may be found
        hidden = (Row(live=False), Row(expires=NOW), Row(layer="agent:other"), Row(type="feedback"))[rid % 4]
        put(connection, rid, hidden, seed=7)
    put(connection, 99, Row(expires=NOW + 1), seed=8)

    assert found(connection, 7, type="user", k=3) == [99]


def test_the_best_of_all_layers_come_first_and_no_more_than_were_asked_for(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    for rid in range(1, 91):
        put(connection, rid, Row(layer=LAYERS[rid % 3]))
    hits = INDEX.search(connection, vector(5), (*LAYERS, "user"), NOW, k=20)

    assert len(hits) == len({rid for rid, _ in hits}) == 20
    assert hits[0] == (5, pytest.approx(1.0, abs=1e-6))
    assert [similarity for _, similarity in hits] == sorted((similarity for _, similarity in hits), reverse=True)


@pytest.mark.parametrize("extension", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        [math.nan] + [0.5] * 7,
        [math.inf] + [0.5] * 7,
        [-math.inf] + [0.5] * 7,
        [0.0] * 8,
        [1.0] * 7,
        [1.0] * 9,
        [],
    ],
)
def test_a_vector_that_cannot_be_ranked_is_refused_before_it_is_kept(
    path: Path, extension: bool, values: list[float]
) -> None:
    connection = connect(path, extension)
    INDEX.begin_generation(connection, "m", 8)
    put(connection, 1)
    bad = struct.pack(f"<{len(values)}f", *values)

    with pytest.raises(ValidationFailed):
        INDEX.put(connection, 2, "user", bad, generation=1, input_hash="", live=True, expires=None, type="user")
    with pytest.raises(ValidationFailed):
        INDEX.search(connection, bad, ["user"], NOW)
    assert found(connection, 1) == [1]
    assert INDEX.count(connection) == 1


def test_a_vector_of_any_length_ranks_by_its_direction(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 2)
    for rid, values in {1: (1e-30, 0.0), 2: (3e30, 3e30), 3: (0.0, 5.0)}.items():
        connection.execute("INSERT INTO row VALUES (?, 'user', 1, NULL, 'user')", (rid,))
        INDEX.put(
            connection,
            rid,
            "user",
            struct.pack("<2f", *values),
            generation=1,
            input_hash="",
            live=True,
            expires=None,
            type="user",
        )
    hits = INDEX.search(connection, struct.pack("<2f", 2.0, 0.0), ["user"], NOW)

    assert [rid for rid, _ in hits] == [1, 2, 3]
    assert [similarity for _, similarity in hits] == pytest.approx([1.0, math.sqrt(0.5), 0.0], abs=1e-6)


def test_a_rolled_back_write_leaves_neither_truth_nor_index(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    put(connection, 1)
    connection.execute("BEGIN IMMEDIATE")
    put(connection, 2)
    delete(connection, 1)
    connection.execute("ROLLBACK")

    assert found(connection, 1) == [1]
    assert INDEX.count(connection) == 1


def test_a_late_result_of_an_old_generation_is_refused(path: Path) -> None:
    connection = connect(path)
    old = INDEX.begin_generation(connection, "old model", 8)
    put(connection, 1)
    new = INDEX.begin_generation(connection, "new model", 8)
    late = {"input_hash": "", "live": True, "expires": None, "type": "user"}

    assert (INDEX.generation(connection), INDEX.model(connection)) == (new, "new model")
    assert found(connection, 1) == []
    assert INDEX.put(connection, 1, "user", vector(1), generation=old, **late) is False  # type: ignore[arg-type]
    assert INDEX.count(connection) == 0
    assert INDEX.put(connection, 1, "user", vector(1), generation=new, **late) is True  # type: ignore[arg-type]
    assert found(connection, 1) == [1]


def test_beginning_the_current_generation_again_keeps_its_vectors(path: Path) -> None:
    connection = connect(path)
    number = INDEX.begin_generation(connection, "m", 8)
    put(connection, 1)

    assert INDEX.begin_generation(connection, "m", 8) == number
    assert found(connection, 1) == [1]


def test_a_reset_forgets_everything_and_results_under_way_are_refused(path: Path) -> None:
    connection = connect(path)
    number = INDEX.begin_generation(connection, "m", 8)
    put(connection, 1)
    INDEX.reset(connection)

    assert (INDEX.model(connection), INDEX.generation(connection), INDEX.count(connection)) == (None, 0, 0)
    assert found(connection, 1) == []
    assert put(connection, 1) is False
    assert INDEX.begin_generation(connection, "m", 8) > number


def test_another_dimension_is_taken_over_by_every_open_connection(path: Path) -> None:
    writer, reader = connect(path), connect(path)
    INDEX.begin_generation(writer, "small", 8)
    put(writer, 1)
    assert found(reader, 1) == [1]
    INDEX.begin_generation(writer, "large", 16)
    put(writer, 1, dimension=16)

    with pytest.raises(ValidationFailed):
        found(reader, 1)
    assert [rid for rid, _ in INDEX.search(reader, vector(1, 16), ["user"], NOW)] == [1]


def test_a_read_only_connection_searches_by_index(path: Path) -> None:
    writer = connect(path)
    INDEX.begin_generation(writer, "m", 8)
    put(writer, 1)
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    assert load_extension(reader) is None

    assert found(reader, 1) == [1]


def test_a_writer_without_the_extension_leaves_an_index_that_the_next_process_rebuilds(path: Path) -> None:
    sighted, plain = connect(path), connect(path, extension=False)
    INDEX.begin_generation(sighted, "m", 8)
    for rid in (1, 2, 3):
        put(sighted, rid)
    assert not INDEX.is_dirty(sighted)
    put(plain, 4)
    delete(plain, 1)
    set_meta(plain, 2, Row(live=False))

    assert INDEX.is_dirty(sighted)
    assert set(found(sighted, 4)) == set(found(plain, 4)) == {3, 4}
    assert INDEX.repair(plain) is False
    assert INDEX.repair(sighted) is True
    assert INDEX.repair(sighted) is False
    assert not INDEX.is_dirty(plain)
    assert set(found(sighted, 4)) == {3, 4}
    put(sighted, 5)
    assert found(sighted, 5)[0] == 5


def test_a_generation_begun_without_the_extension_gets_its_index_later(path: Path) -> None:
    plain = connect(path, extension=False)
    INDEX.begin_generation(plain, "m", 8)
    put(plain, 1)
    assert found(plain, 1) == [1]
    sighted = connect(path)

    assert found(sighted, 1) == [1]
    assert INDEX.repair(sighted) is True
    assert found(sighted, 1) == [1]


def test_a_deleted_vector_is_gone_from_the_file_whoever_deleted_it(path: Path) -> None:
    secret = struct.pack("<8f", *[math.sqrt(1 / 8)] * 8)
    for extension in (True, False):
        sighted = connect(path)
        INDEX.begin_generation(sighted, "m", 8)
        INDEX.repair(sighted)
        sighted.execute("INSERT OR REPLACE INTO row VALUES (1, 'user', 1, NULL, 'user')")
        INDEX.put(
            sighted,
            1,
            "user",
            secret,
            generation=INDEX.generation(sighted),
            input_hash="",
            live=True,
            expires=None,
            type="user",
        )
        list(sighted.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        assert path.read_bytes().count(secret) == 2  # the truth and its index
        sighted.close()
        writer = connect(path, extension)
        delete(writer, 1)
        list(writer.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        assert secret not in path.read_bytes()
        writer.close()


def test_a_broken_index_costs_no_write_and_no_answer(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    put(connection, 1)
    connection.execute("DROP TABLE memory_vec")

    assert found(connection, 1) == [1]
    assert put(connection, 2)
    assert INDEX.is_dirty(connection)
    assert found(connection, 2)[0] == 2
    assert INDEX.repair(connection) is True
    assert found(connection, 2)[0] == 2


def test_a_row_that_moves_to_another_layer_is_found_only_there(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    put(connection, 1)
    put(connection, 1, Row(layer="project:1"))

    assert found(connection, 1) == []
    assert found(connection, 1, ("project:1",)) == [1]


def test_vacuum_does_not_shift_what_a_row_number_means(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    for rid in range(1, 200):
        put(connection, rid)
    for rid in range(1, 150):
        delete(connection, rid)
    list(connection.execute("VACUUM"))

    assert all(found(connection, rid)[0] == rid for rid in range(150, 200))


def test_three_hundred_layers_do_not_waste_the_disk(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 384)
    connection.execute("BEGIN IMMEDIATE")
    for layer in range(300):
        for number in range(2):
            put(connection, layer * 10 + number + 1, Row(layer=f"project:{layer}"), dimension=384)
    connection.execute("COMMIT")
    list(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))

    assert path.stat().st_size < 300 * 150_000  # vec0's own chunk size takes 1.5 MB a layer


def test_embedding_a_row_again_and_again_does_not_grow_the_index(path: Path) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    for rid in range(1, 201):
        put(connection, rid)
    chunks = "SELECT count(*) FROM memory_vec_chunks"
    before = connection.execute(chunks).fetchall()
    for seed in range(500):
        put(connection, seed % 200 + 1, seed=seed)

    assert connection.execute(chunks).fetchall() == before


def test_nothing_is_found_before_the_first_generation(path: Path) -> None:
    connection = connect(path)
    assert found(connection, 1) == []
    assert put(connection, 1) is False
    set_meta(connection, 1, Row())
    delete(connection, 1)
    assert INDEX.repair(connection) is False


LOADS_A_BROKEN_EXTENSION = """
import apsw, logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from engine.storage.vector_extension import load_extension
reasons = [load_extension(apsw.Connection(":memory:")) for _ in range(3)]
assert all(reasons), reasons
assert "numpy" not in sys.modules and "sqlite_vec" not in sys.modules
"""


def test_a_failing_load_is_logged_once_and_only_a_reason_comes_back(tmp_path: Path) -> None:
    package = tmp_path / "sqlite_vec"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for suffix in (".so", ".dylib", ".dll"):
        (package / f"vec0{suffix}").write_bytes(b"not a library")
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(tmp_path), str(root)])
    done = subprocess.run(
        [sys.executable, "-c", LOADS_A_BROKEN_EXTENSION],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines().count("sqlite-vec load failed, vector search disabled") == 1


def test_loading_gives_the_connection_vec0_and_takes_the_right_to_load_more_away(path: Path) -> None:
    connection = connect(path, extension=False)
    assert not is_loaded(connection)
    assert load_extension(connection) is None
    assert is_loaded(connection)
    with pytest.raises(apsw.Error):
        connection.execute("SELECT load_extension('vec0')").fetchall()


@pytest.mark.parametrize("name", ["", "memory; DROP", "Memory", 'a"b'])
def test_an_index_takes_only_a_plain_table_name(name: str) -> None:
    with pytest.raises(ValueError, match="not a table name"):
        VectorIndex(name)


def test_a_log_of_a_broken_index_names_the_table_and_no_content(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    connection = connect(path)
    INDEX.begin_generation(connection, "m", 8)
    connection.execute("DROP TABLE memory_vec")
    with caplog.at_level(logging.DEBUG):
        put(connection, 1, Row(layer="project:private", type="private type"))

    assert "memory_vec" in caplog.text
    assert "private" not in caplog.text
