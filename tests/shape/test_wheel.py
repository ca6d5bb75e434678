"""The wheel stands alone: built, installed in a new environment with no checkout beside it, and used from elsewhere."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import engine
from tests.shape.commands import Command, remember_and_find_again
from tests.shape.tree import CLI, PACKAGES, ROOT

# One worker builds and installs it once for all of them.
pytestmark = pytest.mark.xdist_group("wheel")


def _run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from an unpacked source release, so that both are complete."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as release:
        if hasattr(tarfile, "data_filter"):  # not in the first releases of 3.11
            release.extraction_filter = tarfile.data_filter
        release.extractall(folder)
    unpacked = next(path for path in folder.iterdir() if path.is_dir())
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of a new environment that holds the wheel and exactly what the wheel asks for."""
    place = tmp_path_factory.mktemp("alone") / "env"
    venv.create(place, symlinks=True, with_pip=False)
    _run(*_pip(place), "install", "--no-deps", "--no-index", "--no-compile", wheel, cwd=place)
    library = next(place.glob("lib/python*/site-packages"))
    for needed in _closure(Distribution.at(next(library.glob("spark_tui-*.dist-info")))):
        _link(needed, library)
    return place / "bin"


def _pip(place: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place / "bin" / "python"))


def _closure(start: Distribution) -> Iterator[Distribution]:
    """Every distribution that ``start`` needs on this machine, as the environment of the tests has it."""
    seen, waiting = {start.name.lower()}, [(start, frozenset({""}))]
    while waiting:
        current, extras = waiting.pop()
        for requirement in map(Requirement, current.requires or []):
            wanted = requirement.marker is None or any(requirement.marker.evaluate({"extra": each}) for each in extras)
            if wanted and requirement.name.lower() not in seen:
                seen.add(requirement.name.lower())
                found = distribution(requirement.name)
                waiting.append((found, frozenset({"", *requirement.extras})))
                yield found


def _link(needed: Distribution, library: Path) -> None:
    """Put the files of a distribution into another environment, as links."""
    for file in needed.files or []:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = library / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                target.symlink_to(Path(str(file.locate())))


def test_the_wheel_holds_all_that_is_shipped_and_nothing_else(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    shipped = {path for folder in PACKAGES for path in (ROOT / folder).rglob("*") if path.is_file()}
    expected = {path.relative_to(ROOT).as_posix() for path in shipped if "__pycache__" not in path.parts}
    expected |= {f"spark_tui/themes/{path.name}" for path in (ROOT / "themes").iterdir()}
    assert inside == expected
    assert {"engine/py.typed", "spark_tui/py.typed"} <= inside


def test_the_wheel_carries_its_licence_and_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert re.search(rf"^Version: {re.escape(engine.__version__)}$", metadata, re.MULTILINE)
    assert "Requires-Python: >=3.11" in metadata


def test_what_the_wheel_asks_for_is_all_there(installed: Path) -> None:
    _run(*_pip(installed.parent), "check", cwd=installed)


def test_the_installed_package_comes_from_the_wheel_and_finds_its_themes(installed: Path, tmp_path: Path) -> None:
    code = "import spark_tui, spark_tui.theme as t; print(spark_tui.__file__); print(t.themes_folder())"
    package, themes = Command((installed / "python", "-c", code), tmp_path).text().split()
    assert Path(package).is_relative_to(installed.parent)
    assert Path(themes) == Path(package).parent / "themes"
    assert {path.name for path in Path(themes).iterdir()} == {path.name for path in (ROOT / "themes").iterdir()}


@pytest.mark.skipif(not CLI.exists(), reason="there is no command yet")
def test_the_installed_command_works_from_another_folder(installed: Path, tmp_path: Path, home_dir: Path) -> None:
    command = Command((installed / "spark-tui",), tmp_path, PATH=f"{installed}{os.pathsep}{os.defpath}")
    assert engine.__version__ in command.text("--version")
    assert isinstance(command.json("doctor"), dict)
    remember_and_find_again(command)
