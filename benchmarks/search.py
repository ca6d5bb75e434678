"""Search beside its parts: the bare embedding of the question, and a bare FTS5 query of the same terms."""

from collections.abc import Callable, Iterator, Sequence

from benchmarks import homes
from benchmarks.figures import Figure, Goal, figure
from benchmarks.setting import Setting
from benchmarks.timing import Timed, interleaved
from engine.memory.retrieval import DEPTH, SearchResult, SearchStatus
from engine.providers.choice import chosen_embedder
from engine.runtime import Engine
from engine.storage import fulltext

SIZES = (350, 5_000, 50_000)
GOAL_SIZE = 5_000
WITH_EMBEDDING = Goal(plus=50)
WITHOUT = Goal(plus=5)
BARE = f"SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rank LIMIT {DEPTH}"
SHARES = (0.5, 0.95)
QUESTIONS = 200
MANY, FEWER_QUESTIONS = 20_000, 60


def run(setting: Setting) -> Iterator[Figure | str]:
    """Figures at every size; each question is asked once, since its vector is kept for the next time."""
    yield "vectors in these homes are random unit vectors; those of the questions are real"
    for size in setting.sizes(*SIZES):
        place = homes.built(setting.folder, size)
        asked = homes.questions(setting.either(QUESTIONS if size < MANY else FEWER_QUESTIONS, 10) + 1)
        with place.open() as engine:
            yield from _hybrid(engine, asked, size)
        with place.open(embedding="none") as engine:
            yield from _words_alone(engine, asked, size)


def _hybrid(engine: Engine, asked: Sequence[str], size: int) -> Iterator[Figure]:
    embedder = chosen_embedder(engine.settings)
    assert embedder is not None
    taken = interleaved(
        {
            "with": lambda number: _found(engine, asked[number]),
            "again": lambda number: _found(engine, asked[number]),
            "resident": lambda number: _resident(engine, asked[number]),
            "embedding": lambda number: embedder.query(asked[number]),
            "bare": _bare(engine, asked),
        },
        len(asked) - 1,
    )
    at, goals = f"{size:,} entries", size == GOAL_SIZE
    embedding, bare = ("embedding alone", taken["embedding"]), ("bare FTS5", taken["bare"])
    yield from _both(f"search, {at}, embedding included", taken["with"], embedding, WITH_EMBEDDING if goals else None)
    yield from _both(f"search, {at}, vector of the question known", taken["again"], bare, WITHOUT if goals else None)
    yield from _both(f"the same beside running workers, {at}", taken["resident"], bare, WITHOUT if goals else None)


def _words_alone(engine: Engine, asked: Sequence[str], size: int) -> Iterator[Figure]:
    if sum(bool(_found(engine, question).hits) for question in asked) < len(asked) / 2:
        raise RuntimeError("most questions find nothing, so their times say nothing")
    taken = interleaved(
        {"words": lambda number: _found(engine, asked[number]), "bare": _bare(engine, asked)}, len(asked) - 1
    )
    goal = WITHOUT if size == GOAL_SIZE else None
    yield from _both(f"search by words alone, {size:,} entries", taken["words"], ("bare FTS5", taken["bare"]), goal)


def _both(what: str, timed: Timed, reference: tuple[str, Timed], goal: Goal | None) -> Iterator[Figure]:
    for share in SHARES:
        yield figure(what, timed, reference, goal if share == 0.95 else None, share)


def _found(engine: Engine, question: str) -> SearchResult:
    result = engine.search(question)
    if result.status not in (SearchStatus.MATCHED, SearchStatus.EMPTY):
        raise RuntimeError(f"the search is {result.status}: {result.reason}")
    return result


def _resident(engine: Engine, question: str) -> SearchResult:
    """As the screens ask: no look for missing vectors first, since a worker makes them."""
    return engine.retrieval.search(question, engine.layers.person(), engine.memory_settings())


def _bare(engine: Engine, asked: Sequence[str]) -> Callable[[int], list[tuple[int]]]:
    matches = [fulltext.match_query(question) for question in asked]

    def call(number: int) -> list[tuple[int]]:
        with engine.database.read() as connection:
            return list(connection.execute(BARE, (matches[number],)))

    return call
