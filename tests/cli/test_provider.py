"""provider: added, listed, tested against a real server, chosen, removed; the key is in no output and no other file."""

import json
from pathlib import Path

import pytest

from engine.clock import parse_iso
from spark_tui.cli.provider_rows import provider_rows
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail, Hang, Say
from tests.cli.conftest import Cli
from tests.providers.keyrings import no_ring
from tests.providers.scripted import KEY, model_server
from tests.support import occurrences

__all__ = ["model_server", "no_ring"]
pytestmark = pytest.mark.usefixtures("no_ring")


def add(cli: Cli, server: ModelServer, *more: str, name: str = "lab", kind: str = "openai-compatible") -> None:
    words = ("--kind", kind, "--base-url", server.base_url, "--model", "m1")
    cli.json("provider", "add", name, *words, *more)


def test_a_provider_is_added_listed_and_removed(cli: Cli) -> None:
    told = cli.json(
        "provider", "add", "cloud", "--kind", "anthropic", "--api-key-env", "MY_KEY", "--model", "a", "--model", "b"
    )
    assert told["provider"] == {
        "name": "cloud", "kind": "anthropic", "base_url": "https://api.anthropic.com", "models": ["a", "b"],
        "enabled": True, "default": False, "probe": None,
        "key": {
            "from": "environment", "variable": "MY_KEY", "present": False,
            "problem": "the environment variable that api_key_env of provider cloud names is not set",
        },
    }  # fmt: skip
    assert cli.json("provider", "list") == {"providers": [told["provider"]], "default": None, "problems": []}
    assert cli.json("provider", "remove", "cloud") == {"ok": True, "removed": "cloud", "unset": []}
    assert cli.json("provider", "list")["providers"] == []
    assert cli.json("provider", "remove", "cloud", code=1)["error"]["code"] == "NOT_FOUND"


