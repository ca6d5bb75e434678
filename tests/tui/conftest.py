"""A home in which everything waits for a person, made once and put back before each test that wants it."""

import shutil
from pathlib import Path

import pytest

from tests.support import Place
from tests.tui.review_gallery import reviewed


@pytest.fixture(scope="session")
def review_studio(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Path, int]:
    """The home, the folder that holds it and its copy, and the time at which it was finished."""
    root = tmp_path_factory.mktemp("review")
    place = reviewed(root / "me")
    shutil.copytree(root / "me", root / "copy")
    return place, root, place.clock.now_ms()


@pytest.fixture
def review(review_studio: tuple[Place, Path, int], monkeypatch: pytest.MonkeyPatch) -> Place:
    """The home as it was at first; its folder is everybody's ``~``."""
    place, root, now = review_studio
    shutil.rmtree(root / "me")
    shutil.copytree(root / "copy", root / "me")
    place.clock.ms = now
    monkeypatch.setenv("HOME", str(root / "me"))
    return place
