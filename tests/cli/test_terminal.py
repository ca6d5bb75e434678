"""What a person sees on a terminal of 80 cells: colours, whole rows, a question before deleting, progress."""

import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path

import pytest

from spark_tui.text.width import cells
from tests.cli.conftest import Cli
from tests.support import child_environment

WIDTH = 80
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def on_terminal(cli: Cli) -> Callable[..., str]:
    """Runs a command with a terminal of 80 cells on all three streams; answers all it printed."""

    def run(*arguments: str, typed: bytes = b"", **environ: str) -> str:
        ours, theirs = os.openpty()
        ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "spark_tui", *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=cli.project, env=child_environment(**environ),
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, typed)
        said = _everything(ours)
        assert process.wait() in (0, 1)
        return said

    return run


def _everything(terminal: int) -> str:
    said = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux reports the end of a terminal as an error
            part = b""
        if not part:
            os.close(terminal)
            return said.decode().replace("\r\n", "\n")
        said += part


def test_rows_fit_the_terminal_and_have_colours(cli: Cli, on_terminal: Callable[..., str]) -> None:
    cli.add("long-chinese", "用中文回答，" * 30)
    cli.add("long-english", "answers in plain words " * 8)
    for command in (("memory", "list"), ("memory", "search", "answers", "中文", "--explain"), ("memory", "changes")):
        said = on_terminal(*command)
        assert COLOUR.search(said)
        assert max(cells(line) for line in COLOUR.sub("", said).splitlines()) <= WIDTH
        assert not COLOUR.search(on_terminal(*command, NO_COLOR="1"))
        assert not COLOUR.search(on_terminal(*command, TERM="dumb"))


def test_a_document_on_a_terminal_is_still_one_document(cli: Cli, on_terminal: Callable[..., str]) -> None:
    import json

    cli.add("n")
    assert json.loads(on_terminal("memory", "list", "--json"))["total"] == 1


def test_delete_asks_on_the_terminal(cli: Cli, on_terminal: Callable[..., str]) -> None:
    entry_id = cli.add("zebra")
    assert "zebra" in on_terminal("memory", "delete", entry_id, typed=b"n\n")
    assert cli.file(entry_id).exists()
    assert "done" in on_terminal("memory", "delete", entry_id, typed=b"y\n")
    assert not cli.file(entry_id).exists()


def test_an_import_shows_how_far_it_is(cli: Cli, on_terminal: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("a note", "utf-8")
    assert "1 read" in on_terminal("memory", "import", str(tmp_path / "note.md"))
