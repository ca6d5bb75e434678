"""Shared builders for tests of the engine: one home and project folders on disk, a clock moved by hand, counted ids."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import apsw
import pytest

from engine.clock import Clock, ManualClock
from engine.identity import Ids, counting_ids
from engine.memory.listing import Filter
from engine.memory.model import Draft, Entry, MemoryType, Scope
from engine.paths import Home, find_home
from engine.runtime import Engine, open_engine

REPOSITORY = Path(__file__).parent.parent
# Counts of use live in the index alone; everything else about a memory must come back from its file.
USE = ("hit_count", "last_hit_at")
NOBODY = 65534


class Place:
    """A machine in a folder: a home with embedding off, a project, and engines opened on them one after the other."""

    def __init__(self, root: Path, *, embedding: str = "none", zone: str = "Asia/Shanghai") -> None:
        self.home: Home = find_home(root / "machine" / "spark")
        self.project = root / "projects" / "alpha"
        self.project.mkdir(parents=True)
        self.clock = ManualClock(zone=zone)
        self.ids: Ids = counting_ids()
        self.settings = {"memory.embeddingProviderId": embedding}
        self.configure()

    def configure(self, **settings: object) -> None:
        """Write the settings file; keys are given with ``__`` for the dot."""
        self.settings |= {key.replace("__", "."): str(value) for key, value in settings.items()}
        self.home.root.mkdir(parents=True, exist_ok=True)
        lines = [f"{key} = {_toml(value)}\n" for key, value in self.settings.items()]
        self.home.config.write_text("".join(lines), "utf-8")

    def open(self, folder: Path | None = None, *, clock: Clock | None = None, ids: Ids | None = None) -> Engine:
        """The engine as seen from a folder; files are looked at as at any start."""
        return open_engine(self.home, folder or self.project, clock=clock or self.clock, ids=ids or self.ids)

    def path(self, entry: Entry) -> Path:
        """Where the file of an entry of this home (or of the project) lies."""
        match entry.scope:
            case Scope.USER:
                return self.home.memory_user / entry.file
            case Scope.AGENT:
                return self.home.memory_agents / str(entry.scope_ref) / entry.file
            case Scope.PROJECT:
                return self.project / ".spark-agent" / "memory" / entry.file

    def folders(self) -> list[Path]:
        """Every folder of memories there is."""
        found = [self.home.memory_user, self.project / ".spark-agent" / "memory"]
        if self.home.memory_agents.is_dir():
            found += sorted(self.home.memory_agents.iterdir())
        return [each for each in found if each.is_dir()]


def draft(name: str, description: str = "prefers short answers", body: str = "", **fields: Any) -> Draft:
    """What a person types: a user memory of type user, unless fields say otherwise."""
    values = {"scope": Scope.USER, "type": MemoryType.USER, **fields}
    return Draft(name=name, description=description, body=body, **values)


def everything(engine: Engine) -> list[Entry]:
    """Every entry the person sees, in any state, by id."""
    return sorted(engine.listing.window(Filter(state=None)), key=lambda entry: entry.id)


def durable(engine: Engine) -> dict[str, tuple[dict[str, Any], str]]:
    """All that a file holds of every entry, with its body and the edges it gives rise to, by id."""
    kept = {}
    for entry in everything(engine):
        fields = {key: value for key, value in asdict(entry).items() if key not in USE}
        fields["derivations"] = engine.history.derivations(entry.id)
        kept[entry.id] = (fields, engine.listing.body(entry.id))
    return kept


def state_of(engine: Engine, entry_id: str) -> str:
    """The one word for an entry now."""
    return engine.listing.entry(entry_id).state(engine.clock.now_ms()).value


def memory_md(folder: Path) -> list[str]:
    """The lines of a layer's MEMORY.md; none when there is no such file."""
    path = folder / "MEMORY.md"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def expected_memory_md(engine: Engine, folder: Path) -> list[str]:
    """The lines a layer's MEMORY.md must have now: what is active in it, newest first."""
    shown = [
        entry
        for entry in engine.listing.window(Filter())
        if engine.listing.layer(entry.id).folder.resolve() == folder.resolve()
    ]
    shown.sort(key=lambda entry: (-entry.updated_at, entry.id))
    return [f"- [{entry.name}]({entry.file}) — {entry.description}" for entry in shown]


