"""The shipped program in a real tmux at 80x24: another process, the person's editor, and a terminal left as it was found."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.memory.listing import Filter
from tests.support import Place, child_environment
from tests.tui.desk import remember

PATIENCE_S = 30.0
CODE = (
    "import sys; from pathlib import Path; from engine.paths import find_home; from spark_tui.app import run;"
    " sys.exit(run(find_home(), Path.cwd()))"
)


class Terminal:
    """One tmux server of our own with one window of 80x24."""

    def __init__(self, tmux: str, socket: Path) -> None:
        self._command = [tmux, "-S", str(socket), "-f", "/dev/null", "-u"]

    def run(self, *arguments: str) -> str:
        """One tmux command; answers what it prints."""
        return subprocess.run([*self._command, *arguments], capture_output=True, text=True, timeout=30).stdout

    def open(self, place: Place, **environ: str) -> None:
        """A shell in the project; the program is started from it as a person would."""
        wanted = child_environment(
            SPARK_HOME=str(place.home.root), LC_ALL="C.UTF-8", COLORTERM="truecolor", PS1="$ ", **environ
        )
        given = [part for name, value in wanted.items() for part in ("-e", f"{name}={value}")]
        self.run("new-session", "-d", "-x", "80", "-y", "24", "-c", str(place.project), *given, "sh")
        self.type(f"{shlex.quote(sys.executable)} -c {shlex.quote(CODE)}; echo left with $?")

    def type(self, text: str) -> None:
        """Type a line."""
        self.run("send-keys", "-l", text)
        self.run("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self.run("send-keys", *keys)

    @property
    def text(self) -> str:
        """What the terminal shows."""
        return self.run("capture-pane", "-p")

    def see(self, *words: str) -> None:
        """Wait until all words are shown."""
        end = time.monotonic() + PATIENCE_S
        while not all(word in self.text for word in words):
            assert time.monotonic() < end, f"waited in vain for {words}:\n{self.text}"
            time.sleep(0.05)


@pytest.fixture
def terminal(tmux: str, tmp_path: Path) -> Iterator[Terminal]:
    found = Terminal(tmux, Path(os.environ["HOME"]) / "t")
    yield found
    found.run("kill-server")


def test_the_screens_in_a_real_terminal(terminal: Terminal, place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        remember(engine, "first-rule", "偏好函数式组件")
    script = tmp_path / "editor.sh"
    script.write_text("sed -i 's/函数式组件/class 组件/' \"$1\"\n", "utf-8")
    terminal.open(place, EDITOR=f"sh {script}")
    terminal.see("alpha", "1 memory", "first-rule", "偏好函数式组件")

    with place.open() as other:
        place.clock.advance(days=1)
        remember(other, "from-elsewhere", "written by another process")
    terminal.see("2 memories", "from-elsewhere")

    path = place.home.memory_user / "usr_00000001.md"
    path.write_text(path.read_text("utf-8").replace("偏好", "改成"), "utf-8")
    terminal.see("改成函数式组件")

    terminal.press("g", "g", "E")
    terminal.see("改成class 组件", "saved first-rule")

    terminal.press("a")
    terminal.see("new memory")
    terminal.press("-l", "Typed in a terminal")
    terminal.press("Enter")
    terminal.see("added typed-in-a-terminal", "3 memories")

    terminal.press("q")
    terminal.see("left with 0")
    assert "Scopes" not in terminal.text
    with place.open() as engine:
        names = {entry.name for entry in engine.listing.window(Filter())}
        assert names == {"first-rule", "from-elsewhere", "typed-in-a-terminal"}
