"""The settings file: defaults, ranges, what survives an edit, and two processes editing at once."""

import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import ConfigBroken, Provider, Settings
from engine.errors import StoreReadOnly, ValidationFailed
from engine.settings_providers import LOCAL_FIRST_BYTE_S, Timeouts
from engine.settings_table import TABLE
from tests.support import without_root_rights

HERE = Path(__file__).parents[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "config.toml"


def written(path: Path, text: str) -> Settings:
    """The settings of a file with this text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return Settings.load(path)


def test_a_missing_file_gives_the_defaults_of_the_spec_and_reading_makes_nothing(path: Path) -> None:
    settings = Settings.load(path)

    expected = {
        "memory.enabled": True,
        "memory.extractionProviderId": "",
        "memory.extractionModel": "",
        "memory.embeddingProviderId": "local",
        "memory.embeddingModel": "",
        "memory.consolidationEnabled": True,
        "memory.consolidationThreshold": 30,
        "memory.consolidationIntervalDays": 7.0,
        "memory.maxInjectTokens": 4000,
        "memory.timeDecayLambda": 0.01,
        "memory.timeDecayFloor": 0.0,
        "memory.quota.user": 100,
        "memory.quota.project": 200,
        "memory.quota.agent": 50,
        "memory.quotaPolicy": "drop",
        "model.defaultProviderId": "",
        "model.defaultModel": "",
        "project.worktrees": "shared",
        "ui.language": "auto",
        "ui.theme": "spark-dark",
        "ui.glyphs": "unicode",
        "ui.mouse": "auto",
        "hooks.autostart": True,
        "log.level": "info",
    }
    assert {setting.key: value for setting, value in settings.items()} == expected
    assert (settings.problems, settings.unknown, settings.providers()) == ((), (), ())
    assert not path.parent.exists()


def test_every_default_is_a_value_its_own_setting_allows() -> None:
    for setting in TABLE:
        assert setting.checked(setting.default) == setting.default
        assert setting.meaning.endswith(".")
    assert len({setting.key for setting in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("memory.enabled", "off", False),
        ("memory.enabled", "TRUE", True),
        ("memory.maxInjectTokens", "200", 200),
        ("memory.maxInjectTokens", "32000", 32000),
        ("memory.consolidationThreshold", "2", 2),
        ("memory.consolidationIntervalDays", "0.001", 0.001),
        ("memory.timeDecayLambda", "1", 1.0),
        ("memory.timeDecayFloor", "0", 0.0),
        ("memory.quota.agent", "100000", 100000),
        ("memory.quotaPolicy", "evict", "evict"),
        ("memory.extractionModel", '模型 "x" \\ #1', '模型 "x" \\ #1'),
        ("ui.language", "zh", "zh"),
    ],
)
def test_a_value_is_parsed_kept_in_the_file_and_gone_after_unset(
    path: Path, key: str, text: str, value: object
) -> None:
    settings = Settings.load(path)
    default = settings.get(key)

    assert settings.set(key, text) == value
    assert (settings.get(key), settings.is_set(key)) == (value, True)
    assert Settings.load(path).get(key) == value
    assert settings.unset(key) == default
    assert not Settings.load(path).is_set(key)


@pytest.mark.parametrize(
    ("key", "text", "allowed"),
    [
        ("memory.enabled", "perhaps", "true or false"),
        ("memory.maxInjectTokens", "199", "from 200 to 32000"),
        ("memory.maxInjectTokens", "32001", "from 200 to 32000"),
        ("memory.maxInjectTokens", "400.5", "from 200 to 32000"),
        ("memory.maxInjectTokens", "many", "from 200 to 32000"),
        ("memory.consolidationThreshold", "1", "2 or more"),
        ("memory.consolidationIntervalDays", "0", "0.001 or more"),
        ("memory.timeDecayLambda", "1.01", "from 0 to 1"),
        ("memory.timeDecayLambda", "nan", "from 0 to 1"),
        ("memory.consolidationIntervalDays", "inf", "0.001 or more"),
        ("memory.timeDecayFloor", "-0.1", "from 0 to 1"),
        ("memory.quota.user", "0", "from 1 to 100000"),
        ("memory.quota.user", "100001", "from 1 to 100000"),
        ("memory.quota", '{"user": 0}', "from 1 to 100000"),
        ("memory.quotaPolicy", "keep", "drop, evict"),
        ("project.worktrees", "both", "shared, separate"),
        ("ui.language", "de", "auto, en, zh"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_allowed_range_and_nothing_is_written(
    path: Path, key: str, text: str, allowed: str
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        Settings.load(path).set(key, text)

    assert allowed in caught.value.message
    assert not path.exists()


@pytest.mark.parametrize("key", ["memory.vecDimension", "memory.ftsBackfillDone"])
def test_internal_keys_are_refused_and_not_listed(path: Path, key: str) -> None:
    settings = Settings.load(path)

    for change in (lambda: settings.set(key, "1"), lambda: settings.unset(key)):
        with pytest.raises(ValidationFailed, match="cannot be set"):
            change()
    assert key not in {setting.key for setting, _ in settings.items()}


def test_an_unknown_key_is_refused_with_the_nearest_one(path: Path) -> None:
    with pytest.raises(ValidationFailed) as caught:
        Settings.load(path).set("memory.maxInjectToken", "300")

    assert caught.value.hint == "did you mean memory.maxInjectTokens?"


def test_the_quota_is_one_object_and_three_keys(path: Path) -> None:
    settings = Settings.load(path)
    settings.set("memory.quota", '{"user": 7, "agent": 9}')
    settings.set("memory.quota.project", "8")

    assert json.loads(str(settings.get("memory.quota"))) == {"user": 7, "project": 8, "agent": 9}
    assert settings.is_set("memory.quota")
    assert [settings.memory.quota_of(scope) for scope in ("user", "project", "agent")] == [7, 8, 9]
    assert written(path, 'memory.quota = {"agent" = 5}\n').memory.quotas == (100, 200, 5)
    settings.reload_if_changed()
    settings.set("memory.quota.user", "6")
    assert Settings.load(path).memory.quotas == (6, 200, 5)
    settings.unset("memory.quota")
    assert Settings.load(path).memory.quotas == (100, 200, 50)


@pytest.mark.parametrize("text", ["100", "[]", "{}", '{"team": 5}', "{", '{"user": "many"}', '{"user": true}'])
def test_a_quota_that_is_no_object_of_scopes_is_refused(path: Path, text: str) -> None:
    with pytest.raises(ValidationFailed):
        Settings.load(path).set("memory.quota", text)


def test_the_typed_view_follows_the_file(path: Path) -> None:
    settings = written(path, "[memory]\nenabled = false\nconsolidationThreshold = 5\nquotaPolicy = 'evict'\n")

    view = settings.memory
    assert (view.enabled, view.consolidation_threshold, view.quota_policy) == (False, 5, "evict")
    assert (view.max_inject_tokens, view.extraction_provider, view.consolidation_interval_days) == (4000, "", 7.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        view.enabled = True  # type: ignore[misc]


def test_values_out_of_range_in_the_file_are_named_and_their_default_is_used(path: Path) -> None:
    settings = written(path, '[memory]\nmaxInjectTokens = 5\nenabled = "yes"\ntimeDecayFloor = nan\nquota = 7\n')

    assert settings.memory == Settings.load(path.with_name("none.toml")).memory
    assert [problem.split(" ")[0] for problem in settings.problems] == [
        "memory.maxInjectTokens",
        "memory.enabled",
        "memory.timeDecayFloor",
        "memory.quota",
    ]
    assert "from 200 to 32000; 4000 is used" in settings.problems[0]


def test_unknown_keys_are_listed_and_otherwise_ignored(path: Path) -> None:
    settings = written(path, "future = 1\n[memory]\nsparkle = true\n[providers.p]\nregion = 'x'\n[routers.r]\na = 1\n")

    assert settings.unknown == ("future", "memory.sparkle")
    assert settings.problems == ()


DIRTY = """\ufeff# 我的设置
[ui]   # looks
theme = "mono"  # quiet
future = [1,
  2]  # not ours

[providers.p]  # mine
kind = "openai-compatible"

[memory]
# why so few
maxInjectTokens = 900
"""


def test_comments_order_and_foreign_keys_survive_an_edit(path: Path) -> None:
    settings = written(path, DIRTY)

    settings.set("memory.maxInjectTokens", "1000")
    settings.set("ui.mouse", "off")
    settings.unset("ui.mouse")

    assert path.read_text(encoding="utf-8") == DIRTY.lstrip("\ufeff").replace("900", "1000")


def test_windows_line_ends_survive_an_edit(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# a\r\n[memory]\r\nenabled = true\r\n")

    Settings.load(path).set("memory.enabled", "off")

    assert path.read_bytes() == b"# a\r\n[memory]\r\nenabled = false\r\n"


def test_a_linked_file_is_edited_where_it_lies(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# kept elsewhere\n")
    path.parent.mkdir(parents=True)
    path.symlink_to(kept)

    Settings.load(path).set("memory.enabled", "off")

    assert path.is_symlink()
    assert kept.read_text().startswith("# kept elsewhere\n")
    assert Settings.load(path).memory.enabled is False


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"[memory]\nenabled = \n", "line 2"),
        (b"<<<<<<< HEAD\n[memory]\n", "line 1"),
        (b"[memory]\nenabled = true\nenabled = false\n", "line 3"),
        (b"\xff\xfe", "UTF-8"),
        (b"a = " + b"[" * 5000, "nested|valid TOML"),
    ],
    ids=["no value", "conflict", "twice", "not UTF-8", "too deep"],
)
def test_a_broken_file_is_an_error_that_names_the_place_and_is_left_alone(
    path: Path, content: bytes, place: str
) -> None:
    settings = Settings.load(path)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    with pytest.raises(ConfigBroken, match=place):
        Settings.load(path)
    with pytest.raises(ConfigBroken, match=place):
        settings.set("memory.enabled", "off")
    assert path.read_bytes() == content


def test_a_value_where_a_table_should_be_is_not_overwritten(path: Path) -> None:
    settings = written(path, "memory = 5  # mine\n")

    with pytest.raises(ValidationFailed, match="not a table"):
        settings.set("memory.enabled", "off")
    assert path.read_text() == "memory = 5  # mine\n"


def test_a_change_of_the_file_is_seen_and_a_breakage_keeps_the_last_values(path: Path) -> None:
    settings = written(path, "memory.maxInjectTokens = 500\n")
    assert settings.reload_if_changed() is False

    path.write_text("memory.maxInjectTokens = 6000\n")
    assert settings.reload_if_changed() is True
    assert settings.memory.max_inject_tokens == 6000

    path.write_text("memory.maxInjectTokens = \n")
    assert settings.reload_if_changed() is True
    assert settings.memory.max_inject_tokens == 6000
    assert "line 1" in settings.problems[0]
    assert settings.reload_if_changed() is False

    path.unlink()
    settings.reload_if_changed()
    assert (settings.memory.max_inject_tokens, settings.problems) == (4000, ())


PROVIDERS = """
[providers.lab]
kind = "openai-compatible"
base_url = "http://127.0.0.1:1234/v1"
api_key_env = "LAB_KEY"
models = ["embed-1", "embed-2"]

[providers.claude]
kind = "anthropic"
enabled = false

[providers.odd]
models = "one"
"""


def test_providers_are_read_in_the_order_of_the_file(path: Path) -> None:
    settings = written(path, PROVIDERS)

    lab, claude, odd = settings.providers()
    models = ("embed-1", "embed-2")
    assert lab == Provider(
        "lab",
        "openai-compatible",
        "http://127.0.0.1:1234/v1",
        "LAB_KEY",
        models,
        True,
        timeouts=Timeouts(first_byte=LOCAL_FIRST_BYTE_S),
    )
    assert (claude.kind, claude.enabled, claude.models) == ("anthropic", False, ())
    assert (odd.kind, odd.models) == ("openai-compatible", ())
    assert settings.problems == ("providers.odd.models takes a list of names; none is used",)


def test_only_a_provider_that_can_embed_is_taken_for_embeddings(path: Path) -> None:
    settings = written(path, PROVIDERS)

    with pytest.raises(ValidationFailed, match=r"claude \(anthropic\) offers no embeddings"):
        settings.set("memory.embeddingProviderId", "claude")
    with pytest.raises(ValidationFailed, match="no provider named nobody") as caught:
        settings.set("memory.embeddingProviderId", "nobody")
    assert caught.value.hint == "one of local, none, lab, claude, odd"
    for name in ("lab", "none", "local"):
        assert settings.set("memory.embeddingProviderId", name) == name


EDITOR = """
import sys
from pathlib import Path
from engine.config import Settings
settings = Settings.load(Path(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
for number in range(200, 230):
    settings.set(sys.argv[2], str(number))
"""


def test_processes_that_set_different_keys_at_once_lose_none(path: Path) -> None:
    keys = ["memory.maxInjectTokens", "memory.quota.user", "memory.consolidationThreshold"]
    command = [sys.executable, "-c", EDITOR, str(path)]
    editors = [
        subprocess.Popen([*command, key], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE)
        for key in keys
    ]
    for editor in editors:
        assert editor.stdout is not None
        editor.stdout.readline()
    for editor in editors:
        assert editor.stdin is not None
        editor.stdin.write("\n")
        editor.stdin.flush()
    for editor in editors:
        editor.communicate()

    assert [editor.returncode for editor in editors] == [0, 0, 0]
    settings = Settings.load(path)
    assert [settings.get(key) for key in keys] == [229, 229, 229]
    assert sorted(each.name for each in path.parent.iterdir()) == ["config.toml", "run"]


def test_a_read_only_home_says_so() -> None:
    base = Path(tempfile.mkdtemp())
    try:
        base.chmod(0o755)
        settings = written(base / "config.toml", "[memory]\nenabled = true\n")
        base.chmod(0o555)
        with without_root_rights(), pytest.raises(StoreReadOnly):
            settings.set("memory.enabled", "off")
        assert Settings.load(base / "config.toml").memory.enabled is True
    finally:
        shutil.rmtree(base)


def test_a_file_of_someone_else_is_no_reason_to_use_the_defaults() -> None:
    base = Path(tempfile.mkdtemp())
    try:
        base.chmod(0o755)
        path = base / "config.toml"
        written(path, "memory.enabled = false\n")
        path.chmod(0o000)
        with without_root_rights(), pytest.raises(ConfigBroken, match="cannot be read"):
            Settings.load(path)
    finally:
        shutil.rmtree(base)


NAMES = st.sampled_from(["memory", "ui", "quota", "enabled", "maxInjectTokens", "theme", "later", "a b", "ключ"])
SCALARS = (
    st.booleans() | st.integers(-5, 5) | st.text("ab\"'\\\n#=[]", max_size=6) | st.lists(st.integers(0, 3), max_size=3)
)
TREES = st.recursive(SCALARS, lambda inner: st.dictionaries(NAMES, inner, max_size=4), max_leaves=12)


@given(tree=st.dictionaries(NAMES, TREES, max_size=5), tokens=st.integers(200, 32_000), inline=st.booleans())
def test_setting_one_key_changes_nothing_else_in_any_file(tree: dict[str, object], tokens: int, inline: bool) -> None:
    import tomlkit

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        source = {"memory": tomlkit.inline_table()} | tree if inline else tree
        path.write_text(tomlkit.dumps(source), encoding="utf-8")
        before = tomllib.loads(path.read_text("utf-8"))

        try:
            Settings.load(path).set("memory.maxInjectTokens", str(tokens))
        except (ValidationFailed, ConfigBroken):
            assert tomllib.loads(path.read_text("utf-8")) == before
            return

        after = tomllib.loads(path.read_text("utf-8"))
        assert after["memory"].pop("maxInjectTokens") == tokens
        memory = before.setdefault("memory", {})
        memory.pop("maxInjectTokens", None)
        assert after == before
