"""A hand that edits between a crash and the next start: what it wrote is adopted, never replaced (02 §2)."""

import os
import signal
import subprocess
import sys
from datetime import date

import pytest

from engine.storage.faults import VARIABLE, Step
from tests.support import REPOSITORY, Place, child_environment, complaints, draft, everything, state_of


def take_over(place: Place, step: str) -> None:
    """Another process takes the name of an expired memory and dies at a step."""
    words = ("--scope", "user", "--type", "user", "--name", "editor", "--description", "uses emacs")
    command = [sys.executable, "-m", "spark_tui", "--home", str(place.home.root), "--workspace", str(place.project)]
    done = subprocess.run(
        [*command, "memory", "add", *words],
        env=child_environment(**{VARIABLE: step}),
        cwd=REPOSITORY,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("saved", ["uses vim", "uses vim, and more of it"])
def test_a_file_edited_before_its_unfinished_write_was_settled_keeps_the_edit(place: Place, saved: str) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("editor", "uses vim", "old body", valid_until=date(2026, 1, 1)))
    take_over(place, f"{Step.RENAMED}:1")
    path = place.path(old)
    assert "invalid_at" not in path.read_text("utf-8")  # the second file, not renamed yet
    path.write_text(path.read_text("utf-8").replace("old body", "by hand").replace("uses vim", saved), "utf-8")
    place.clock.advance(days=400)
    with place.open() as engine:
        engine.refresh()
        assert "by hand" in path.read_text("utf-8")
        assert {engine.listing.body(old.id)} | {r.body for r in engine.history.revisions(old.id)} >= {"by hand"}
        states = {entry.description: state_of(engine, entry.id) for entry in everything(engine)}
        assert states == {saved: "invalid", "uses emacs": "active"}
        assert complaints(place, engine) == []


def test_a_file_deleted_before_its_unfinished_write_was_settled_stays_deleted(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("editor", "uses vim", valid_until=date(2026, 1, 1)))
    take_over(place, f"{Step.RENAMED}:1")
    place.path(old).unlink()
    place.clock.advance(days=400)
    with place.open() as engine:
        engine.refresh()
        assert not place.path(old).exists()
        assert {state_of(engine, entry.id) for entry in everything(engine)} == {"missing", "active"}
        assert complaints(place, engine) == []


def test_a_published_file_that_no_row_can_hold_stops_no_later_write(place: Place) -> None:
    with place.open() as engine:
        kept = engine.store.add(draft("kept"))
    take_over(place, f"{Step.RENAMED}:1")
    (published,) = [path for path in place.home.memory_user.glob("usr_*.md") if path.name != kept.file]
    beyond = 10**19  # nanoseconds: the year 2286, more than SQLite's integers hold
    os.utime(published, ns=(beyond, beyond))
    if published.stat().st_mtime_ns <= 2**63:
        pytest.skip("no file can be that young here")
    with place.open() as engine:
        engine.store.add(draft("afterwards"))
        assert {entry.name for entry in everything(engine)} == {"kept", "afterwards"}
    os.utime(published)
    with place.open() as engine:
        assert {entry.name for entry in everything(engine)} == {"kept", "afterwards", "editor"}
        assert complaints(place, engine) == []
