"""settings: every key with its range, comments of the file kept, and vectors made anew."""

import pytest

from tests.cli.conftest import Cli


def test_every_setting_is_listed_with_default_and_range(cli: Cli) -> None:
    told = cli.json("settings", "list")
    by_key = {each["key"]: each for each in told["settings"]}
    assert by_key["memory.maxInjectTokens"]["default"] == by_key["memory.maxInjectTokens"]["value"] == 4000
    assert (by_key["memory.embeddingProviderId"]["value"], by_key["memory.embeddingProviderId"]["is_set"]) == (
        "none",
        True,
    )
    assert all(each["allowed"] and each["meaning"] for each in told["settings"])
    assert "memory.vecDimension" not in by_key
    assert told["problems"] == []


def test_a_setting_is_set_read_and_unset_and_comments_stay(cli: Cli) -> None:
    config = cli.home / "config.toml"
    config.write_text("# mine\n[memory]\nembeddingProviderId = 'none'  # quick\n", "utf-8")
    assert cli.json("settings", "set", "memory.maxInjectTokens", "900")["value"] == 900
    assert cli.json("settings", "get", "memory.maxInjectTokens")["value"] == 900
    assert cli.run("settings", "get", "memory.maxInjectTokens").out == "900\n"
    assert cli.json("settings", "unset", "memory.maxInjectTokens")["value"] == 4000
    assert config.read_text("utf-8").startswith("# mine\n[memory]\nembeddingProviderId = 'none'  # quick\n")


def test_quotas_are_one_object_or_three_keys(cli: Cli) -> None:
    assert cli.json("settings", "set", "memory.quota", '{"user": 7}')["value"] == {
        "user": 7,
        "project": 200,
        "agent": 50,
    }
    assert cli.json("settings", "get", "memory.quota.user")["value"] == 7
    assert cli.json("settings", "unset", "memory.quota")["value"]["user"] == 100


@pytest.mark.parametrize(
    ("key", "value", "tells"),
    [
        ("memory.maxInjectTokens", "199", "200 to 32000"),
        ("memory.maxInjectTokens", "many", "200 to 32000"),
        ("memory.timeDecayLambda", "nan", "0 to 1"),
        ("memory.enabled", "perhaps", "true or false"),
        ("memory.quotaPolicy", "keep", "drop, evict"),
        ("memory.quota", "[1]", "object"),
        ("memory.vecDimension", "3", "cannot be set"),
        ("memory.enabeld", "true", "memory.enabled"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(cli: Cli, key: str, value: str, tells: str) -> None:
    before = (cli.home / "config.toml").read_bytes()
    error = cli.json("settings", "set", key, value, code=1)["error"]
    assert error["code"] == "VALIDATION_FAILED"
    assert tells in error["message"] + error.get("hint", "")
    assert (cli.home / "config.toml").read_bytes() == before


def test_a_provider_that_cannot_embed_is_refused_for_embeddings(cli: Cli) -> None:
    (cli.home / "config.toml").write_text("[providers.claude]\nkind = 'anthropic'\n", "utf-8")
    for name in ("claude", "unknown"):
        assert (
            cli.json("settings", "set", "memory.embeddingProviderId", name, code=1)["error"]["code"]
            == "EMBEDDING_FAILED"
        )


def test_a_value_the_file_has_wrong_is_told_and_not_used(cli: Cli) -> None:
    (cli.home / "config.toml").write_text("[memory]\nmaxInjectTokens = 5\n", "utf-8")
    told = cli.json("settings", "list")
    assert "memory.maxInjectTokens" in told["problems"][0]
    assert {each["key"]: each["value"] for each in told["settings"]}["memory.maxInjectTokens"] == 4000


def test_vectors_are_made_anew(cli: Cli) -> None:
    assert cli.json("settings", "rebuild-vectors") == {"ok": True, "model": None, "done": 0, "total": 0}
    entry_id = cli.add("n", "偏好函数式组件")
    cli.json("settings", "unset", "memory.embeddingProviderId")
    told = cli.json("settings", "rebuild-vectors")
    assert (told["done"], told["total"], told["model"].startswith("local:")) == (1, 1, True)
    hit = cli.json("memory", "search", "component style")["hits"][0]
    assert (hit["entry"]["id"], hit["vector_rank"], hit["fts_rank"]) == (entry_id, 1, None)


def test_a_memory_added_by_one_command_is_found_by_meaning_by_the_next(cli: Cli) -> None:
    cli.json("settings", "unset", "memory.embeddingProviderId")
    entry_id = cli.add("n", "偏好函数式组件")
    with_vector = {row["id"]: row for row in cli.json("doctor")["rows"]}["embedding"]
    assert (with_vector["state"], "all 1" in with_vector["evidence"]) == ("ok", True)
    assert cli.json("memory", "search", "component style")["hits"][0]["entry"]["id"] == entry_id


def test_an_embedding_model_that_fails_costs_a_note_and_no_memory(cli: Cli) -> None:
    (cli.home / "config.toml").write_text("[memory]\nembeddingProviderId = 'gone'\n", "utf-8")
    done = cli.run(
        "memory", "add", "--scope", "user", "--type", "user", "--name", "n", "--description", "tabs", "--json"
    )
    assert done.code == 0
    assert done.json["ok"] is True
    assert "not embedded" in done.err
    found = cli.run("memory", "search", "tabs", "--json").json
    assert len(found["hits"]) == 1
    row = {row["id"]: row for row in cli.json("doctor", code=1)["rows"]}["embedding"]
    assert (row["state"], "gone" in row["evidence"]) == ("fail", True)
