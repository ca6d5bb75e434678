"""Doctor on homes in every condition: it always answers, each row with evidence, and with a fix where one is needed."""

import os
import time
from pathlib import Path

import pytest

from engine.doors.checks.environment import environment_rows
from engine.doors.checks.row import Row, RowState
from engine.doors.doctor import examine, is_broken
from engine.errors import StoreBroken
from engine.memory.model import Scope
from engine.memory.workspaces import Workspace, set_commit_choice
from engine.runtime import Engine, open_engine
from tests.providers.embedding_server import Answer, EmbeddingServer, with_endpoint
from tests.support import Place, draft, run_sql

PERSON = {"LANG": "C.UTF-8", "TERM": "xterm-256color"}


def rows_of(place: Place, folder: Path | None = None) -> dict[str, Row]:
    """Doctor's rows by id."""

    def open_store() -> Engine:
        return open_engine(place.home, folder or place.project, clock=place.clock, ids=place.ids, refresh=False)

    found = examine(place.home, open_store, PERSON)
    assert all(row.evidence for row in found)
    assert all(row.fix for row in found if row.state is RowState.FAIL)
    assert len({row.id for row in found}) == len(found)
    return {row.id: row for row in found}


def test_a_fresh_home_is_sound(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.home.config.unlink()
    place.home.root.rmdir()
    rows = rows_of(place)
    assert not is_broken(list(rows.values()))
    assert {row.id for row in rows.values() if row.state is RowState.WARN} == set()


def test_layers_are_counted_against_their_quotas(place: Place) -> None:
    place.configure(memory__quota__user=2)
    with place.open() as engine:
        engine.store.add(draft("one"))
        engine.store.add(draft("two"))
        engine.store.add(draft("three", scope=Scope.PROJECT))
    rows = rows_of(place)
    assert (rows["layer:user"].state, "2 of 2" in rows["layer:user"].evidence) == (RowState.WARN, True)
    assert "memory.quota.user 4" in str(rows["layer:user"].fix)
    assert (rows["layer:project:1"].state, rows["layer:project:1"].evidence) == (RowState.OK, "1 of 200 active")


def test_the_workspace_and_what_becomes_of_its_memories_are_told(place: Place, tmp_path: Path) -> None:
    assert "no project memory yet" in rows_of(place)["workspace"].evidence
    with place.open() as engine:
        engine.store.add(draft("n", scope=Scope.PROJECT))
        workspace = engine.layers.workspace
    assert isinstance(workspace, Workspace)
    assert "out of git until you choose" in rows_of(place)["workspace"].evidence
    set_commit_choice(workspace, "committed")
    assert "committed with the project" in rows_of(place)["workspace"].evidence
    unbound = rows_of(place, folder=Path("/"))["workspace"]
    assert (unbound.state, "no project" in unbound.evidence) == (RowState.INFO, True)


def test_broken_and_vanished_files_are_named_with_the_command_that_mends_them(place: Place) -> None:
    with place.open() as engine:
        broken, gone = engine.store.add(draft("broken")), engine.store.add(draft("gone"))
    place.path(broken).write_text("---\nname: [\n---\n", "utf-8")
    place.path(gone).unlink()
    rows = rows_of(place)
    assert "1 files to be read again, 1 gone" in rows["index"].evidence
    assert broken.id in rows["quarantined"].evidence
    assert rows["quarantined"].fix == f"spark-tui memory restore {broken.id}"
    assert (rows["missing"].state, rows["missing"].fix) == (RowState.WARN, f"spark-tui memory restore {gone.id}")
    assert rows_of(place)["index"].state is RowState.OK


def test_a_stray_file_has_nothing_to_restore(place: Place) -> None:
    place.home.memory_user.mkdir(parents=True)
    (place.home.memory_user / "usr_0000abcd.md").write_text("no frontmatter", "utf-8")
    assert "never was a memory" in str(rows_of(place)["quarantined"].fix)


def test_the_switch_and_a_missing_model_are_told(place: Place) -> None:
    place.configure(memory__enabled="false")
    rows = rows_of(place)
    assert (rows["enabled"].state, rows["enabled"].fix) == (RowState.WARN, "spark-tui settings set memory.enabled true")
    assert (rows["embedding"].state, "words only" in rows["embedding"].evidence) == (RowState.INFO, True)


def test_back_fill_is_counted(tmp_path: Path) -> None:
    place = Place(tmp_path, embedding="local")
    with place.open() as engine:
        engine.store.add(draft("one"))
        engine.store.add(draft("two", "another"))
        engine.embeddings.fill(1)
    row = rows_of(place)["embedding"]
    assert (row.state, "1 of 2" in row.evidence) == (RowState.INFO, True)


def test_a_wrong_key_is_told_whatever_vectors_another_model_left(tmp_path: Path) -> None:
    place = Place(tmp_path, embedding="local")
    with place.open() as engine:
        engine.store.add(draft("one"))
        engine.embeddings.fill()
    with EmbeddingServer(always=Answer.STATUS_401) as server:
        row = rows_of(with_endpoint(place, server))["embedding"]
    assert row.state is RowState.FAIL
    assert "401" in row.evidence


def test_vectors_of_another_model_are_not_counted_and_where_texts_go_is_said(place: Place) -> None:
    with EmbeddingServer() as server:
        with_endpoint(place, server)
        with place.open() as engine:
            engine.store.add(draft("one"))
            engine.embeddings.fill()
        told = rows_of(place)["embedding"]
        changed = rows_of(with_endpoint(place, server, "other"))["embedding"]
    assert (told.state, "all 1 have a vector; names and descriptions are sent" in told.evidence) == (RowState.OK, True)
    assert (changed.state, "0 of 1" in changed.evidence) == (RowState.INFO, True)


def test_a_write_that_a_dead_process_left_is_told(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("n"))
    run_sql(
        place.home.database,
        "INSERT INTO file_intent(subject, operation, kind, action, layer, file, staged, new_hash, author, at, applied)"
        " VALUES ('memory', 'op_1', 'write', 'add', 'user', 'usr_0000abcd.md', '.x.tmp', 'h', 'manual_user', 1, 0)",
    )
    staged = place.home.memory_user / ".usr_0000abcd.md.0123456789ab.tmp"
    staged.write_text("half", "utf-8")
    old = time.time() - 3600
    os.utime(staged, (old, old))
    rows = rows_of(place)
    assert rows["intents"].state is RowState.WARN
    assert (rows["staged"].state, staged.name in rows["staged"].evidence) == (RowState.WARN, True)


def test_a_clock_that_went_back_is_told(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("n"))
    place.clock.advance(days=-2)
    assert rows_of(place)["clock"].state is RowState.WARN


def test_other_users_of_the_machine_should_not_read_along(place: Place) -> None:
    place.home.root.chmod(0o755)
    assert (rows_of(place)["home"].state, rows_of(place)["home"].fix) == (RowState.WARN, f"chmod 700 {place.home.root}")


@pytest.mark.parametrize(
    ("environ", "id", "state", "tells"),
    [
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "locale", RowState.WARN, "LC_ALL=C"),
        ({"LANG": "zh_CN.utf8"}, "locale", RowState.OK, "LANG=zh_CN.utf8"),
        ({}, "locale", RowState.WARN, "no LC_ALL"),
        ({"COLORTERM": "truecolor", "TERM": "xterm"}, "colour", RowState.OK, "COLORTERM=truecolor"),
        ({"TERM": "tmux-256color"}, "colour", RowState.OK, "TERM=tmux-256color"),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "colour", RowState.INFO, "NO_COLOR"),
        ({"TERM": "vt100"}, "colour", RowState.INFO, "16"),
        ({"TERM": "dumb"}, "colour", RowState.INFO, "none"),
        ({"CLAUDECODE": "1"}, "person", RowState.INFO, "CLAUDECODE"),
    ],
)
def test_the_environment_is_told_by_the_variable_that_decides(
    place: Place, environ: dict[str, str], id: str, state: RowState, tells: str
) -> None:
    row = next(row for row in environment_rows(place.home, environ) if row.id == id)
    assert (row.state, tells in row.evidence) == (state, True)


def test_it_answers_when_the_store_cannot_be_opened(place: Place) -> None:
    def broken() -> Engine:
        raise StoreBroken("the database is damaged", "rebuild it")

    def crashing() -> Engine:
        raise RuntimeError("secret text")

    for open_store in (broken, crashing):
        found = examine(place.home, open_store, PERSON)
        assert is_broken(found)
        assert found[-1].id == "store"
        assert "secret text" not in found[-1].evidence


def test_no_row_carries_text_of_a_memory(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("canary-name", "canary description", "canary body"))
    place.path(entry).write_text("---\nname: canary\ndescription: canary\n", "utf-8")
    told = " ".join(row.evidence + str(row.fix) for row in rows_of(place).values())
    assert entry.id in told
    assert "canary" not in told
