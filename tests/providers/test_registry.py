"""Providers of config.toml: added, removed, chosen; comments kept, nonsense refused, models chosen from them."""

from pathlib import Path

import pytest

from engine.config import Settings
from engine.errors import AlreadyExists, ModelUnavailable, NotFound, ValidationFailed
from engine.paths import Home
from engine.providers.chat_choice import NOTHING, chat_model, extraction_choice
from engine.providers.keys import KeyPlace, key_file
from engine.providers.registry import NewProvider, Registry
from engine.settings_providers import ANTHROPIC_VERSION, LOCAL_FIRST_BYTE_S, Timeouts

KEY = "sk-canary-0123456789abcdef"
# A model on this machine takes long until its first word.
LOCAL = Timeouts(first_byte=LOCAL_FIRST_BYTE_S)
FILE = """# mine
[memory]
maxInjectTokens = 900  # enough

# the lab
[providers.lab]
kind = "openai-compatible"  # its kind
base_url = "http://127.0.0.1:1/v1"
models = ["m1", "m2"]
# about the lab still

# the cloud
[providers.cloud]
kind = "anthropic"
version = "2030-01-01"
timeouts = {connect = 1, first_byte = 2.5, idle = 3}

# colours
[ui]
theme = "mono"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def settings_of(home: Home, text: str = FILE) -> Settings:
    home.config.write_text(text, "utf-8")
    return Settings.load(home.config)


def test_providers_are_read_with_their_defaults(home: Home) -> None:
    lab, cloud = settings_of(home).providers()

    assert (lab.models, lab.version, lab.timeouts, lab.enabled) == (("m1", "m2"), ANTHROPIC_VERSION, LOCAL, True)
    assert (cloud.base_url, cloud.version) == ("https://api.anthropic.com", "2030-01-01")
    assert cloud.timeouts == Timeouts(1.0, 2.5, 3.0)


@pytest.mark.parametrize(
    "timeouts", ["5", "[]", "{connect = -1}", "{idle = true}", "{first_byte = inf}", "{idle = 'x'}", "{patience = 3}"]
)
def test_timeouts_that_are_none_are_told_and_the_defaults_used(home: Home, timeouts: str) -> None:
    settings = settings_of(home, f"[providers.lab]\nkind = 'ollama'\ntimeouts = {timeouts}\n")

    assert settings.providers()[0].timeouts == LOCAL
    assert "providers.lab.timeouts" in settings.problems[0]


@pytest.mark.parametrize(
    ("base_url", "patience"),
    [
        ("http://localhost:8080/v1", LOCAL_FIRST_BYTE_S),
        ("http://[::1]:8080", LOCAL_FIRST_BYTE_S),
        ("http://localhost.example.com/v1", 120.0),
        ("https://api.example.com/127.0.0.1", 120.0),
    ],
)
def test_only_a_model_on_this_machine_is_waited_for_longer(home: Home, base_url: str, patience: float) -> None:
    settings = settings_of(home, f"[providers.lab]\nkind = 'openai-compatible'\nbase_url = '{base_url}'\n")
    assert settings.providers()[0].timeouts.first_byte == patience


@pytest.mark.parametrize(
    ("kind", "usual"),
    [("openai-compatible", 16_000), ("ollama", 4_000), ("anthropic", 100_000), ("claude-cli", 100_000)],
)
@pytest.mark.parametrize("line", ["", "window = 32000", "window = 2000", "window = 'x'", "window = true"])
def test_how_much_its_models_read_can_be_said(home: Home, kind: str, usual: int, line: str) -> None:
    settings = settings_of(home, f"[providers.lab]\nkind = '{kind}'\nbase_url = 'http://h/v1'\n{line}\n")
    (window,) = [each.window for each in settings.providers()]
    if line == "window = 32000":
        assert (window, settings.problems) == (32_000, ())
    else:
        assert window == usual
        assert [f"; {usual} is used" in each for each in settings.problems] == ([True] if line else [])


def test_no_patience_is_longer_than_background_work_can_wait(home: Home) -> None:
    given = "{connect = 1800, first_byte = 7200, idle = 1801, whole = 1e9}"
    settings = settings_of(home, f"[providers.lab]\nkind = 'ollama'\ntimeouts = {given}\n")
    assert settings.providers()[0].timeouts == Timeouts(1_800, 1_800, 1_800, 1_800)
    assert list(settings.problems) == [
        f"providers.lab.timeouts.{key} is above 1800 seconds; 1800 is used" for key in ("first_byte", "idle", "whole")
    ]


@pytest.mark.parametrize(
    ("base_url", "shown"),
    [
        ("https://bob:hunter2secret@h.example/v1", "https://h.example/v1"),
        ("https://hunter2secret@h.example:8443/v1", "https://h.example:8443/v1"),
        ("https://bob:hunter2/secret@h.example/v1", ""),
        ("https://bob:hunter2@secret@h.example/v1", "https://h.example/v1"),
        ("https://bob:hunter2secret@[::1]:80/v1", "https://[::1]:80/v1"),
        ("bob:hunter2secret@h.example/v1", ""),
        ("https:bob:hunter2secret@h.example/v1", ""),
        ("https://h.example/v1?key=hunter2secret", "https://h.example/v1"),
        ("https://h.example/v1#hunter2secret", "https://h.example/v1"),
        ("https://H.example/@cf/v1", "https://H.example/@cf/v1"),
    ],
)
def test_a_login_in_a_base_url_is_shown_nowhere(home: Home, base_url: str, shown: str) -> None:
    settings = settings_of(home, f"[providers.lab]\nkind = 'ollama'\nbase_url = '{base_url}'\nmodels = ['m']\n")
    (lab,) = settings.providers()
    assert (lab.base_url, lab.address) == (base_url, shown)
    assert "hunter2" not in f"{lab!r} {settings.problems}"
    assert any("providers.lab.base_url" in each for each in settings.problems) == (shown != base_url)
    if shown != base_url:
        with pytest.raises(ModelUnavailable) as refused:
            chat_model(settings, home, "lab")
        assert "hunter2" not in f"{refused.value!r} {refused.value.message} {refused.value.hint}"


def test_a_provider_is_added_at_the_end_and_everything_else_stays(home: Home) -> None:
    settings = settings_of(home)
    place = Registry(settings).add(NewProvider("new-one", "openai", api_key_env="OPENAI_API_KEY", models=("a", "模型")))
    added = Settings.load(home.config).providers()[-1]

    assert place is KeyPlace.ENVIRONMENT
    assert (added.name, added.kind, added.base_url) == ("new-one", "openai", "https://api.openai.com/v1")
    assert (added.api_key_env, added.models) == ("OPENAI_API_KEY", ("a", "模型"))
    assert home.config.read_text("utf-8").replace(FILE.partition("\n# colours")[0], "").count("lab") == 0
    for line in FILE.splitlines():
        assert line in home.config.read_text("utf-8").splitlines()


def test_providers_are_added_to_a_home_without_a_file(home: Home) -> None:
    registry = Registry(Settings.load(home.config))
    registry.add(NewProvider("one", "ollama"))
    registry.add(NewProvider("two", "claude-cli"))

    assert [(each.name, each.base_url) for each in Settings.load(home.config).providers()] == [
        ("one", "http://127.0.0.1:11434/v1"),
        ("two", ""),
    ]


@pytest.mark.parametrize(
    ("new", "tells"),
    [
        (NewProvider("Lab", "ollama"), "small letters"),
        (NewProvider("a.b", "ollama"), "small letters"),
        (NewProvider("../x", "ollama"), "small letters"),
        (NewProvider("x" * 41, "ollama"), "small letters"),
        (NewProvider("local", "ollama"), "small letters"),
        (NewProvider("none", "ollama"), "small letters"),
        (NewProvider("x", "gemini"), "no kind gemini"),
        (NewProvider("x", "openai-compatible"), "needs a base URL"),
        (NewProvider("x", "openai", "ftp://host"), "http:// or https://"),
        (NewProvider("x", "openai", f"https://user:{KEY}@host"), "holds a login"),
        (NewProvider("x", "openai", f"https://host/?key={KEY}"), "ends before"),
        (NewProvider("x", "openai", api_key_env=KEY), "not the name of an environment variable"),
        (NewProvider("x", "openai", api_key_env=KEY.replace("-", "_")), "not the name of an environment variable"),
        (NewProvider("x", "openai", key=f"{KEY} {KEY}"), "holds a character that no key has"),
        (NewProvider("x", "openai", api_key_env="A_KEY", key=KEY), "not from both"),
        (NewProvider("x", "claude-cli", key=KEY), "takes no key"),
        (NewProvider("x", "codex-cli", "http://host"), "no base URL"),
        (NewProvider("x", "ollama", models=("",)), "empty"),
        (NewProvider("x", "ollama", models=("a\nb",)), "one line"),
    ],
)
def test_what_cannot_be_a_provider_is_refused_and_nothing_is_written(home: Home, new: NewProvider, tells: str) -> None:
    settings = settings_of(home)
    with pytest.raises(ValidationFailed) as refused:
        Registry(settings).add(new)

    assert tells in refused.value.message
    assert KEY not in f"{refused.value.message} {refused.value.hint} {new!r}"
    assert home.config.read_text("utf-8") == FILE
    assert not (home.root / "keys").exists()


def test_a_name_is_given_once(home: Home) -> None:
    with pytest.raises(AlreadyExists):
        Registry(settings_of(home)).add(NewProvider("lab", "ollama"))


def test_a_removed_provider_takes_its_key_along_and_leaves_the_comments_of_others(home: Home) -> None:
    registry = Registry(settings_of(home))
    registry.remove("lab")
    assert home.config.read_text("utf-8") == FILE.replace(
        FILE[FILE.index("[providers.lab]") : FILE.index("# about")], ""
    )
    registry.add(NewProvider("keyed", "deepseek", key=KEY))
    assert KEY in key_file(home.root, "keyed").read_text("utf-8")
    registry.remove("keyed")
    registry.remove("cloud")
    left = home.config.read_text("utf-8")

    assert not key_file(home.root, "keyed").exists()
    assert "# colours\n[ui]\n" in left
    assert "providers" not in left
    assert Settings.load(home.config).providers() == ()
    with pytest.raises(NotFound):
        registry.remove("lab")


def test_a_key_left_behind_by_a_table_taken_out_by_hand_is_forgotten(home: Home) -> None:
    Registry(settings_of(home)).add(NewProvider("keyed", "openai", "https://old.example/v1", key=KEY))
    Registry(settings_of(home)).add(NewProvider("keyed", "openai", "https://old.example/v1"))
    assert not key_file(home.root, "keyed").exists()


def test_the_hint_counts_the_settings_that_name_a_provider(home: Home) -> None:
    settings = settings_of(home)
    registry = Registry(settings)
    registry.set_default("lab")
    with pytest.raises(ValidationFailed) as one:
        registry.remove("lab")
    settings.set("memory.extractionProviderId", "lab")
    with pytest.raises(ValidationFailed) as two:
        registry.remove("lab")
    assert one.value.hint == "set it to another one first, or use --force to unset it"
    assert two.value.hint == "set them to another one first, or use --force to unset them"


@pytest.mark.parametrize(
    "text",
    [
        "providers = {lab = {kind = 'ollama'}, other = {kind = 'ollama'}}\n[ui]\ntheme = 'mono'\n",
        "providers.lab.kind = 'ollama'\nproviders.other.kind = 'ollama'\n# end\n",
        "[providers]\nlab = {kind = 'ollama'}\n[providers.other]\nkind = 'ollama'",
        "[providers.lab]\nkind = 'ollama'\n[ui]\ntheme = 'mono'\n[providers.other]\nkind = 'ollama'\n",
        "[providers.other]\nkind = 'ollama'\n[providers.lab]\nkind = 'ollama'\n[providers.lab.timeouts]\nidle = 3\n",
        '[providers.lab]\nkind = "ollama"\nmodels = [\n  # inside\n  "[ui]",\n]\n[providers.other]\nkind = "ollama"\n',
    ],
)
def test_a_provider_written_in_any_form_of_toml_is_removed(home: Home, text: str) -> None:
    Registry(settings_of(home, text)).remove("lab")
    assert [each.name for each in Settings.load(home.config).providers()] == ["other"]


def test_a_provider_that_settings_name_is_removed_only_when_told_so(home: Home) -> None:
    settings = settings_of(home)
    registry = Registry(settings)
    settings.set("memory.extractionProviderId", "lab")
    settings.set("memory.extractionModel", "m2")
    registry.set_default("lab", "m1")
    with pytest.raises(ValidationFailed, match=r"used by memory\.extractionProviderId, model\.defaultProviderId"):
        registry.remove("lab")
    unset = registry.remove("lab", force=True)

    assert set(unset) == {
        "memory.extractionProviderId", "memory.extractionModel", "model.defaultProviderId", "model.defaultModel",
    }  # fmt: skip
    assert not any(Settings.load(home.config).is_set(key) for key in unset)


def test_the_default_is_a_provider_with_a_model(home: Home) -> None:
    settings = settings_of(home, FILE + "[providers.off]\nkind = 'ollama'\nenabled = false\n")
    registry = Registry(settings)
    assert registry.default() == ("", "")
    assert (registry.set_default("lab"), registry.default()) == ("m1", ("lab", "m1"))
    assert (registry.set_default("cloud", "c"), registry.default()) == ("c", ("cloud", "c"))
    for name, error in (("cloud", ValidationFailed), ("off", ValidationFailed), ("nobody", NotFound)):
        with pytest.raises(error):
            registry.set_default(name)
    registry.add(NewProvider("cli", "claude-cli"))
    assert (registry.set_default("cli"), registry.default()) == ("", ("cli", ""))


@pytest.mark.parametrize("key", ["memory.extractionProviderId", "model.defaultProviderId"])
def test_a_setting_names_only_a_provider_there_is(home: Home, key: str) -> None:
    settings = settings_of(home)
    with pytest.raises(ValidationFailed, match="no provider named nobody") as refused:
        settings.set(key, "nobody")
    assert refused.value.hint == "one of lab, cloud"
    assert settings.set(key, "lab") == "lab"
    assert settings.set(key, "") == ""


def test_extraction_asks_what_is_set_then_what_ran_then_the_default(home: Home) -> None:
    settings = settings_of(home)
    with pytest.raises(ModelUnavailable, match=NOTHING):
        extraction_choice(settings, None)
    with pytest.raises(ModelUnavailable, match=NOTHING):
        extraction_choice(settings, ("nobody-we-know", "x"))
    Registry(settings).set_default("cloud", "c")
    assert extraction_choice(settings, None) == ("cloud", "c")
    assert extraction_choice(settings, ("nobody-we-know", "x")) == ("cloud", "c")
    assert extraction_choice(settings, ("lab", "m2")) == ("lab", "m2")
    settings.set("memory.extractionModel", "small")
    assert extraction_choice(settings, ("lab", "m2")) == ("lab", "small")
    settings.set("memory.extractionProviderId", "cloud")
    assert extraction_choice(settings, ("lab", "m2")) == ("cloud", "small")


@pytest.mark.parametrize(
    ("text", "provider", "tells"),
    [
        (FILE, "nobody", "no provider named nobody"),
        (FILE, "cloud", "names no model"),
        ("[providers.x]\nkind = 'ollama'\nenabled = false\nmodels = ['m']", "x", "is disabled"),
        ("[providers.x]\nkind = 'gemini'\nmodels = ['m']", "x", "of kind gemini"),
        ("[providers.x]\nkind = 'openai'\nmodels = ['m']", "x", "has no key"),
        ("[providers.x]\nkind = 'ollama'\napi_key_env = 'GONE'\nmodels = ['m']", "x", "is not set"),
        (f"[providers.x]\nkind = 'ollama'\napi_key_env = '{KEY}'\nmodels = ['m']", "x", "api_key_env"),
        ("[providers.x]\nkind = 'openai-compatible'\nmodels = ['m']", "x", "base URL"),
        ("[providers.x]\nkind = 'claude-cli'", "x", "claude"),
    ],
)
def test_a_model_that_cannot_be_had_is_told_before_it_is_asked(
    home: Home, text: str, provider: str, tells: str
) -> None:
    with pytest.raises(ModelUnavailable) as refused:
        chat_model(settings_of(home, text), home, provider, environ={"PATH": ""})
    assert tells in refused.value.message
    assert refused.value.hint
    assert KEY not in f"{refused.value.message} {refused.value.hint}"


def test_models_are_made_with_the_first_name_and_the_stored_key(home: Home) -> None:
    settings = settings_of(home)
    Registry(settings).add(NewProvider("keyed", "anthropic", models=("m",), key=KEY))

    found = [chat_model(settings, home, name, model) for name, model in (("lab", ""), ("lab", "m2"), ("keyed", ""))]
    assert [(each.provider, each.model) for each in found] == [("lab", "m1"), ("lab", "m2"), ("keyed", "m")]
    assert KEY not in repr(found)
