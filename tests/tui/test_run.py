"""Starting without a terminal that can show screens: one clear line, exit 2, nothing drawn."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import child_environment

CODE = (
    "import sys; from pathlib import Path; from engine.paths import find_home; from spark_tui.app import run;"
    " sys.exit(run(find_home(), Path.cwd()))"
)


def start(tmp_path: Path, *, stdin: int, stderr: int, term: str = "xterm-256color") -> subprocess.Popen[bytes]:
    environment = child_environment(SPARK_HOME=str(tmp_path / "spark"), TERM=term)
    return subprocess.Popen(
        [sys.executable, "-c", CODE], stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment, cwd=tmp_path
    )


def test_without_a_terminal_for_stdin_it_refuses_with_one_line(tmp_path: Path) -> None:
    with start(tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        out, error = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, b"")
    assert error.count(b"\n") == 1
    assert b"needs a terminal" in error
    assert b"\x1b" not in error


def test_with_stderr_in_a_file_it_refuses_instead_of_drawing_into_it(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with (tmp_path / "err").open("wb") as error, start(tmp_path, stdin=theirs, stderr=error.fileno()) as process:
        assert process.wait(timeout=30) == 2
    os.close(ours)
    os.close(theirs)
    assert (tmp_path / "err").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_is_refused_by_name(tmp_path: Path, term: str) -> None:
    ours, theirs = pty.openpty()
    with start(tmp_path, stdin=theirs, stderr=theirs, term=term) as process:
        assert process.wait(timeout=30) == 2
    said = os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert b"cannot show screens" in said
    assert b"\x1b" not in said
    assert not (tmp_path / "spark").exists()


def test_a_settings_file_that_is_no_toml_is_named_before_anything_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "config.toml").write_text("[ui\n", "utf-8")
    ours, theirs = pty.openpty()
    with start(tmp_path, stdin=theirs, stderr=theirs) as process:
        assert process.wait(timeout=30) == 1
    said = os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert b"config.toml is not valid TOML" in said
    assert b"\x1b" not in said
