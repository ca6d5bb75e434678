"""One holder at a time: across processes and threads, for as long as it lives and no longer."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.errors import IoFailed, StoreBusy
from engine.storage.lock import exclusive, try_exclusive

HERE = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from engine.storage.lock import exclusive
with exclusive(Path(sys.argv[1]), 5):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "store.lock"


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock until it is given a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_folder_is_made_for_the_owner_alone_and_the_lock_can_be_taken_again_and_again(path: Path) -> None:
    for _ in range(3):
        with exclusive(path, 0):
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_lock_held_by_another_process_is_busy_after_the_wait(path: Path) -> None:
    process = holder(path)

    with pytest.raises(StoreBusy) as caught, exclusive(path, 0.05):
        pytest.fail("two holders")
    assert caught.value.details["path"] == str(path)
    with try_exclusive(path) as held:
        assert held is False

    process.communicate("\n")
    with exclusive(path, 5), try_exclusive(path) as held:
        assert held is False
    with try_exclusive(path) as held:
        assert held is True


def test_the_lock_of_a_killed_process_is_free_at_once(path: Path) -> None:
    process = holder(path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    with exclusive(path, 0):
        pass


def test_a_block_that_fails_lets_go(path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), exclusive(path, 0):
        raise ValueError("mine")

    with try_exclusive(path) as held:
        assert held


def test_a_child_that_outlives_the_block_does_not_keep_the_lock(path: Path) -> None:
    with exclusive(path, 0):
        child = subprocess.Popen(["sleep", "30"], close_fds=False)
        forked = os.fork()
        if forked == 0:
            signal.pause()
    try:
        with exclusive(path, 0):
            pass
    finally:
        child.kill()
        child.wait()
        os.kill(forked, signal.SIGKILL)
        os.waitpid(forked, 0)


def test_threads_take_turns(path: Path) -> None:
    inside: list[int] = []
    most = 0

    def work() -> None:
        nonlocal most
        for _ in range(20):
            with exclusive(path, 30):
                inside.append(1)
                most = max(most, len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1


COUNTER = """
import sys
from pathlib import Path
from engine.storage.lock import exclusive
path = Path(sys.argv[1])
count = path.with_name("count")
for _ in range(100):
    with exclusive(path, 60):
        count.write_text(str(int(count.read_text()) + 1))
"""


def test_processes_lose_no_step(path: Path) -> None:
    path.parent.mkdir()
    path.with_name("count").write_text("0")
    workers = [subprocess.Popen([sys.executable, "-c", COUNTER, str(path)], cwd=HERE) for _ in range(3)]

    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert path.with_name("count").read_text() == "300"


def test_a_place_that_cannot_hold_a_lock_is_a_typed_error(path: Path) -> None:
    path.mkdir(parents=True)

    with pytest.raises(IoFailed), exclusive(path, 0):
        pytest.fail("locked a folder")
