"""A person's own editor on a temporary file: the screen steps aside, the engine goes on; nothing is saved from here."""

import asyncio
import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

from spark_tui.text.i18n import _

FALLBACKS = ("nano", "vi")


class EditorFailed(Exception):
    """The editor could not be started or ended with an error; its text is still in ``path`` when there is one."""

    def __init__(self, reason: str, path: Path | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


def editor_command(environ: Mapping[str, str] = os.environ) -> list[str] | None:
    """``$VISUAL``, else ``$EDITOR``, else nano or vi where there is one; the words of its command line."""
    for name in ("VISUAL", "EDITOR"):
        if environ.get(name, "").strip():
            return shlex.split(environ[name])
    found = next((name for name in FALLBACKS if shutil.which(name, path=environ.get("PATH"))), None)
    return [found] if found else None


async def edited(app: App[object], text: str, folder: Path, name: str) -> str:
    """The text as the person left it in their editor. Raises ``EditorFailed``; the file then stays where it is.

    The file lies in ``folder`` (readable by its owner only) under ``name``, which the editor takes its syntax from.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=folder, prefix="edit-"))
    path = place / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    await open_file(app, path)
    try:
        changed = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EditorFailed(_("the file could not be read back: {reason}").format(reason=error), path) from None
    with contextlib.suppress(OSError):
        shutil.rmtree(place)
    return changed


async def open_file(app: App[object], path: Path) -> None:
    """Let the person edit a file where it lies. Raises ``EditorFailed``."""
    command = editor_command()
    if command is None:
        raise EditorFailed(_("no editor found: set $VISUAL or $EDITOR"), path)
    code = await _run(app, [*command, str(path)], path)
    if code:
        raise EditorFailed(_("{editor} ended with {code}").format(editor=command[0], code=code), path)


async def _run(app: App[object], command: list[str], path: Path) -> int:
    """The exit code of the editor; the app's screen is away for as long as it runs, its loop is not."""
    try:
        with app.suspend():
            process = await asyncio.create_subprocess_exec(*command)
            code = await process.wait()
    except SuspendNotSupported:
        raise EditorFailed(_("this terminal cannot be handed to an editor"), path) from None
    except OSError as error:
        raise EditorFailed(f"{command[0]}: {error.strerror}", path) from None
    return code
