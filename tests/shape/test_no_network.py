"""Nothing reaches for the network by itself: not at start, not to remember, not to search, not to inject."""

import sys
from pathlib import Path

import pytest

from tests.shape.commands import Command, remember_and_find_again
from tests.shape.tree import CLI, ROOT

pytestmark = pytest.mark.skipif(not CLI.exists(), reason="there is no command yet")

# Refuses, and writes down, every attempt to leave the machine or to ask for a name; local sockets stay open.
SITECUSTOMIZE = """
import os, socket, sys

def _refuse(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        tried = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        if arguments[0].family == socket.AF_UNIX:
            return
        tried = arguments[1]
    else:
        return
    with open(os.environ["TRIED"], "a") as log:
        log.write(f"{event} {tried!r} from {sys.argv}\\n")
    raise OSError(f"no network in this test: {tried!r}")

sys.addaudithook(_refuse)
"""


@pytest.fixture
def tried(tmp_path: Path) -> Path:
    """Where attempts to reach the network are written down."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITECUSTOMIZE, encoding="utf-8")
    return tmp_path / "tried"


@pytest.fixture
def command(tmp_path: Path, tried: Path, home_dir: Path) -> Command:
    """The command of this checkout with every way out of the machine closed."""
    (tmp_path / "elsewhere").mkdir()
    path = f"{tmp_path / 'site'}:{ROOT}"
    program = (sys.executable, "-m", "spark_tui")
    return Command(program, tmp_path / "elsewhere", PYTHONPATH=path, TRIED=str(tried))


def test_a_fresh_home_is_examined_without_network(command: Command, tried: Path) -> None:
    command.text("--version")
    assert isinstance(command.json("doctor"), dict)
    assert not tried.exists(), tried.read_text(encoding="utf-8")


def test_remembering_and_finding_need_no_network(command: Command, tried: Path) -> None:
    remember_and_find_again(command)
    assert not tried.exists(), tried.read_text(encoding="utf-8")


def test_the_guard_notices_a_command_that_does_reach_out(tmp_path: Path, tried: Path) -> None:
    code = "import socket\ntry:\n socket.create_connection(('127.0.0.1', 9))\nexcept OSError:\n print('refused')"
    reaching = Command((sys.executable, "-c", code), tmp_path, PYTHONPATH=str(tmp_path / "site"), TRIED=str(tried))
    assert reaching.text() == "refused\n"
    assert "127.0.0.1" in tried.read_text(encoding="utf-8")