def complaints(place: Place, engine: Engine) -> list[str]:
    """Everything in which files, rows, indexes, MEMORY.md and leftovers of this place disagree; empty when it is sound."""
    found = list(_row_complaints(place, engine))
    for folder in place.folders():
        leftovers = [each.name for each in folder.iterdir() if each.name.endswith(".tmp") or ".broken-" in each.name]
        found += [f"leftover {name}" for name in leftovers]
        if memory_md(folder) != expected_memory_md(engine, folder):
            found.append(f"MEMORY.md of {folder.name} is not what is active")
    with engine.database.read() as connection:
        found += [f"open intent {seq}" for (seq,) in connection.execute("SELECT seq FROM file_intent")]
        found += [f"integrity: {line}" for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
        rids = {rid for (rid,) in connection.execute("SELECT rid FROM memory_entry WHERE file_state IS NULL")}
        docs = {rid for (rid,) in connection.execute("SELECT id FROM memory_fts_docsize")}
    if rids != docs:
        found.append(f"full text and rows differ by {len(rids ^ docs)}")
    return found


def _row_complaints(place: Place, engine: Engine) -> Iterator[str]:
    on_disk = {path for folder in place.folders() for path in folder.glob("*.md") if path.name != "MEMORY.md"}
    with engine.database.read() as connection:
        sql = "SELECT layer, id, file_hash FROM memory_entry"
        hashes = {(layer, id_): digest for layer, id_, digest in connection.execute(sql)}
    for entry in everything(engine):
        layer = engine.listing.layer(entry.id)
        path = layer.folder / entry.file
        if entry.file_state == "missing":
            if path.exists():
                yield f"{entry.id} is missing, but there is a file"
            continue
        if path not in on_disk:
            yield f"{entry.id} has no file"
            continue
        on_disk.discard(path)
        if hashlib.sha256(path.read_bytes()).hexdigest() != hashes[layer.key, entry.id]:
            yield f"{entry.id} has another file than its row knows"
        if entry.file_state is None and f"version: {entry.version}" not in path.read_text("utf-8").replace("'", ""):
            yield f"{entry.id} has another version in its file"
    yield from (f"{path.name} is in no list" for path in on_disk)


def occurrences(root: Path, *needles: bytes) -> list[tuple[Path, bytes]]:
    """Every file below a folder that holds one of the needles, whatever the file is.

    Another process looks: one that opens and closes a database drops the locks its own connections hold on it.
    """
    found = []
    for needle in needles:
        command = ["grep", "-rlaF", "-e", needle.decode(), str(root)]
        listed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        found += [(Path(path), needle) for path in sorted(listed)]
    return found


def matches(engine: Engine, word: str) -> list[str]:
    """Ids a search for a word finds, best first."""
    return [hit.entry.id for hit in engine.search(word, limit=50).hits]


@contextmanager
def undeletable(path: Path) -> Iterator[None]:
    """Within this nobody can remove the file, not even root; skips where the machine knows no way."""
    if os.geteuid():
        path.parent.chmod(0o500)
    elif subprocess.run(["chattr", "+i", str(path)], capture_output=True).returncode:
        pytest.skip("no file can be made immutable here")
    try:
        yield
    finally:
        if os.geteuid():
            path.parent.chmod(0o700)
        else:
            subprocess.run(["chattr", "-i", str(path)], check=True)


def run_python(
    code: str, *arguments: object, powerless: bool = False, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, with the repository to import from.

    ``powerless``: permissions count even when the tests run as root.
    """
    bound = powerless and os.geteuid() == 0
    if bound and not shutil.which("setpriv"):
        pytest.skip("root cannot be made to respect permissions here")
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner"] if bound else []
    return subprocess.run(
        [*drop, sys.executable, "-c", code, *map(str, arguments)],
        env=child_environment(**environ),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
    )


def child_environment(**more: str) -> Mapping[str, str]:
    """This process's environment with the repository to import from, and more."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **more}


def run_sql(database: Path, sql: str) -> list[tuple[Any, ...]]:
    """Run SQL on a database that no engine has open."""
    connection = apsw.Connection(str(database))
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def _toml(value: str) -> str:
    plain = value.replace(".", "", 1).isdigit() or value in ("true", "false")
    return value if plain else f'"{value}"'


@contextmanager
def without_root_rights() -> Iterator[None]:
    """Root may read and write everything, so act as nobody for the length of the block."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)
