"""Homes full of invented memories, written as files in bulk and adopted in one go; for measuring only, never a store."""

import os
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from benchmarks import texts
from benchmarks.texts import Text, Writer
from engine.clock import DAY_MS, ManualClock
from engine.identity import Ids, counting_ids
from engine.memory import rows
from engine.memory.document import fields_of, validity
from engine.memory.listing import Filter
from engine.memory.model import PREFIX, AuthorRole, Entry, Layer, Scope, Source
from engine.memory.rows import VECTORS
from engine.paths import Home
from engine.runtime import Engine, open_engine
from engine.storage import frontmatter, steps
from engine.storage.files import content_hash

NOW_MS = 1_760_000_000_000
YEAR_DAYS = 400
# Of ten memories four are the user's, four the project's, one of each agent.
SPREAD = (Scope.USER, Scope.PROJECT, Scope.USER, Scope.AGENT, Scope.PROJECT)
AGENTS = ("reviewer", "writer")
AGENT = AGENTS[0]
SOURCE = content_hash(
    b"".join(path.read_bytes() for path in [Path(texts.__file__), *sorted(Path(*steps.__path__).glob("m*.py"))])
)
"""What wrote a home and its database; one that something else wrote is made anew."""
READ_BEFORE_S = 3_600


@dataclass(frozen=True, slots=True)
class Place:
    """A home and the project folder it is looked at from."""

    home: Home
    project: Path

    def open(self, *, embedding: str = "", refresh: bool = True) -> Engine:
        """An engine here with the default settings but for the quotas; ``embedding`` names another provider."""
        engine = open_engine(self.home, self.project, refresh=refresh)
        if engine.settings.get("memory.embeddingProviderId") != embedding:
            engine.settings.set("memory.embeddingProviderId", embedding)
        return engine


def built(folder: Path, count: int) -> Place:
    """The home of ``count`` memories under ``folder``, each with a vector; one that is there already is used again.

    The vectors are random unit vectors: embedding the texts would take minutes and search would take as long.
    """
    own = folder / f"home-{count}"
    place, written = Place(Home(own / "spark"), own / "projects" / "alpha"), own / "written"
    is_there = written.exists() and written.read_text("ascii") == SOURCE
    if own.exists() and not is_there:
        shutil.rmtree(own)
    place.project.mkdir(parents=True, exist_ok=True)
    with place.open(refresh=False) as engine:
        if not is_there:
            for scope in Scope:
                engine.settings.set(f"memory.quota.{scope}", "100000")
            _write(engine, count)
            written.write_text(SOURCE, "ascii")
        engine.refresh()
        _give_vectors(engine)
        _check(engine, count)
    return place


def _write(engine: Engine, count: int) -> None:
    layers = [
        *(engine.layers.for_writing(scope, None) for scope in (Scope.USER, Scope.PROJECT)),
        *(engine.layers.for_writing(Scope.AGENT, agent) for agent in AGENTS),
    ]
    of_scope = {scope: cycle([layer for layer in layers if layer.scope is scope]) for scope in Scope}
    for layer in layers:
        layer.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = zip(Writer().memories(count), cycle(SPREAD), strict=False)
    ids, pick = counting_ids(0x10000000), random.Random(11)
    for text, scope in made:
        layer = next(of_scope[scope])
        write_file(layer, _entry(text, layer, ids, NOW_MS - pick.randrange(YEAR_DAYS * DAY_MS)), text.body)


def write_file(layer: Layer, entry: Entry, body: str) -> None:
    """The file as a store would have written it an hour ago: a file just written is read twice before it is trusted."""
    fields = {key: value for key, value in fields_of(entry).items() if value is not None}
    path = layer.folder / entry.file
    path.write_bytes(frontmatter.write(fields, body))
    os.utime(path, (time.time() - READ_BEFORE_S,) * 2)


def _entry(text: Text, layer: Layer, ids: Ids, at: int) -> Entry:
    return Entry(
        id=ids.make(PREFIX[layer.scope]), scope=layer.scope, scope_ref=layer.ref, type=text.type, name=text.name,
        description=text.description, source=Source.MANUAL, confidence=1.0, author_role=AuthorRole.MANUAL_USER,
        created_at=at, updated_at=at, valid_from=at, entities=text.entities,
        valid_until=validity(text.valid_until.isoformat(), ManualClock().zone()) if text.valid_until else None,
    )  # fmt: skip


def _give_vectors(engine: Engine) -> None:
    """A random vector for every row without one, through the index's own door, in one transaction."""
    engine.embeddings.fill(0)  # begins the generation of the embedded model
    with engine.database.write() as connection:
        generation, dimension = VECTORS.generation(connection), VECTORS.dimension(connection)
        sql = f"SELECT {rows.COLUMNS} FROM memory_entry WHERE rid NOT IN (SELECT rid FROM memory_embedding)"
        wanting = [rows.row_of(found) for found in connection.execute(sql)]
        for row, vector in zip(wanting, random_vectors(len(wanting), dimension), strict=True):
            VECTORS.put(
                connection, row.rid, row.layer, vector, generation=generation, input_hash=rows.input_hash(row.entry),
                live=rows.is_live(row.entry), expires=rows.expiry(row.entry), type=row.entry.type.value,
            )  # fmt: skip


def random_vectors(count: int, dimension: int) -> Iterator[bytes]:
    """Unit vectors in no direction in particular, the same at every run."""
    import numpy as np

    source = np.random.default_rng(13)
    for start in range(0, count, 1_000):
        block = source.standard_normal((min(1_000, count - start), dimension)).astype("float32")
        block /= np.linalg.norm(block, axis=1, keepdims=True)
        yield from (each.tobytes() for each in block)


def questions(count: int, seed: int = 3) -> Sequence[str]:
    """That many different questions."""
    writer, found = Writer(seed), dict[str, None]()
    while len(found) < count:
        found[writer.question()] = None
    return list(found)


def _check(engine: Engine, count: int) -> None:
    active, everything = engine.listing.count(Filter()), engine.listing.count(Filter(state=None))
    if (active, everything) != (count, count):
        raise RuntimeError(f"{count} memories were written, {active} of {everything} are active")
