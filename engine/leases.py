"""Signs of life of a process: a lock file it holds while it lives, which the system frees when it dies, however it dies."""

from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

from engine.identity import Ids
from engine.storage.lock import exclusive, try_exclusive


class Lease:
    """Held from entering to leaving the block; ``name`` tells others whose work something is."""

    def __init__(self, folder: Path, ids: Ids) -> None:
        self._folder = folder
        self._ids = ids
        self._stack = ExitStack()
        self.name = ""

    def __enter__(self) -> "Lease":
        while True:
            name = self._ids.make("wrk")
            if not (self._folder / name).exists():
                break
        self._stack.enter_context(exclusive(self._folder / name, 0.0))
        self.name = name
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            (self._folder / self.name).unlink(missing_ok=True)
        self._stack.close()


def sweep(folder: Path) -> None:
    """Remove the files of processes that are dead."""
    with suppress(OSError):
        for path in list(folder.iterdir()):
            is_held(folder, path.name)


def is_held(folder: Path, name: str | None) -> bool:
    """Whether the process of that lease lives; the file of a dead one is removed."""
    path = folder / (name or "")
    if not name or not path.is_file():
        return False
    with try_exclusive(path) as free:
        if free:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return not free
