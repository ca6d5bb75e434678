"""Hand edits, four kinds of them, proved three times: while an engine runs, by the next command, before the next start."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from engine.memory.listing import Filter
from engine.memory.model import AuthorRole, State
from engine.runtime import Engine, open_engine
from spark_tui.cli.main import main
from tests.support import Place, complaints, draft, expected_memory_md, matches, memory_md, state_of

LAST = "The last text a hand wrote, before it broke the file.\n"
BEFORE = "as it was\n" + LAST
Said = pytest.CaptureFixture[str]


def body(path: Path) -> None:
    """Only the text below the frontmatter."""
    path.write_text(path.read_text("utf-8").replace("as it was", "as a hand wrote it"), "utf-8")


def frontmatter(path: Path) -> None:
    """Only a line of the frontmatter."""
    path.write_text(re.sub(r"description: .*", "description: by hand", path.read_text("utf-8")), "utf-8")


def conflict(path: Path) -> None:
    """What a merge leaves in a file."""
    path.write_text("<<<<<<< HEAD\n" + path.read_text("utf-8") + "=======\nthe other side\n>>>>>>> theirs\n", "utf-8")


def remove(path: Path) -> None:
    """rm."""
    path.unlink()


Hand = Callable[[Path], None]
Seen = Callable[[Place, Path, Hand, Said], AbstractContextManager[Engine]]
STATES = {body: "active", frontmatter: "active", conflict: "quarantined", remove: "missing"}


@contextmanager
def running(place: Place, path: Path, hand: Hand, said: Said) -> Iterator[Engine]:
    """The watcher of a running engine follows it; nothing is asked to look."""
    with place.open() as engine:
        engine.workers.start()
        probe = next(entry for entry in engine.listing.window(Filter()) if entry.name == "probe")
        until(lambda: followed(engine, place.path(probe), probe.version))  # so the watch stands
        known = engine.listing.entry(path.stem)
        hand(path)
        until(lambda: engine.listing.entry(path.stem) != known)
        until(lambda: memory_md(path.parent) == expected_memory_md(engine, path.parent))  # written after the row
        yield engine


def followed(engine: Engine, probe: Path, version: int) -> bool:
    """Whether somebody saw what is written into a file again and again."""
    with probe.open("a", encoding="utf-8") as file:
        file.write("again\n")
    time.sleep(0.25)
    return engine.listing.entry(probe.stem).version > version


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, 20 seconds at most; what comes after fails where it never did."""
    end = time.monotonic() + 20
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)


@contextmanager
def next_command(place: Place, path: Path, hand: Hand, said: Said) -> Iterator[Engine]:
    """No daemon: the next command follows it before it answers; the engine that looks afterwards does not."""
    hand(path)
    said.readouterr()
    where = ["--home", str(place.home.root), "--workspace", str(place.project)]
    assert main([*where, "memory", "list", "--state", "all", "--json"]) == 0
    told = {each["id"]: each for each in json.loads(said.readouterr().out)["entries"]}
    assert told[path.stem]["state"] == STATES[hand]
    with open_engine(place.home, place.project, clock=place.clock, ids=place.ids, refresh=False) as engine:
        yield engine


@contextmanager
def next_start(place: Place, path: Path, hand: Hand, said: Said) -> Iterator[Engine]:
    """It happened while nothing ran; an engine that opens follows it."""
    hand(path)
    with place.open() as engine:
        yield engine


@pytest.fixture
def path(place: Place) -> Path:
    """The file of a memory that a hand has edited once already, which every later look must know."""
    with place.open() as engine:
        engine.store.add(draft("other", "nobody touches this"))
        engine.store.add(draft("probe", "shows that somebody watches", "as it was"))
        entry = engine.store.add(draft("notes", "the first line", "as it was\n"))
    path = place.path(entry)
    path.write_text(path.read_text("utf-8") + LAST, "utf-8")
    with place.open() as engine:
        assert (engine.listing.body(entry.id), engine.listing.entry(entry.id).version) == (BEFORE, 2)
    return path


@pytest.mark.parametrize("seen", [running, next_command, next_start])
@pytest.mark.parametrize(
    ("hand", "description", "text"),
    [(body, "the first line", f"as a hand wrote it\n{LAST}"), (frontmatter, "by hand", BEFORE)],
)
def test_what_a_hand_writes_is_a_new_version_by_the_person_that_is_found_listed_and_can_be_undone(
    place: Place, path: Path, hand: Hand, description: str, text: str, seen: Seen, capsys: Said
) -> None:
    with seen(place, path, hand, capsys) as engine:
        after = engine.listing.entry(path.stem)
        assert (after.state(place.clock.now_ms()), after.version) == (State.ACTIVE, 3)
        assert after.author_role is AuthorRole.MANUAL_USER
        assert (after.description, engine.listing.body(path.stem)) == (description, text)
        assert path.stem in matches(engine, "hand")
        assert f"- [notes]({path.name}) — {description}" in memory_md(path.parent)
        past = engine.history.revisions(path.stem)[0]
        assert (past.entry.description, past.body, past.entry.version) == ("the first line", BEFORE, 2)
        if seen is next_start:
            assert complaints(place, engine) == []
        change = next(each for each in engine.history.changes() if each.id == path.stem)
        assert (change.action, change.fields) == ("hand-edit", ("body",) if hand is body else ("description",))
        engine.history.undo(change.group)
        assert (engine.listing.entry(path.stem).description, engine.listing.body(path.stem)) == (
            "the first line",
            BEFORE,
        )


@pytest.mark.parametrize("seen", [running, next_command, next_start])
@pytest.mark.parametrize("hand", [conflict, remove])
def test_what_a_hand_breaks_is_out_of_service_untouched_and_the_restored_text_is_the_last_text(
    place: Place, path: Path, hand: Hand, seen: Seen, capsys: Said
) -> None:
    with seen(place, path, hand, capsys) as engine:
        assert state_of(engine, path.stem) == STATES[hand]
        assert matches(engine, "first line") == []
        assert not any(path.name in line for line in memory_md(path.parent))
        broken = path.read_bytes() if path.exists() else None
        assert (broken is None, broken is not None and broken.startswith(b"<<<<<<< HEAD")) == (
            hand is remove,
            hand is conflict,
        )
        restored = engine.history.restore(path.stem)
        assert (restored.state(place.clock.now_ms()), restored.description) == (State.ACTIVE, "the first line")
        assert engine.listing.body(path.stem) == BEFORE
        assert path.read_text("utf-8").endswith(f"---\n{BEFORE}")
        assert matches(engine, "first line") == [path.stem]
        assert any(path.name in line for line in memory_md(path.parent))
        kept = [each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(f"{path.name}.broken")]
        assert kept == ([broken] if broken else [])
    with place.open() as engine:
        assert (state_of(engine, path.stem), engine.listing.body(path.stem)) == ("active", BEFORE)
