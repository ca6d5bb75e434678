"""Runs a program on a terminal of its own and looks at it from outside: bytes, CPU, memory; understands no screen.

Nobody answers the program's questions to the terminal, as in the plainest terminals.
"""

import errno
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import psutil

COLUMNS = 80
ROWS = 24
TIMEOUT_S = 60.0
CHUNK = 65_536
QUITTING_S = 5.0


class Terminal:
    """A pty with one program on it; times are seconds since just before the program was started."""

    def __init__(
        self, command: Sequence[str], folder: Path, environ: Mapping[str, str], columns: int = COLUMNS, rows: int = ROWS
    ) -> None:
        self._screen, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environ = {**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.seen = bytearray()
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=inner, stdout=inner, stderr=inner, start_new_session=True
        )
        os.close(inner)
        self._watched = psutil.Process(self._process.pid)

    def until(self, is_there: Callable[[bytes], bool]) -> float:
        """Read until what was seen so far is enough; answers when the last of it came. Raises ``RuntimeError``."""
        while not is_there(bytes(self.seen)):
            if not self._read(TIMEOUT_S):
                raise RuntimeError(f"it never showed that; the last it wrote: {bytes(self.seen[-500:])!r}")
        return time.perf_counter() - self._started

    def during(self, seconds: float) -> int:
        """Read for that long; answers how many bytes came."""
        before, end = len(self.seen), time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self._read(left)
        return len(self.seen) - before

    def quiet(self, seconds: float, most: float) -> None:
        """Read until nothing came for so long, at ``most`` for that long."""
        end = time.perf_counter() + most
        while self._read(seconds) and time.perf_counter() < end:
            pass

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self._screen, keys)

    def cpu(self) -> float:
        """Seconds of CPU the program has used, all threads; to the nanosecond where Linux tells."""
        found = [_nanoseconds(each) for each in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")]
        if found:
            return sum(found) / 1e9
        times = self._watched.cpu_times()
        return times.user + times.system

    def resident(self) -> float:
        """MiB of memory it holds."""
        return self._watched.memory_info().rss / 2**20

    def close(self) -> None:
        """End the program: by its own key, else for good."""
        self.send(b"q")
        end = time.perf_counter() + QUITTING_S
        while self._process.poll() is None and time.perf_counter() < end:
            self._read(0.1)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._screen)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, timeout: float) -> bool:
        if not select.select([self._screen], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._screen, CHUNK)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the program is gone
                raise
            data = b""
        self.seen += data
        return bool(data)


def _nanoseconds(schedstat: Path) -> int:
    try:
        return int(schedstat.read_text().split()[0])
    except OSError:  # a thread that has just ended
        return 0
