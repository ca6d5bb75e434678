"""Keeps our few lines in a ``.gitignore``, between two marks; lines of others are never changed."""

import re
from pathlib import Path

from engine.storage import files

_BEGIN, _END = "# spark-tui: begin", "# spark-tui: end"
_PRIVATE = (
    "# memories stay on this machine until someone chooses to commit them",
    "*",
    "!.gitignore",
    "!workspace.json",
)
_COMMITTED = ("# memories are committed; what can be rebuilt is not", "*.tmp", "*.lock", "MEMORY.md")
_BLOCK = re.compile(rf"(?ms)^{_BEGIN}$.*?^{_END}$\n?")


def write_ignore_rules(folder: Path, *, committed: bool) -> None:
    """Make git see, of ``folder``, all memories or only ``.gitignore`` and ``workspace.json``.

    Raises ``StoreReadOnly`` or ``IoFailed``.
    """
    target = folder / ".gitignore"
    try:
        present = target.read_bytes().decode("utf-8", errors="surrogateescape")
    except FileNotFoundError:
        present = ""
    except OSError as error:
        raise files.io_error(error, target) from error
    block = "\n".join((_BEGIN, *(_COMMITTED if committed else _PRIVATE), _END, ""))
    others = _BLOCK.sub("", present)
    wanted = f"{others.rstrip()}\n{block}" if others.strip() else block  # at the end, because the last rule wins
    if wanted != present:
        files.write_through(target, wanted.encode("utf-8", errors="surrogateescape"))
