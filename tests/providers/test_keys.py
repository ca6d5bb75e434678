"""Where keys come from and go to: variables, a keyring that works or does not, files only their owner reads."""

import stat
from pathlib import Path

import pytest

from engine.errors import ValidationFailed
from engine.providers.keys import KeyPlace, KeyProblem, KeySource, forget_key, is_variable, key_file, store_key
from tests.providers.keyrings import Memory

KEY = "sk-canary-0123456789abcdef"


def test_a_named_variable_is_read_at_each_use_and_nothing_else_is_asked(tmp_path: Path, ring: Memory) -> None:
    environ = {"LAB_KEY": "first"}
    store_key("lab", KEY, tmp_path)
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
        store_key("lab", key, tmp_path)
    assert not key_file(tmp_path, "lab").exists()
    with pytest.raises(KeyProblem) as problem:
        KeySource("lab", "LAB_KEY", environ={"LAB_KEY": key}).read()
    told = f"{refused.value.message} {refused.value.hint} {problem.value.message} {problem.value.hint}"
    assert not key.strip() or key not in told


def test_the_keyring_is_preferred_where_it_works(tmp_path: Path, ring: Memory) -> None:
    key_file(tmp_path, "lab").parent.mkdir()
    key_file(tmp_path, "lab").write_text("an older one", "utf-8")
    assert store_key("lab", f" {KEY}\n", tmp_path) is KeyPlace.KEYRING

    assert ring.kept == {("spark-tui", "lab"): KEY}
    assert not key_file(tmp_path, "lab").exists()
    assert KeySource("lab", home=tmp_path).found() == (KeyPlace.KEYRING, KEY)
    forget_key("lab", tmp_path)
    assert ring.kept == {}
    assert KeySource("lab", home=tmp_path).found() == (KeyPlace.NOWHERE, None)


@pytest.mark.parametrize("trouble", ["locked", "forgetful"])
def test_a_keyring_that_fails_is_as_good_as_none(
    tmp_path: Path, ring: Memory, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    setattr(ring, trouble, True)
    assert store_key("lab", KEY, tmp_path) is KeyPlace.FILE
    assert KeySource("lab", home=tmp_path).found() == (KeyPlace.FILE, KEY)
    forget_key("lab", tmp_path)
    assert KeySource("lab", home=tmp_path).read() is None
    assert KEY not in caplog.text


def test_without_a_keyring_the_key_is_a_file_only_its_owner_reads(tmp_path: Path, no_ring: None) -> None:
    path = key_file(tmp_path, "lab")
    path.parent.mkdir()
    path.write_text("older", "utf-8")
    path.chmod(0o644)
    assert store_key("lab", KEY, tmp_path) is KeyPlace.FILE

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeySource("lab", home=tmp_path).read() == KEY
    assert [each.name for each in path.parent.iterdir()] == ["lab"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_others_can_read_is_refused_with_what_to_do(tmp_path: Path, no_ring: None, mode: int) -> None:
    store_key("lab", KEY, tmp_path)
    key_file(tmp_path, "lab").chmod(mode)
    with pytest.raises(KeyProblem, match="can be read by others") as problem:
        KeySource("lab", home=tmp_path).read()
    assert "chmod 600" in str(problem.value.hint)
    assert KEY not in f"{problem.value.message} {problem.value.hint}"


def test_an_empty_file_and_a_folder_in_its_place_are_told(tmp_path: Path, no_ring: None) -> None:
    path = key_file(tmp_path, "lab")
    path.mkdir(parents=True)
    with pytest.raises(KeyProblem, match="cannot be read"):
        KeySource("lab", home=tmp_path).read()
    path.rmdir()
    path.touch(0o600)
    with pytest.raises(KeyProblem, match="the key is empty"):
        KeySource("lab", home=tmp_path).read()


@pytest.mark.parametrize("name", ["../config", "Lab", "", ".", "a/b", "x" * 41])
def test_a_name_that_is_no_slug_reaches_no_file(tmp_path: Path, ring: Memory, name: str) -> None:
    (tmp_path / "config").write_text(KEY, "utf-8")
    assert KeySource(name, home=tmp_path).found() == (KeyPlace.NOWHERE, None)
    forget_key(name, tmp_path)
    assert (tmp_path / "config").exists()


def test_what_is_evidently_a_variable() -> None:
    for name in ("OPENAI_API_KEY", "K", "MY_KEY_2"):
        assert is_variable(name)
    for name in ("", "openai_api_key", "sk-abc", "_X", "A__B", "A" * 60, "X Y", "KEY\n"):
        assert not is_variable(name)
