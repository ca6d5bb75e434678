"""What is said about the project in its own files agrees with the project."""

import os
import re
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import engine
from tests.shape.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8")
SCRIPTS = sorted(path for path in (ROOT / ".ci").iterdir() if path.suffix == "")
FOLDERS = ("engine", "spark_tui", "themes", "docs", "benchmarks", ".ci")


def _pins() -> dict[str, list[str]]:
    pins: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", CONSTRAINTS, re.MULTILINE):
        pins.setdefault(name, []).append(version)
    return pins


def test_the_constraints_pin_every_dependency_within_its_range() -> None:
    pins = _pins()
    wanted = [Requirement(each) for each in (*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"])]
    stale = [str(each) for each in wanted if not all(map(each.specifier.contains, pins.get(each.name.lower(), ["0"])))]
    assert not stale, "run make lock"


def test_the_constraints_name_no_index_and_no_machine() -> None:
    lines = [line for line in CONSTRAINTS.splitlines() if not line.lstrip().startswith("#")]
    assert not [line for line in lines if not re.match(r"[\w.-]+==[\w.]+(?: ;|$)", line)]
    assert not re.search(r"://|--\w|/\w+/", CONSTRAINTS)


def test_every_dependency_says_why_it_is_there() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    lists = "\n".join(lines).split("dependencies = [", 1)[1].split("]\n\n[project.optional-dependencies]")[0]
    lines = lists.strip().splitlines()
    assert len(lines) == 2 * len(PROJECT["project"]["dependencies"])
    assert all(line.lstrip().startswith("#") for line in lines[::2])


def test_the_changelog_has_the_version() -> None:
    assert re.search(rf"\b{re.escape(engine.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_nothing_speaks_of_the_machine_it_was_written_on() -> None:
    private = re.compile(rf"{re.escape(str(ROOT))}|(?<![\w.~])/(?:home|Users)/\w+|(?<![\w.~])/root\b")
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    files += [path for path in ROOT.iterdir() if path.suffix in {".md", ".toml", ""}]
    texts = {path: _text(path) for path in files if path.is_file() and "__pycache__" not in path.parts}
    assert not [str(path) for path, text in texts.items() if private.search(text)]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:  # a picture or a compiled catalogue
        return ""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_run_and_parsed(script: Path) -> None:
    assert script.stat().st_mode & stat.S_IXUSR
    shell = "bash" if "bash" in script.read_text(encoding="utf-8").splitlines()[0] else "sh"
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _set_up(folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    (folder / ".ci").mkdir()
    (folder / "engine").mkdir()
    for name in (".ci/setup", ".ci/constraints.txt", "pyproject.toml", "engine/__init__.py"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    environment = {"PATH": path, "HOME": os.environ["HOME"]}
    return subprocess.run(["sh", ".ci/setup"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _tools(folder: Path, **python: str) -> str:
    """A PATH with the plain tools of a machine and nothing named python but what is given."""
    folder.mkdir()
    for tool in ("cat", "cksum", "dirname", "grep", "head", "rm", "sh"):
        for place in ("/usr/bin", "/bin"):
            if Path(place, tool).exists() and not (folder / tool).exists():
                (folder / tool).symlink_to(Path(place, tool))
    for name, body in python.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return str(folder)


def test_set_up_says_so_when_no_python_is_new_enough(tmp_path: Path) -> None:
    done = _set_up(tmp_path, _tools(tmp_path / "bin", python3="exit 1"))
    assert done.returncode == 1
    assert "no Python 3.11 or newer found" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_set_up_says_what_to_install_when_python_has_no_venv(tmp_path: Path) -> None:
    without_venv = 'case "$2" in *ensurepip*) exit 1;; *print*) echo 3.11;; esac'
    done = _set_up(tmp_path, _tools(tmp_path / "bin", python3=without_venv))
    assert done.returncode == 1
    assert "apt-get install python3.11-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()
