"""Single files are written whole or not at all, privately and durably, and every failure is typed."""

import os
import stat
from pathlib import Path

import pytest

from engine.errors import IoFailed, SparkError, StoreReadOnly
from engine.storage import files
from tests.support import run_python, undeletable


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_staged_under_a_hidden_name_and_then_takes_its_place(tmp_path: Path) -> None:
    target = tmp_path / "new" / "deep" / "a.md"
    staged = files.stage(target, b"one")
    assert not target.exists()
    assert files.is_staged(staged.name)
    assert staged.name.startswith(".")
    found = files.publish(staged, target)
    assert target.read_bytes() == b"one"
    assert found == files.signature(target)
    assert names(target.parent) == ["a.md"]
    assert stat.S_IMODE(target.parent.stat().st_mode) == stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_writing_over_a_file_keeps_a_reader_of_the_old_one_undisturbed(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    files.write_through(target, b"old" * 1000)
    with open(target, "rb") as reader:
        files.write_through(target, b"new")
        files.write_derived(tmp_path / "b.md", b"derived")
        assert reader.read() == b"old" * 1000
    assert (target.read_bytes(), names(tmp_path)) == (b"new", ["a.md", "b.md"])


def test_the_signature_tells_a_regular_file_from_everything_else(tmp_path: Path) -> None:
    assert files.signature(tmp_path / "nothing") is None
    (tmp_path / "a.md").write_bytes(b"12345")
    found = files.signature(tmp_path / "a.md")
    assert found is not None
    assert found.size == 5


def test_content_of_no_file_is_none_and_of_an_unreadable_one_an_error(tmp_path: Path) -> None:
    assert files.content(tmp_path / "nothing") is None
    (tmp_path / "folder").mkdir()
    with pytest.raises(IoFailed):
        files.content(tmp_path / "folder")


def test_removing_is_idempotent_and_honest(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "a.md"
    files.remove(target)
    files.write_through(target, b"x")
    with undeletable(target):
        with pytest.raises(SparkError) as caught:
            files.remove(target)
        assert str(target) in str(caught.value)
        assert target.exists()
    files.remove(target)
    files.remove(target)
    assert not target.exists()


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    for write in (files.write_through, files.write_derived):
        with pytest.raises(SparkError):
            write(tmp_path / "a.md", b"x")
        with pytest.raises(IoFailed):
            write(tmp_path / ("x" * 250), b"x")
    assert names(tmp_path) == ["a.md"]


def test_a_folder_that_may_not_be_written_is_told_as_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    code = """
import sys
from pathlib import Path
from engine.errors import SparkError
from engine.storage import files
for write in (files.write_through, files.write_derived):
    try:
        write(Path(sys.argv[1]) / "deep" / "a.md", b"x")
    except SparkError as error:
        print(error.code, error.details["path"])
"""
    done = run_python(code, tmp_path, powerless=True)
    tmp_path.chmod(0o700)
    assert done.stdout.split() == ["READ_ONLY", f"{tmp_path}/deep/a.md"] * 2, done.stderr
    assert names(tmp_path) == []


def test_a_kept_file_can_be_put_back_and_only_staged_names_count_as_staged(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    staged = tmp_path / files.staged_name(target)
    assert files.keep(target, staged) is None
    files.write_through(target, b"old")
    kept = files.keep(target, staged)
    assert kept is not None
    assert files.is_staged(kept.name)
    files.write_through(target, b"new")
    files.publish(kept, target)
    assert (target.read_bytes(), names(tmp_path)) == (b"old", ["a.md"])
    for name in ("a.md", ".a.md.tmp", "a.md.0123456789ab.tmp", ".hidden.md", ".a.md.0123456789ab.tmp.bak"):
        assert not files.is_staged(name)


def test_two_names_staged_at_once_never_collide(tmp_path: Path) -> None:
    staged = {files.stage(tmp_path / "a.md", str(number).encode()) for number in range(50)}
    assert len(staged) == 50
    for each in staged:
        files.discard(each)
        files.discard(each)
    assert names(tmp_path) == []


def test_no_error_quotes_what_was_to_be_written(tmp_path: Path) -> None:
    with pytest.raises(SparkError) as caught:
        files.write_through(tmp_path / ("x" * 300), b"zanzibarquux")
    assert "zanzibarquux" not in repr(caught.value) + repr(caught.value.details)
    assert isinstance(files.io_error(PermissionError(13, "no"), tmp_path), StoreReadOnly)
    assert "full" in str(files.io_error(OSError(28, os.strerror(28)), tmp_path))
