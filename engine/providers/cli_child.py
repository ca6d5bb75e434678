"""Runs one agent program to its end in an empty folder; whatever happens, nothing of it is left running or lying about.

Reads no meaning into what the program prints.
"""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

MARKER: Final = "SPARK_AGENT"
"""The variable by which our own hooks know a child of this program: they answer it nothing and learn nothing from it."""
FOLDER_PREFIX: Final = "spark-tui-asks-"
"""How the folders are named in which agents are asked; a transcript of one is none of the person's sessions."""
OUTPUT_MAX: Final = 16_000_000
_LOOK_S: Final = 1.0
# By these a child would take itself for a part of the session that started it.
_SESSION: Final = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID",
                   "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID")  # fmt: skip
# No second call for a title, no updates, no telemetry while it works for us.
_QUIET: Final = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


class TooMuch(Exception):
    """A program printed more than any answer is long."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code, and what it printed."""

    code: int
    out: bytes
    err: bytes


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for an agent that is asked: marked as ours, with no trace of a session around us."""
    kept = {name: value for name, value in environ.items() if name not in _SESSION}
    return kept | _QUIET | {MARKER: "extraction"}


async def run(
    command: Sequence[str], text: str, files: Mapping[str, str], environ: Mapping[str, str], seconds: float
) -> Ended:
    """Run a program with this text on its standard input, in a new folder that holds ``files`` and is gone afterwards.

    Raises ``TimeoutError``, ``TooMuch``, ``OSError``; by then, and after a cancellation, the program and what it
    started in its process group have been killed.
    """
    with _folder(files) as folder, tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:  # fmt: skip
        # Files rather than pipes: a grandchild that outlives the program cannot keep anybody waiting for their end.
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=given, stdout=out, stderr=err, cwd=folder, env=dict(environ), start_new_session=True
        )
        try:
            async with asyncio.timeout(seconds):
                await _ended(process, out)
        finally:
            await _killed(process)
        return Ended(process.returncode or 0, _content(out), _content(err))


async def _ended(process: Process, out: IO[bytes]) -> None:
    end = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait((end,), timeout=_LOOK_S))[0]:
            if os.fstat(out.fileno()).st_size > OUTPUT_MAX:
                raise TooMuch
    finally:
        end.cancel()


async def _killed(process: Process) -> None:
    """End the whole process group; the program itself has ended when this returns."""
    if sys.platform == "win32":
        if process.returncode is None:
            process.kill()
    else:
        # A group whose members have all ended is no failure; one of another user's cannot be ours.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@contextlib.contextmanager
def _folder(files: Mapping[str, str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, ignore_cleanup_errors=True) as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        yield folder


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    content = file.read(OUTPUT_MAX + 1)
    if len(content) > OUTPUT_MAX:
        raise TooMuch
    return content
