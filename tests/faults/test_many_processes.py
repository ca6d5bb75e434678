"""Several processes on one home at once: no lost update, no error but a lost race, nothing left over (02 §9)."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from engine.memory.model import Scope
from tests.support import REPOSITORY, Place, child_environment, complaints, draft, durable, everything

PROCESSES = 4
SHARED = 6
LOST_RACES = {"VERSION_CONFLICT", "ALREADY_EXISTS", "QUOTA_EXCEEDED"}

WORKER = """
import json, random, sys
from collections import Counter
from pathlib import Path
from engine.errors import SparkError
from engine.memory.injection import Request
from engine.memory.model import Changes, Draft, MemoryType, Scope
from engine.paths import find_home
from engine.runtime import open_engine
home, project, number, steps = find_home(Path(sys.argv[1])), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
shared, dice = sys.argv[5:], random.Random(number)
counted, codes, mine = Counter(), Counter(), []

def count_up(engine, entry_id):
    now = engine.listing.entry(entry_id)
    wanted = Changes(description=f"counted {int(now.description.split()[1]) + 1}", body=f"by {number}")
    engine.store.edit(entry_id, wanted, now.version)
    counted[entry_id] += 1

def add(engine, step):
    scope = dice.choice(list(Scope))
    name = dice.choice([f"mine-{number}-{step}", f"contested-{dice.randrange(5)}"])
    draft = Draft(scope, MemoryType.USER, name, f"word{step} of {number}", "text", agent="main", entities=("Vite",))
    mine.append(engine.store.add(draft).id)

def bulk(verb):
    results = verb([dice.choice(mine)]) if mine else []
    codes.update(each.outcome for each in results if not each.ok)

def step_of(engine, step):
    chance = dice.random()
    if chance < 0.40:
        count_up(engine, dice.choice(shared))
    elif chance < 0.60:
        add(engine, step)
    elif chance < 0.70:
        bulk(dice.choice([engine.store.archive, engine.store.unarchive]))
    elif chance < 0.80:
        assert engine.search(f"word{dice.randrange(steps)} counted").status == "matched"
    elif chance < 0.88:
        assert engine.inject(Request(session=f"{number}-{step % 20}")).status == "matched"
    elif chance < 0.94:
        engine.refresh()
    elif mine:
        gone = mine.pop(dice.randrange(len(mine)))
        codes.update(each.outcome for each in engine.store.delete([gone]) if not each.ok)

with open_engine(home, project) as engine:
    for step in range(steps):
        try:
            step_of(engine, step)
        except SparkError as error:
            codes[error.code] += 1
print(json.dumps({"counted": counted, "codes": codes}))
"""


def run(place: Place, steps: int) -> None:
    """Let all processes work, then hold what they say against what is there."""
    with place.open() as engine:
        shared = [engine.store.add(draft(f"shared-{number}", "counted 0")).id for number in range(SHARED)]
        shared.append(engine.store.add(draft("shared", "counted 0", scope=Scope.PROJECT)).id)
    arguments = [str(place.home.root), str(place.project)]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, *arguments, str(number), str(steps), *shared],
            env=child_environment(),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    ended = [worker.communicate(timeout=600) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * PROCESSES, [errors for _, errors in ended]
    told = [json.loads(output) for output, _ in ended]
    codes = sum((Counter(each["codes"]) for each in told), Counter[str]())
    counted = sum((Counter(each["counted"]) for each in told), Counter[str]())
    assert set(codes) <= LOST_RACES, codes
    assert sum(counted.values()) > steps / 2
    with place.open() as engine:
        for entry_id in shared:
            entry = engine.listing.entry(entry_id)
            assert (entry.description, entry.version) == (f"counted {counted[entry_id]}", counted[entry_id] + 1)
            assert len(engine.history.revisions(entry_id)) == counted[entry_id]
        assert complaints(place, engine) == []
        kept = durable(engine)
        assert sum(entry.hit_count for entry in everything(engine)) > 0
    for path in place.home.root.glob("spark.db*"):
        path.unlink()
    with place.open() as engine:
        assert durable(engine) == kept
        assert complaints(place, engine) == []


def test_four_processes_lose_no_update(place: Place) -> None:
    run(place, 100)


@pytest.mark.soak
def test_four_processes_lose_no_update_in_a_thousand_steps_each(place: Place) -> None:
    run(place, 1_000)


def test_processes_that_add_the_same_name_at_once_leave_one(place: Place) -> None:
    code = """
import sys
from pathlib import Path
from engine.errors import SparkError
from engine.memory.model import Draft, MemoryType, Scope
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    for number in range(25):
        try:
            engine.store.add(Draft(Scope.PROJECT, MemoryType.USER, f"name-{number}", f"by {sys.argv[3]}"))
            print("added")
        except SparkError as error:
            print(error.code)
"""
    arguments = [str(place.home.root), str(place.project)]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments, str(number)],
            env=child_environment(),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    outcomes = Counter(line for worker in workers for line in worker.communicate(timeout=120)[0].splitlines())
    assert outcomes == {"added": 25, "ALREADY_EXISTS": 75}
    with place.open() as engine:
        assert len(everything(engine)) == 25
        assert len({entry.scope_ref for entry in everything(engine)}) == 1  # the workspace got one id
        assert complaints(place, engine) == []


def test_the_home_of_a_process_that_only_reads_is_not_written(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("a-fact"))
    before = {path: path.stat().st_mtime_ns for path in files(place.home.root)}
    code = """
import sys
from pathlib import Path
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    engine.search("a")
"""
    subprocess.run(
        [sys.executable, "-c", code, str(place.home.root), str(place.project)],
        env=child_environment(),
        cwd=REPOSITORY,
        check=True,
    )
    after = {path: path.stat().st_mtime_ns for path in files(place.home.root)}
    assert after == before


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and path.suffix not in (".log", ".lock")]
