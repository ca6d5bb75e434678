"""Where keys come from and go to: variables, a keyring that works or does not, files only their owner reads."""

import stat
from pathlib import Path

import pytest

from engine.errors import ValidationFailed
from engine.providers.keys import KeyPlace, KeyProblem, KeySource, forget_key, is_variable, key_file, store_key
from tests.providers.keyrings import Memory
from tests.support import run_python

KEY = "sk-canary-0123456789abcdef"
HERE = "https://lab.example/v1"
KEPT = f"https://lab.example:443 {KEY}"


def test_a_named_variable_is_read_at_each_use_and_nothing_else_is_asked(tmp_path: Path, ring: Memory) -> None:
    environ = {"LAB_KEY": "first"}
    store_key("lab", KEY, tmp_path, HERE)
    source = KeySource("lab", "LAB_KEY", tmp_path, environ)
    assert source.found() == (KeyPlace.ENVIRONMENT, "first")
    environ["LAB_KEY"] = " second\n"
    assert source.read() == "second"
    del environ["LAB_KEY"]
    with pytest.raises(KeyProblem, match="api_key_env of provider lab names is not set") as problem:
        source.read()
    assert problem.value.hint == "export LAB_KEY, where the program is started"


@pytest.mark.parametrize("pasted", [KEY, KEY.replace("-", "_"), "AKIAIOSFODNN7EXAMPLE" * 3, "two words"])
def test_a_key_pasted_in_place_of_a_variable_is_never_repeated(tmp_path: Path, pasted: str) -> None:
    source = KeySource("lab", pasted, tmp_path, {})
    with pytest.raises(KeyProblem) as problem:
        source.read()
    assert pasted not in f"{problem.value!r} {problem.value.message} {problem.value.hint} {source!r}"


