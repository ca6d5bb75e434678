"""The log: one file for all processes, turned over in time, without secrets, and never the reason to stop."""

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import logs
from engine.memory.sensitive.scan import redact

HERE = Path(__file__).parents[1]
PHONE, CARD = "13800138000", "4111 1111 1111 1111"


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Give back the handlers and levels of the process that runs the tests."""
    names = (None, *logs.OURS)
    before = [(logging.getLogger(name), logging.getLogger(name).level) for name in names]
    root = logging.getLogger()
    handlers = list(root.handlers)
    yield
    for handler in [each for each in root.handlers if each not in handlers]:
        root.removeHandler(handler)
        handler.close()
    for logger, level in before:
        logger.setLevel(level)


@pytest.fixture
def log_path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "logs" / "spark.log"


def test_a_line_says_when_how_bad_who_and_what(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)

    logging.getLogger("engine.memory.store").info("memory %s written, version %d", "usr_0badcafe", 2)

    when, level, process, who, what = log_path.read_text(encoding="utf-8").rstrip("\n").split(" ", 4)
    assert (level, process, who) == ("INFO", str(os.getpid()), "engine.memory.store:")
    assert what == "memory usr_0badcafe written, version 2"
    assert when[10] == "T"
    assert when[-6] in "+-"


def test_nothing_is_made_before_the_first_line_and_then_only_the_owner_can_read_it(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)
    assert not log_path.parent.exists()

    logging.getLogger("engine").info("begin")

    assert stat.S_IMODE(log_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log_path.parent.stat().st_mode) == 0o700


def test_debug_lines_need_the_level_and_libraries_only_warn(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)
    logging.getLogger("engine.a").debug("hidden detail")
    logging.getLogger("httpx").info("library chatter")
    logging.getLogger("httpx").warning("library trouble")
    logs.setup(log_path, "debug", redact)
    logging.getLogger("engine.a").debug("shown detail")
    logging.getLogger("spark_tui.b").debug("shown as well")
    logging.getLogger("httpx").debug("library chatter")

    said = [line.split(": ", 1)[1] for line in log_path.read_text().splitlines()]
    assert said == ["library trouble", "shown detail", "shown as well"]


@pytest.mark.parametrize(
    ("message", "arguments", "secret"),
    [
        ("calling with %s", ("sk-" + "ant-" + "Q7W3E8R1T6Y2U4I9",), "Q7W3E8R1T6Y2U4I9"),
        ("person %s", (PHONE,), PHONE),
        (f"paid with {CARD} ok", (), CARD),
        ("password=%s", ("hunter2",), "hunter2"),
        ("口令：%s", ("hunter2",), "hunter2"),
        ("connect %s", ("postgres://app:hunter2@db/app",), "hunter2"),
        ("ran %s", ("curl -u ada:hunter2! http://x",), "hunter2"),
        ("ran %s", ("mysql -u root -pHunter2x app",), "Hunter2x"),
        ("wide %s", ("１３８００１３８０００",), "１３８００１３８０００"),
    ],
)
def test_secrets_in_messages_and_arguments_are_redacted(
    log_path: Path, message: str, arguments: tuple[str, ...], secret: str
) -> None:
    logs.setup(log_path, "info", redact)

    logging.getLogger("engine").info(message, *arguments)

    written = log_path.read_text(encoding="utf-8")
    assert secret not in written
    assert "[redacted:" in written


def test_secrets_in_exceptions_are_redacted_and_the_trace_stays(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)

    def fail() -> None:
        raise ValueError(f"no route for {PHONE}")

    try:
        fail()
    except ValueError:
        logging.getLogger("engine").exception("job failed")

    written = log_path.read_text()
    assert "job failed" in written
    assert "in fail" in written
    assert "ValueError: no route for [redacted:phone]" in written
    assert PHONE not in written


def test_ordinary_lines_never_reach_the_redactor(log_path: Path) -> None:
    seen: list[str] = []
    logs.setup(log_path, "info", lambda text: seen.append(text) or text)

    log = logging.getLogger("engine.memory.retrieval")
    log.info("search %s: %d hits in %.1f ms, vector off", "usr_0badcafe", 12, 4.2)
    log.warning("sqlite-vec load failed, vector search disabled")
    log.info("memory extraction triggered")
    assert seen == []

    log.info("a secret word")
    assert len(seen) == 1


def test_a_line_that_cannot_be_checked_is_not_written(log_path: Path) -> None:
    def broken(text: str) -> str:
        raise RuntimeError(text)

    logs.setup(log_path, "info", broken)

    logging.getLogger("engine").info("password=%s", "hunter2")

    written = log_path.read_text()
    assert "hunter2" not in written
    assert "(not written: RuntimeError)" in written


def test_any_text_can_be_written(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)

    logging.getLogger("engine").info("记忆 %s %s", "名称🙂", "\udcff")

    assert "记忆 名称🙂 \\udcff" in log_path.read_text(encoding="utf-8")


def test_a_second_setup_moves_to_the_new_file(log_path: Path, tmp_path: Path) -> None:
    logs.setup(log_path, "info", redact)
    logging.getLogger("engine").info("first")
    logs.setup(tmp_path / "other.log", "info", redact)
    logging.getLogger("engine").info("second")

    assert "second" not in log_path.read_text()
    assert "first" not in (tmp_path / "other.log").read_text()
    assert "second" in (tmp_path / "other.log").read_text()


def test_a_removed_file_is_made_again(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)
    logging.getLogger("engine").info("first")
    log_path.unlink()
    logging.getLogger("engine").info("second")

    assert "second" in log_path.read_text()


def test_the_file_is_turned_over_and_three_older_ones_are_kept(log_path: Path) -> None:
    logs.setup(log_path, "info", redact)

    for number in range(60):
        logging.getLogger("engine").info("%d %s", number, "word " * 20_000)

    names = sorted(path.name for path in log_path.parent.iterdir() if path.suffix != ".lock")
    assert names == ["spark.log", "spark.log.1", "spark.log.2", "spark.log.3"]
    assert all(path.stat().st_size <= logs.MAX_BYTES + 110_000 for path in log_path.parent.iterdir())
    assert " 59 word" in log_path.read_text()


@pytest.mark.parametrize("obstacle", ["a file where the folder should be", "a folder where the file should be"])
def test_a_log_that_cannot_be_opened_stops_nothing_and_shows_nothing(
    log_path: Path, obstacle: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if obstacle.startswith("a file"):
        log_path.parent.parent.mkdir(parents=True)
        log_path.parent.write_text("")
    else:
        log_path.mkdir(parents=True)
    logs.setup(log_path, "info", redact)

    logging.getLogger("engine").error("lost")
    logging.getLogger("some.library").error("lost as well")

    assert capfd.readouterr() == ("", "")


WRITER = """
import logging, sys
from pathlib import Path
from engine import logs
logs.setup(Path(sys.argv[1]), "info", str)
for number in range(700):
    logging.getLogger("engine").info("%s-%d %s", sys.argv[2], number, "x y " * 450)
print("done", flush=True)
"""


def test_processes_share_the_file_and_no_line_is_torn_or_lost(log_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(log_path), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=HERE,
        )
        for name in "ab"
    ]
    outputs = [writer.communicate() for writer in writers]
    assert outputs == [("done\n", "")] * 2

    lines = [
        line.split(": ", 1)[1]
        for path in log_path.parent.iterdir()
        if path.suffix != ".lock"
        for line in path.read_text().splitlines()
    ]
    assert {len(line.split(" ", 1)[1]) for line in lines} == {len("x y " * 450)}
    assert {line.split(" ")[0] for line in lines} == {f"{name}-{number}" for name in "ab" for number in range(700)}


def test_without_our_log_file_library_warnings_would_reach_the_screen_and_with_it_they_do_not(tmp_path: Path) -> None:
    script = "import logging, sys\n{}\nlogging.getLogger('library').warning('noise')"
    ours = "from pathlib import Path; from engine import logs; logs.setup(Path(sys.argv[1]), 'info', str)"

    def stderr(setup: str) -> str:
        command = [sys.executable, "-c", script.format(setup), str(tmp_path / "x.log")]
        return subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=True).stderr

    assert "noise" in stderr("")
    assert stderr(ours) == ""
