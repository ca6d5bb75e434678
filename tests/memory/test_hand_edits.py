"""Hand edits, four kinds of them, proved three times: while an engine runs, by the next command, before the next start."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.memory.model import Entry, State
from engine.runtime import Engine
from spark_tui.cli.main import main
from tests.support import Place, draft

LAST = "The last text a hand wrote, before it broke the file.\n"


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
HANDS: list[Hand] = [body, frontmatter, conflict, remove]


@contextmanager
def running(place: Place, path: Path, hand: Hand) -> Iterator[Engine]:
    """The watcher of a running engine sees it."""
    with place.open() as engine:
        engine.workers.start()
        time.sleep(0.3)
        before = engine.listing.entry(path.stem)
        hand(path)
        deadline = time.monotonic() + 20
        while engine.listing.entry(path.stem) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        yield engine


@contextmanager
def next_command(place: Place, path: Path, hand: Hand) -> Iterator[Engine]:
    """Nothing runs; the next command of any kind follows it, and its answer says so already."""
    hand(path)
    assert main(["--home", str(place.home.root), "--workspace", str(place.project), "memory", "list", "--json"]) == 0
    with place.open() as engine:
        yield engine


@contextmanager
def next_start(place: Place, path: Path, hand: Hand) -> Iterator[Engine]:
    """It happened while nothing ran; an engine that opens follows it."""
    hand(path)
    with place.open() as engine:
        yield engine


@pytest.mark.parametrize("seen", [running, next_command, next_start])
@pytest.mark.parametrize("hand", HANDS)
def test_what_a_hand_does_to_a_file_is_followed_and_nothing_of_it_is_lost(
    place: Place, seen: Callable[..., object], hand: Hand
) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("notes", "the first line", "as it was\n"))
        other = engine.store.add(draft("other", "nobody touches this"))
    path = place.path(entry)
    path.write_text(path.read_text("utf-8") + LAST, "utf-8")  # an edit that every later look must know
    with place.open() as engine:
        assert engine.listing.body(entry.id).endswith(LAST)
    with seen(place, path, hand) as engine:  # type: ignore[attr-defined]
        after: Entry = engine.listing.entry(entry.id)
        assert engine.listing.entry(other.id) == other
        state = after.state(place.clock.now_ms())
        if hand in (conflict, remove):
            assert state is (State.QUARANTINED if hand is conflict else State.MISSING)
            broken = path.read_bytes() if path.exists() else None
            restored = engine.history.restore(entry.id)
            assert restored.state(place.clock.now_ms()) is State.ACTIVE
            assert engine.listing.body(entry.id) == "as it was\n" + LAST
            assert path.read_text("utf-8").endswith(LAST)
            kept = [each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(f"{path.name}.broken")]
            assert kept == ([broken] if broken else [])
            return
        assert state is State.ACTIVE
        assert (after.version, after.author_role) == (3, "manual_user")
        told = (after.description, engine.listing.body(entry.id))
        changed = (
            ("the first line", f"as a hand wrote it\n{LAST}") if hand is body else ("by hand", f"as it was\n{LAST}")
        )
        assert told == changed
        found = engine.search("hand wrote" if hand is body else "hand").hits
        assert entry.id in [hit.entry.id for hit in found]