@pytest.mark.parametrize("key", ["two words", "späte", "line\nbreak", "nul\0", " "])
def test_a_key_no_header_can_carry_is_refused_unseen(tmp_path: Path, no_ring: None, key: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        store_key("lab", key, tmp_path, HERE)
    assert not key_file(tmp_path, "lab").exists()
    with pytest.raises(KeyProblem) as problem:
        KeySource("lab", "LAB_KEY", environ={"LAB_KEY": key}).read()
    told = f"{refused.value.message} {refused.value.hint} {problem.value.message} {problem.value.hint}"
    assert not key.strip() or key not in told


def test_the_keyring_is_preferred_where_it_works(tmp_path: Path, ring: Memory) -> None:
    key_file(tmp_path, "lab").parent.mkdir()
    key_file(tmp_path, "lab").write_text("an older one", "utf-8")
    assert store_key("lab", f" {KEY}\n", tmp_path, HERE) is KeyPlace.KEYRING

    assert ring.kept == {("spark-tui", "lab"): KEPT}
    assert not key_file(tmp_path, "lab").exists()
    assert KeySource("lab", home=tmp_path, address=HERE).found() == (KeyPlace.KEYRING, KEY)
    forget_key("lab", tmp_path)
    assert ring.kept == {}
    assert KeySource("lab", home=tmp_path, address=HERE).found() == (KeyPlace.NOWHERE, None)


@pytest.mark.parametrize("trouble", ["locked", "forgetful"])
def test_a_keyring_that_fails_is_as_good_as_none(
    tmp_path: Path, ring: Memory, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    setattr(ring, trouble, True)
    assert store_key("lab", KEY, tmp_path, HERE) is KeyPlace.FILE
    assert KeySource("lab", home=tmp_path, address=HERE).found() == (KeyPlace.FILE, KEY)
    forget_key("lab", tmp_path)
    assert KeySource("lab", home=tmp_path, address=HERE).read() is None
    assert KEY not in caplog.text


def test_without_a_keyring_the_key_is_a_file_only_its_owner_reads(tmp_path: Path, no_ring: None) -> None:
    path = key_file(tmp_path, "lab")
    path.parent.mkdir()
    path.write_text("older", "utf-8")
    path.chmod(0o644)
    assert store_key("lab", KEY, tmp_path, HERE) is KeyPlace.FILE

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeySource("lab", home=tmp_path, address=HERE).read() == KEY
    assert [each.name for each in path.parent.iterdir()] == ["lab"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_others_can_read_is_refused_with_what_to_do(tmp_path: Path, no_ring: None, mode: int) -> None:
    store_key("lab", KEY, tmp_path, HERE)
    key_file(tmp_path, "lab").chmod(mode)
    with pytest.raises(KeyProblem, match="can be read by others") as problem:
        KeySource("lab", home=tmp_path, address=HERE).read()
    assert "chmod 600" in str(problem.value.hint)
    assert KEY not in f"{problem.value.message} {problem.value.hint}"


def test_an_empty_file_and_a_folder_in_its_place_are_told(tmp_path: Path, no_ring: None) -> None:
    path = key_file(tmp_path, "lab")
    path.mkdir(parents=True)
    with pytest.raises(KeyProblem, match="cannot be read"):
        KeySource("lab", home=tmp_path, address=HERE).read()
    path.rmdir()
    path.touch(0o600)
    with pytest.raises(KeyProblem, match="the key is empty"):
        KeySource("lab", home=tmp_path, address=HERE).read()


@pytest.mark.parametrize("name", ["../config", "Lab", "", ".", "a/b", "x" * 41])
def test_a_name_that_is_no_slug_reaches_no_file(tmp_path: Path, ring: Memory, name: str) -> None:
    (tmp_path / "config").write_text(KEY, "utf-8")
    assert KeySource(name, home=tmp_path).found() == (KeyPlace.NOWHERE, None)
    forget_key(name, tmp_path)
    assert (tmp_path / "config").exists()


@pytest.mark.parametrize("where", ["ring", "no_ring"])
@pytest.mark.parametrize(
    "there",
    ["https://evil.example/v1", "http://lab.example/v1", "https://lab.example:8443/v1", "https://lab.example.evil/v1",
     "https://evil.example/lab.example/v1", "https://lab.example@evil.example/v1", "nonsense", ""],
)  # fmt: skip
def test_a_stored_key_is_handed_out_for_its_own_address_only(
    tmp_path: Path, request: pytest.FixtureRequest, where: str, there: str
) -> None:
    request.getfixturevalue(where)
    place = store_key("lab", KEY, tmp_path, HERE)
    for same in (HERE, "https://LAB.example:443", "https://lab.example/other/path/"):
        assert KeySource("lab", home=tmp_path, address=same).found() == (place, KEY)
    with pytest.raises(KeyProblem, match="was stored for another address; store it again") as problem:
        KeySource("lab", home=tmp_path, address=there).found()
    assert problem.value.details["place"] is place
    assert KEY not in f"{problem.value!r} {problem.value.message} {problem.value.hint}"


def test_a_key_that_names_no_address_is_not_handed_out(tmp_path: Path, no_ring: None) -> None:
    path = key_file(tmp_path, "lab")
    path.parent.mkdir()
    path.write_text(KEY, "utf-8")
    path.chmod(0o600)
    for address in (HERE, ""):
        with pytest.raises(KeyProblem, match="another address"):
            KeySource("lab", home=tmp_path, address=address).read()


def test_the_file_counts_where_the_keyring_holds_an_older_key_of_another_address(tmp_path: Path, ring: Memory) -> None:
    store_key("lab", "old", tmp_path, "https://old.example")
    ring.locked = True
    store_key("lab", KEY, tmp_path, HERE)
    ring.locked = False
    assert KeySource("lab", home=tmp_path, address=HERE).found() == (KeyPlace.FILE, KEY)


def test_a_keyring_that_does_not_answer_is_asked_once_and_told(tmp_path: Path, ring: Memory) -> None:
    ring.answers.clear()
    sources = [KeySource(name, home=tmp_path, address=HERE, patience=0.05) for name in ("lab", "lab", "lab")]
    for source in sources:
        with pytest.raises(KeyProblem, match="the keyring did not answer") as problem:
            source.read()
        assert problem.value.hint
    assert ring.asked == 1, "one dialogue is enough"
    ring.kept["spark-tui", "lab"] = KEPT
    ring.answers.set()
    assert KeySource("lab", home=tmp_path, address=HERE).read() == KEY


def test_a_keyring_that_does_not_answer_when_a_key_is_stored_is_told(tmp_path: Path, ring: Memory) -> None:
    ring.answers.clear()
    with pytest.raises(KeyProblem, match="the keyring did not answer") as problem:
        store_key("lab", KEY, tmp_path, HERE, patience=0.05)
    assert not key_file(tmp_path, "lab").exists()
    assert KEY not in f"{problem.value!r} {problem.value.message} {problem.value.hint}"


def test_a_file_is_used_while_the_keyring_does_not_answer(tmp_path: Path, ring: Memory) -> None:
    ring.locked = True
    store_key("lab", KEY, tmp_path, HERE)
    ring.answers.clear()
    assert KeySource("lab", home=tmp_path, address=HERE, patience=0.05).found() == (KeyPlace.FILE, KEY)


BLOCKED = """
import sys, threading
from pathlib import Path
import keyring
from keyring.backend import KeyringBackend

asked = threading.Event()

class Blocked(KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        asked.set()
        threading.Event().wait()
    set_password = delete_password = get_password

keyring.set_keyring(Blocked())
from engine.loop import EngineLoop
from engine.providers.chat import ChatRequest, Message, Role
from engine.providers.http_chat import Terms
from engine.providers.keys import KeySource
from engine.providers.openai_chat import OpenAIChat

address = "http://127.0.0.1:9/v1"
source = KeySource("lab", home=Path(sys.argv[1]), address=address, patience=600)
loop = EngineLoop()
loop.submit(OpenAIChat("lab", address, "m", Terms(source)).complete(ChatRequest((Message(Role.USER, "hello"),))))
asked.wait()
loop.close()
print("closed")
"""


def test_a_keyring_that_waits_for_a_person_does_not_keep_the_program_from_ending(tmp_path: Path) -> None:
    done = run_python(BLOCKED, tmp_path)
    assert (done.returncode, done.stdout) == (0, "closed\n"), done.stderr


def test_what_is_evidently_a_variable() -> None:
    for name in ("OPENAI_API_KEY", "K", "MY_KEY_2"):
        assert is_variable(name)
    for name in ("", "openai_api_key", "sk-abc", "_X", "A__B", "A" * 60, "X Y", "KEY\n"):
        assert not is_variable(name)