def test_a_variable_that_is_set_makes_the_key_present(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    cli.json("provider", "add", "cloud", "--kind", "deepseek", "--api-key-env", "MY_KEY")
    (each,) = cli.json("provider", "list")["providers"]
    assert each["key"] == {"from": "environment", "variable": "MY_KEY", "present": True}


def test_the_default_is_set_shown_and_guarded(cli: Cli, model_server: ModelServer) -> None:
    add(cli, model_server)
    assert cli.json("provider", "set-default", "lab") == {"ok": True, "provider": "lab", "model": "m1"}
    assert cli.json("settings", "get", "model.defaultProviderId")["value"] == "lab"
    told = cli.json("provider", "list")
    assert (told["default"], told["providers"][0]["default"]) == ({"provider": "lab", "model": "m1"}, True)
    error = cli.json("provider", "remove", "lab", code=1)["error"]
    assert (error["code"], "model.defaultProviderId" in error["message"]) == ("VALIDATION_FAILED", True)
    unset = cli.json("provider", "remove", "lab", "--force")["unset"]
    assert unset == ["model.defaultProviderId", "model.defaultModel"]
    assert cli.json("provider", "set-default", "lab", code=1)["error"]["code"] == "NOT_FOUND"


def test_a_test_asks_and_tells_what_was_found(cli: Cli, model_server: ModelServer) -> None:
    model_server.when("single word", Say("ready " * 40))
    add(cli, model_server)
    told = cli.json("provider", "test", "lab")

    assert (told["ok"], told["provider"], told["kind"], told["model"]) == (True, "lab", "openai-compatible", "m1")
    assert len(told["sample"]) == 80
    assert told["latency_ms"] >= 0
    found = {each["name"]: each["finding"] for each in told["capabilities"]}
    assert list(found) == ["answers", "usage", "streaming", "schema", "tools", "embeddings"]
    assert (found["answers"], found["embeddings"]) == ("yes", "yes")
    assert parse_iso(told["at"])
    kept = cli.json("provider", "list")["providers"][0]["probe"]
    assert kept == {name: told[name] for name in ("model", "at", "latency_ms", "capabilities")}
    assert cli.json("provider", "test", "lab", "--model", "m2")["model"] == "m2"


def test_a_test_that_fails_ends_with_1_and_the_sentence(cli: Cli, model_server: ModelServer) -> None:
    model_server.then(Fail(401))
    add(cli, model_server)
    error = cli.json("provider", "test", "lab", code=1)["error"]
    host = model_server.base_url.split("/")[2]

    assert (error["code"], error["fault"], error["status"]) == ("MODEL_FAILED", "auth", 401)
    assert error["message"] == f"HTTP 401 from {host}: the key was refused"
    assert error["hint"]
    assert cli.json("provider", "list")["providers"][0]["probe"] is None
    cli.json("provider", "add", "none-yet", "--kind", "openai", "--model", "m")
    assert cli.json("provider", "test", "none-yet", code=1)["error"]["code"] == "MODEL_UNAVAILABLE"
    assert cli.json("provider", "test", "nobody", code=1)["error"]["code"] == "NOT_FOUND"


def test_the_patience_of_a_provider_is_its_own(cli: Cli, model_server: ModelServer) -> None:
    model_server.then(Hang())
    add(cli, model_server)
    config = cli.home / "config.toml"
    config.write_text(config.read_text("utf-8") + "timeouts = {first_byte = 0.1, connect = 0.1}\n", "utf-8")
    error = cli.json("provider", "test", "lab", code=1)["error"]
    assert error["fault"] == "timeout"


@pytest.mark.parametrize("kind", ["openai-compatible", "anthropic"])
def test_a_key_from_standard_input_is_used_and_in_no_output_and_no_other_file(
    cli: Cli, kind: str, tmp_path: Path
) -> None:
    with ModelServer(api_key=KEY) as server:
        words = ("--kind", kind, "--base-url", server.base_url, "--model", "m1", "--key-stdin")
        outputs = [cli.run("provider", "add", "lab", *words, "--json", stdin=f"{KEY}\n".encode())]
        assert outputs[0].json["provider"]["key"] == {"from": "file", "present": True}
        outputs += [
            cli.run("provider", *verb, *form) for form in ([], ["--json"]) for verb in (["test", "lab"], ["list"])
        ]
        assert {each.code for each in outputs} == {0}
        server.api_key = "another"
        outputs += [cli.run("provider", "test", "lab", *form) for form in ([], ["--json"])]
        assert [each.code for each in outputs[-2:]] == [1, 1]

    assert not [each for each in outputs if KEY in each.out + each.err]
    assert [path for path, _ in occurrences(tmp_path, KEY.encode())] == [cli.home / "keys" / "lab"]
    cli.json("provider", "remove", "lab")
    assert occurrences(tmp_path, KEY.encode()) == []


@pytest.mark.parametrize(
    ("words", "code", "tells"),
    [
        (["x", "--kind", "openai", "--api-key-env", KEY], 1, "environment variable"),
        (["x", "--kind", "openai", "--api-key-env", KEY.replace("-", "_")], 1, "environment variable"),
        (["x", "--kind", "openai-compatible"], 1, "base URL"),
        (["x", "--kind", "openai", "--base-url", "nowhere"], 1, "http"),
        (["local", "--kind", "ollama"], 1, "name"),
        (["x", "--kind", "gemini"], 2, "gemini"),
        (["x"], 2, "--kind"),
        (["x", "--kind", "openai", "--api-key-env", "A_KEY", "--key-stdin"], 2, "together"),
        (["x", "--kind", "openai", "--key-stdin"], 1, "empty"),
    ],
)
def test_what_cannot_be_added_is_refused_without_repeating_a_key(
    cli: Cli, words: list[str], code: int, tells: str
) -> None:
    before = (cli.home / "config.toml").read_bytes()
    done = cli.run("provider", "add", *words, "--json")
    assert (done.code, tells in str(done.json["error"])) == (code, True)
    assert KEY not in done.out + done.err
    assert KEY.replace("-", "_") not in done.out + done.err
    assert (cli.home / "config.toml").read_bytes() == before


def test_a_key_pasted_into_the_file_by_hand_is_not_listed(cli: Cli) -> None:
    for pasted in (KEY, KEY.replace("-", "_")):
        (cli.home / "config.toml").write_text(
            f"[providers.x]\nkind = 'openai'\napi_key_env = '{pasted}'\nmodels = ['m']\n"
        )
        for words in (["list"], ["list", "--json"], ["test", "x"], ["test", "x", "--json"]):
            done = cli.run("provider", *words)
            assert pasted not in done.out + done.err
            assert "api_key_env" in done.out + done.err or words == ["list"]


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_stored_key_never_reaches_another_host_under_the_same_name(
    cli: Cli, model_server: ModelServer, by_hand: bool
) -> None:
    words = ("--kind", "openai-compatible", "--base-url", "https://good.example/v1", "--model", "m1")
    cli.json("provider", "add", "lab", *words, "--key-stdin", stdin=KEY.encode())
    config = cli.home / "config.toml"
    if by_hand:  # the address alone is another one now
        config.write_text(config.read_text("utf-8").replace("https://good.example/v1", model_server.base_url), "utf-8")
        error = cli.json("provider", "test", "lab", code=1)["error"]
        assert "was stored for another address; store it again" in error["message"]
        assert "another address" in cli.run("provider", "list").err
        (each,) = cli.json("provider", "list")["providers"]
        assert (each["key"]["from"], each["key"]["present"]) == ("file", False)
        assert model_server.requests == []
    else:
        config.write_text("", "utf-8")
        add(cli, model_server)
        cli.json("provider", "test", "lab")
        assert model_server.requests
        assert not [each for each in model_server.requests if KEY in str(each.headers)]


def test_a_login_in_an_address_is_in_no_output(cli: Cli) -> None:
    (cli.home / "config.toml").write_text(
        "[providers.x]\nkind = 'openai-compatible'\nbase_url = 'https://bob:hunter2secret@h.example/v1'\nmodels = ['m']\n"
    )
    for words in (["list"], ["list", "--json"], ["test", "x"], ["test", "x", "--json"], ["set-default", "x"]):
        done = cli.run("provider", *words)
        assert "hunter2" not in done.out + done.err
        assert "bob" not in done.out + done.err
    assert "https://h.example/v1" in cli.run("provider", "list").out


def test_the_default_is_named_below_the_list(cli: Cli, model_server: ModelServer) -> None:
    add(cli, model_server)
    assert "default" not in cli.run("provider", "list").out
    cli.json("provider", "set-default", "lab")
    assert cli.run("provider", "list").out.splitlines()[-1] == "default: lab m1"


@pytest.mark.parametrize("width", [60, 80, 100, 10_000])
def test_name_key_and_models_are_read_whole_in_a_narrow_window(width: int) -> None:
    key = {"from": "keyring", "present": True}
    addresses = ("https://gateway.example.com:8443/v1", "http://127.0.0.1:11434/v1")
    told = [
        {"name": name, "kind": "openai-compatible", "enabled": True, "probe": None, "key": key, "base_url": address,
         "models": ["qwen3:4b", "large"], "default": False}
        for name, address in zip(("gateway", "lab"), addresses, strict=True)
    ]  # fmt: skip
    lines = ["".join(text for _style, text in row).rstrip() for row in provider_rows(told, width)]
    assert all(len(line) <= width for line in lines)
    for name, line in zip(("gateway", "lab"), lines[1:], strict=True):
        assert line.startswith(name)
        assert line.endswith("qwen3:4b, large")
        assert "keyring" in line
    if "address" in lines[0]:
        assert "https://gateway" in lines[1], "enough of it to tell hosts apart, or nothing"
    assert ("address" in lines[0]) == (width >= 80)
    assert ("openai-compatible" in lines[1]) == (width >= 100)


@pytest.mark.parametrize("verb", [["add", "x", "--kind", "ollama"], ["set-default", "lab"], ["remove", "lab"]])
def test_only_a_person_changes_providers(
    cli: Cli, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, verb: list[str]
) -> None:
    add(cli, model_server)
    monkeypatch.setenv("CLAUDECODE", "1")
    before = (cli.home / "config.toml").read_bytes()
    assert cli.json("provider", *verb, code=1)["error"]["code"] == "PERSON_REQUIRED"
    assert (cli.home / "config.toml").read_bytes() == before
    assert cli.json("provider", "list")["providers"]


def test_people_are_told_in_their_language(cli: Cli, model_server: ModelServer) -> None:
    assert "provider add" in cli.run("provider", "list").err
    done = cli.run("provider", "add", "lab", "--kind", "ollama", "--base-url", model_server.base_url, "--model", "m1")
    assert (done.code, done.out.startswith("lab")) == (0, True)
    assert "provider test lab" in done.err
    listed = cli.run("provider", "list").out
    assert "ollama" in listed
    assert model_server.base_url in listed
    tested = cli.run("provider", "test", "lab").out
    assert "embeddings" in tested
    assert "lab m1" in cli.run("provider", "set-default", "lab").out
    assert "lab" in cli.run("provider", "remove", "lab", "--force").out
    assert json.loads(cli.run("provider", "list", "--json").out)["providers"] == []
