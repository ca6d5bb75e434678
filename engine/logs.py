"""The log file: stdlib logging into one rotating file shared by all processes; never onto a terminal, never a secret."""

import logging
import logging.handlers
import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from engine.errors import SparkError
from engine.storage.lock import try_exclusive

MAX_BYTES: Final = 1_000_000
BACKUPS: Final = 3
OURS: Final = ("engine", "spark_tui")
_LINE: Final = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"
# A line without any of these holds nothing a redactor looks for; most lines are such lines.
_WORD = re.compile(r"pass|pwd|pw[:= ]|secret|token|key|bearer|authorization|mysql|curl|wget|https?\s|@|://")
_LONG_TOKEN = re.compile(r"[A-Za-z0-9_+/=\-]{16}")
# What would begin a line of its own, move a terminal's cursor or hide text, in a message that quotes somebody.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONG_NUMBER = re.compile(r"[0-9](?:[ .()\-]{0,2}[0-9]){10}")


def setup(log_path: Path, level: str, redact: Callable[[str], str]) -> None:
    """Write this process's log lines to ``log_path`` (1 MB, three older files); a second call replaces the first.

    ``level`` is ``info`` or ``debug`` and counts for this program's own lines; of libraries only warnings are kept.
    ``redact`` is given every line that could hold a secret, exception text included. A log that cannot be written is
    no reason to stop: its lines are lost.
    """
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, _LogFile)]:
        root.removeHandler(handler)
        with suppress(OSError):  # a full disk refuses what was still buffered
            handler.close()
    file = _LogFile(log_path)
    file.setFormatter(_Redacting(redact))
    root.addHandler(file)
    root.setLevel(logging.WARNING)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else logging.INFO)


def _is_suspect(line: str) -> bool:
    """Whether a redactor has to look; asking costs a fraction of it."""
    if not line.isascii() or _WORD.search(line.lower()):
        return True
    return _LONG_TOKEN.search(line) is not None or _LONG_NUMBER.search(line) is not None


class _Redacting(logging.Formatter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(_LINE)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if not _is_suspect(line):
            return line
        try:
            return self._redact(line)
        except Exception as error:  # what cannot be checked is not written
            return f"{self.formatTime(record)} {record.levelname} {record.name}: (not written: {type(error).__name__})"

    def formatMessage(self, record: logging.LogRecord) -> str:
        """One record is one line, whatever its values hold; only a traceback has more."""
        record.message = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], record.message)
        return super().formatMessage(record)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")


class _LogFile(logging.handlers.BaseRotatingHandler):
    """Opened with the first line, readable by its owner alone; several processes may write and turn it over."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "a", encoding="utf-8", delay=True, errors="backslashreplace")
        self._path = path.absolute()

    def _open(self) -> TextIOWrapper:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return open(handle, "a", encoding="utf-8", errors="backslashreplace")

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Whether the file is full; first follows it when another process has turned it over or someone removed it."""
        if not self._is_current():
            self._reopen()
        return os.stat(self._path).st_size >= MAX_BYTES

    def doRollover(self) -> None:
        """Turn the files over, unless another process is doing so: then this line still goes into the full one."""
        try:
            with try_exclusive(self._path.with_suffix(".lock")) as held:
                if held and self._is_current():
                    self._turn_over()
                    self._reopen()
        except (SparkError, OSError):  # a folder that takes no new file: the log grows on rather than lose lines
            return

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: the base prints to stderr, which is the person's screen."""

    def _turn_over(self) -> None:
        for number in range(BACKUPS - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                os.replace(older, self._numbered(number + 1))
        os.replace(self._path, self._numbered(1))

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _is_current(self) -> bool:
        try:
            return self.stream is not None and os.path.samestat(os.fstat(self.stream.fileno()), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _reopen(self) -> None:
        if self.stream is not None:
            self.stream.close()
        self.stream = self._open()
