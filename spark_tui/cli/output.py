"""The one writer of standard output: a single JSON document or lines for people; notes and progress go to stderr."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from spark_tui.cli.colour import painted

Piece = tuple[str, str]
PIPE_WIDTH = 10_000


class Output:
    """Where a command says things. With ``as_json`` only ``document`` may write to standard output."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        for stream in (sys.stdout, sys.stderr):
            _speak_utf8(stream)

    @property
    def on_terminal(self) -> bool:
        """Whether a person reads this on a terminal, rather than a file or another program."""
        return sys.stdout.isatty()

    @property
    def width(self) -> int:
        """Cells of a line: the terminal's, or as good as endless where the reader is no terminal."""
        if not self.on_terminal:
            return PIPE_WIDTH
        import shutil

        return shutil.get_terminal_size((100, 24)).columns

    def document(self, document: dict[str, Any]) -> None:
        """Print one JSON document; a lone surrogate in it is printed as its JSON escape."""
        indent = 2 if self.on_terminal else None
        sys.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent) + "\n")

    def rows(self, rows: Iterable[Sequence[Piece]]) -> None:
        """Print lines of (style, text) pieces; colours only on a terminal, and not where ``NO_COLOR`` is set."""
        coloured = _wants_colour(sys.stdout)
        for row in rows:
            sys.stdout.write(_line(row, coloured) + "\n")

    def line(self, text: str = "", style: str = "text") -> None:
        """Print one line for people."""
        self.rows([((style, text),)])

    def text(self, text: str) -> None:
        """Print text as it is: help, a completion script, a memory block."""
        sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def note(self, text: str, style: str = "dim") -> None:
        """Tell the person something beside the result, on stderr."""
        sys.stderr.write(_line(((style, text),), _wants_colour(sys.stderr)) + "\n")

    def progress(self, text: str) -> None:
        """Show how far a long command is: one line on stderr that overwrites itself, on a terminal only."""
        if self.shows_progress():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def shows_progress(self) -> bool:
        """Whether there is a terminal on which a line can overwrite itself."""
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def ask(self, question: str) -> bool:
        """Ask on the terminal; only ``y`` or ``yes`` is a yes, everything else and the end of input is a no."""
        sys.stderr.write(question)
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            sys.stderr.write("\n")
        return answer.strip().casefold() in ("y", "yes", "是")

    def can_ask(self) -> bool:
        """Whether there is a person at a terminal to ask."""
        return sys.stdin is not None and sys.stdin.isatty()

    def finish(self) -> None:
        """Send what is still buffered; a reader that has gone away is no failure of the command."""
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            give_up_stdout()


def give_up_stdout() -> None:
    """Let nothing be written to a pipe nobody reads, so that the interpreter's own flush at exit stays quiet too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def read_stdin() -> bytes:
    """Everything on standard input, as bytes: the locale has no say in how a body is read."""
    return sys.stdin.buffer.read()


def _speak_utf8(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _line(row: Sequence[Piece], coloured: bool) -> str:
    if coloured:
        return "".join(painted(style, text) for style, text in row)
    return "".join(text for _style, text in row).rstrip(" ")
