"""SIGKILL on the real program at every step of a commit: old or new, never half, never credited to the person (02 §2)."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import date

import pytest

from engine.memory.model import AuthorRole, Changes, Entry, Scope
from engine.runtime import Engine
from engine.storage.faults import VARIABLE, DeleteStep, Step
from tests.support import (
    REPOSITORY,
    Place,
    child_environment,
    complaints,
    draft,
    everything,
    matches,
    occurrences,
    run_python,
    state_of,
)

# From here on a crash leaves the new version, before it the old one.
NEW_FROM = Step.RENAMED
GONE_FROM = DeleteStep.COMMITTED
LATE = {step for step in Step if list(Step).index(step) >= list(Step).index(NEW_FROM)}
SINGLE = [pytest.param(str(step), step in LATE, id=step) for step in Step]
# A takeover renames two files; a crash between the two is the one that could tear it.
TWO_FILES = [*SINGLE, pytest.param(f"{Step.RENAMED}:2", True, id="second-renamed")]
DELETION = [
    pytest.param(str(step), list(DeleteStep).index(step) >= list(DeleteStep).index(GONE_FROM), id=step)
    for step in DeleteStep
]


def killed(place: Place, step: str, words: Sequence[str]) -> None:
    """Run a command that dies at a step; it is an error if it never gets there."""
    command = [
        sys.executable,
        "-m",
        "spark_tui",
        "--json",
        "--home",
        str(place.home.root),
        "--workspace",
        str(place.project),
    ]
    done = subprocess.run(
        [*command, "memory", *words],
        env=child_environment(**{VARIABLE: step}),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, f"{step} was not reached: {done.stdout} {done.stderr}"


def sound(place: Place, engine: Engine) -> bool:
    """Whether files, rows, full text and MEMORY.md agree, with nothing left over and nothing credited to a hand."""
    assert complaints(place, engine) == []
    assert "hand-edit" not in {change.action for change in engine.history.changes()}
    return True


@pytest.mark.parametrize(("step", "new"), SINGLE)
def test_an_add_killed_at_any_step_is_whole_or_never_was(place: Place, step: str, new: bool) -> None:
    with place.open() as engine:
        kept = engine.store.add(draft("kept"))
    words = ("--scope", "user", "--type", "user", "--name", "a-fact", "--description", "meadowlark", "--body", "whole")
    killed(place, step, ("add", *words))
    with place.open() as engine:
        assert sound(place, engine)
        entries = {entry.name: entry for entry in everything(engine)}
        assert set(entries) == ({"kept", "a-fact"} if new else {"kept"})
        assert [engine.listing.entry(found).name for found in matches(engine, "meadowlark")] == ["a-fact"] * new
        if new:
            assert engine.listing.body(entries["a-fact"].id) == "whole"
            assert [each.action for each in engine.history.changes() if each.id != kept.id] == ["add"]
        engine.store.add(draft("afterwards"))
        assert sound(place, engine)


@pytest.mark.parametrize(("step", "new"), SINGLE)
def test_an_edit_killed_at_any_step_is_old_or_new(place: Place, step: str, new: bool) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "nightingale", "old", scope=Scope.PROJECT))
    killed(place, step, ("edit", entry.id, "--description", "meadowlark", "--expected-version", "1"))
    with place.open() as engine:
        assert sound(place, engine)
        now = engine.listing.entry(entry.id)
        assert (now.description, now.version) == (("meadowlark", 2) if new else ("nightingale", 1))
        assert bool(matches(engine, "meadowlark")) is new
        assert bool(matches(engine, "nightingale")) is not new
        assert [each.entry.version for each in engine.history.revisions(entry.id)] == [1] * new
        assert [each.action for each in engine.history.changes()] == (["edit", "add"] if new else ["add"])
        assert engine.store.edit(entry.id, Changes(description="third"), now.version).version == now.version + 1
        assert sound(place, engine)


@pytest.mark.parametrize(("step", "new"), TWO_FILES)
def test_a_takeover_killed_at_any_step_has_happened_to_both_files_or_to_none(
    place: Place, step: str, new: bool
) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("address", "nightingale", valid_until=date(2026, 1, 1)))
    words = ("--scope", "user", "--type", "user", "--name", "address", "--description", "meadowlark")
    killed(place, step, ("add", *words))
    place.clock.advance(days=400)
    with place.open() as engine:
        assert sound(place, engine)
        others = [entry for entry in everything(engine) if entry.id != old.id]
        before = engine.listing.entry(old.id)
        if new:
            assert [state_of(engine, each.id) for each in others] == ["active"]
            assert (before.superseded_by, before.version, state_of(engine, old.id)) == (others[0].id, 2, "invalid")
            assert {each.action for each in engine.history.changes()} == {"add", "supersede"}
        else:
            assert others == []
            assert (before, state_of(engine, old.id)) == (old, "expired")


@pytest.mark.parametrize(("step", "gone"), DELETION)
def test_a_deletion_killed_at_any_step_is_whole_or_never_was(place: Place, step: str, gone: bool) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "meadowlarkquux", "nightingalequux"))
        engine.store.add(draft("kept"))
    killed(place, step, ("delete", entry.id, "--yes"))
    with place.open() as engine:
        assert sound(place, engine)
        assert (entry.id in {each.id for each in everything(engine)}) is not gone
        assert bool(matches(engine, "meadowlarkquux")) is not gone
        if gone:
            assert occurrences(place.home.root, b"meadowlarkquu", b"nightingalequu") == []


AUTHORS = """
import sys
from pathlib import Path
from engine.memory.model import AuthorRole, Changes
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    engine.store.edit(sys.argv[3], Changes(body="by the model"), author=AuthorRole.CONSOLIDATION)
"""


def crashed_edit(place: Place, entry: Entry, step: Step) -> None:
    done = run_python(AUTHORS, place.home.root, place.project, entry.id, **{VARIABLE: step})
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("step", sorted(LATE))
def test_a_crash_is_credited_to_the_author_who_crashed(place: Place, step: Step) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", body="by the person"))
    crashed_edit(place, entry, step)
    with place.open() as engine:
        assert engine.listing.entry(entry.id).author_role is AuthorRole.CONSOLIDATION
        line = engine.history.changes(limit=1)[0]
        assert (line.action, line.author, line.before, line.after) == ("edit", AuthorRole.CONSOLIDATION, 1, 2)
        assert sound(place, engine)


@pytest.mark.parametrize("step", [Step.STAGED, Step.RENAMED, Step.COMMITTED])
def test_an_engine_that_runs_on_settles_what_another_left(place: Place, step: Step) -> None:
    with place.open() as running:
        entry = running.store.add(draft("a-fact", body="by the person"))
        crashed_edit(place, entry, step)
        if list(Step).index(step) % 2:
            running.refresh()
        else:
            running.store.add(draft("another"))
        assert running.listing.body(entry.id) == ("by the model" if step in LATE else "by the person")
        assert sound(place, running)


def test_a_crash_is_told_apart_from_a_hand_edit_that_came_after_it(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", body="by the person"))
    crashed_edit(place, entry, Step.STAGED)
    path = place.path(entry)
    path.write_bytes(path.read_bytes().replace(b"by the person", b"by hand"))
    with place.open() as engine:
        assert engine.listing.body(entry.id) == "by hand"
        assert engine.listing.entry(entry.id).author_role is AuthorRole.MANUAL_USER
        assert [each.action for each in engine.history.changes()] == ["hand-edit", "add"]
        assert complaints(place, engine) == []


def test_half_made_files_of_any_crash_are_swept_up_and_others_are_not(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        folder = place.home.memory_user
        (folder / f".{entry.file}.0123456789ab.tmp").write_text("half", "utf-8")
        (folder / ".MEMORY.md.0123456789ab.tmp").write_text("half", "utf-8")
        (folder / ".mine.tmp").write_text("somebody's", "utf-8")
        engine.refresh()
        assert sorted(path.name for path in folder.iterdir()) == [".mine.tmp", "MEMORY.md", entry.file]


def test_without_the_variable_no_step_kills_anything(place: Place) -> None:
    command = [
        sys.executable,
        "-m",
        "spark_tui",
        "--json",
        "--home",
        str(place.home.root),
        "--workspace",
        str(place.project),
    ]
    words = ("add", "--scope", "user", "--type", "user", "--name", "a-fact", "--description", "meadowlark")
    done = subprocess.run([*command, "memory", *words], env=child_environment(), cwd=REPOSITORY, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entry"]["version"] == 1
