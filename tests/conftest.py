"""What every test starts from: none of the caller's environment, an empty home, pictures in ``snapshots/``."""

import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support import Place

# Before anything imports Textual, which reads its variables once; children of the tests inherit the result too.
_FOREIGN = ("CLAUDE", "CODEX_", "SPARK_", "TEXTUAL_", "GIT_", "LC_", "SSH_", "TMUX", "XDG_", "OPENAI_", "ANTHROPIC_")
_SINGLE = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "LANGUAGE", "EDITOR", "VISUAL")
_PYTHON = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONWARNINGS")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
for _name in list(os.environ):
    if _name == "TEXTUAL_SNAPSHOT_TEMPDIR":  # how the workers of the snapshot plugin find one another
        continue
    if _name.startswith(_FOREIGN) or _name in (*_SINGLE, *_PYTHON) or _name.lower() in _PROXIES:
        del os.environ[_name]
os.environ.update(LANG="C.UTF-8", TZ="UTC", TERM="xterm-256color")
# No test may look into the keyring of the person who runs it.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
_HOMES = Path(tempfile.mkdtemp(prefix="spark-tui-tests-"))
os.environ["HOME"] = str(_HOMES)

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from pytest_textual_snapshot import SVGImageExtension  # noqa: E402
from syrupy.location import PyTestLocation  # noqa: E402

CI = bool(os.environ.get("CI"))
SNAPSHOTS = Path(__file__).parent.parent / "snapshots"

# A slow moment of the machine is no fault of the code under test; CI meets the same examples at every run.
settings.register_profile("house", deadline=None, derandomize=CI, print_blob=True)
settings.load_profile("house")


def _picture_folder(test_location: PyTestLocation) -> str:
    # Named like the test file, or syrupy takes the pictures of tests that were not selected for unused ones.
    return str(SNAPSHOTS / Path(test_location.filepath).stem)


SVGImageExtension.dirname = classmethod(lambda cls, *, test_location: _picture_folder(test_location))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    """Send the report of a test about broken text in whole: half a surrogate pair would end the worker and the run."""
    return _sendable((yield))


def _sendable(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case dict():
            return {_sendable(key): _sendable(each) for key, each in value.items()}
        case list() | tuple():
            return [_sendable(each) for each in value]
        case _:
            return value


def pytest_unconfigure() -> None:
    """Remove the homes of this process's tests."""
    shutil.rmtree(_HOMES, ignore_errors=True)


@pytest.fixture(autouse=True)
def _empty_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", tempfile.mkdtemp(dir=_HOMES))


@pytest.fixture
def home_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``$SPARK_HOME`` of the test's own; not made yet, as on a fresh machine."""
    folder = tmp_path / "spark-home"
    monkeypatch.setenv("SPARK_HOME", str(folder))
    return folder


@pytest.fixture
def place(tmp_path: Path) -> "Place":
    """A home with embedding off and a project beside it, in the test's own folder."""
    from tests.support import Place

    return Place(tmp_path)


@pytest.fixture(scope="session")
def tmux() -> str:
    """The path of tmux; where there is none the test is skipped, but in CI it fails."""
    found = shutil.which("tmux")
    if found is None:
        reason = "tmux is not installed"
        pytest.fail(reason) if CI else pytest.skip(reason)
    return found


@pytest.fixture(scope="session", autouse=True)
def _vocabulary() -> object:
    """Hold the vocabulary of tokens for the whole run; every test's engine would read it anew, half a second each."""
    from engine.providers.tokens import TokenCounter

    counter = TokenCounter()
    assert counter.exact
    return counter


@pytest.fixture(autouse=True)
def _speaks_english() -> None:
    """Begin every test in English with the usual marks, whatever language the one before it spoke."""
    from spark_tui.text.glyphs import use_glyphs
    from spark_tui.text.i18n import use_language

    use_language("en")
    use_glyphs("unicode")
