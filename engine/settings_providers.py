"""What ``[providers.NAME]`` of the settings file means: kinds, addresses, patience; holds no key and asks nobody."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit


class ProviderKind(StrEnum):
    """Which protocol a provider speaks."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_COMPATIBLE = "openai-compatible"
    DEEPSEEK = "deepseek"
    OLLAMA = "ollama"
    CLAUDE_CLI = "claude-cli"
    CODEX_CLI = "codex-cli"


CLI_KINDS: Final = (ProviderKind.CLAUDE_CLI, ProviderKind.CODEX_CLI)
KEYED_KINDS: Final = (ProviderKind.ANTHROPIC, ProviderKind.OPENAI, ProviderKind.DEEPSEEK)
"""The kinds that never answer without a key; the others may."""
DEFAULT_URLS: Final[Mapping[str, str]] = {
    ProviderKind.ANTHROPIC: "https://api.anthropic.com",
    ProviderKind.OPENAI: "https://api.openai.com/v1",
    ProviderKind.DEEPSEEK: "https://api.deepseek.com/v1",
    ProviderKind.OLLAMA: "http://127.0.0.1:11434/v1",
}
WINDOW: Final = 16_000  # what models of unknown size are trusted with
# Ollama cuts what is longer than its default without a word; the agent programs choose large models.
WINDOWS: Final[Mapping[str, int]] = {
    ProviderKind.OLLAMA: 4_000,
    ProviderKind.CLAUDE_CLI: 100_000,
    ProviderKind.CODEX_CLI: 100_000,
    ProviderKind.ANTHROPIC: 100_000,
}
WINDOW_MIN: Final = 3_000  # the questions alone take more than a third of it
WINDOW_MAX: Final = 10_000_000
LOCAL_FIRST_BYTE_S: Final = 600.0
WHOLE_MAX_S: Final = 1_800.0
"""What a call may take at most, in seconds: background work relies on it."""
_LOCAL: Final = re.compile(r"https?://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?=[:/]|$)", re.I)
ANTHROPIC_VERSION: Final = "2023-06-01"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Patience in seconds: to connect, until the first byte, between two bytes, and for one whole answer."""

    connect: float = 10.0
    first_byte: float = 120.0
    idle: float = 60.0
    whole: float = WHOLE_MAX_S


@dataclass(frozen=True, slots=True)
class Provider:
    """An endpoint of ``[providers.NAME]``; ``api_key_env`` may be a key pasted by mistake, so it is never shown.

    ``base_url`` may hold a login for the same reason: ``address`` is what of it is shown.
    ``window`` is how many tokens its models take in, question and answer together.
    """

    name: str
    kind: str
    base_url: str = field(repr=False)
    api_key_env: str = field(repr=False)
    models: tuple[str, ...]
    enabled: bool
    version: str = ANTHROPIC_VERSION
    timeouts: Timeouts = Timeouts()
    window: int = WINDOW

    @property
    def address(self) -> str:
        """The base URL as it may be shown: without login, query and fragment, empty where that cannot be told."""
        return _shown(self.base_url)


def is_on_this_machine(url: str) -> bool:
    """Whether an address is this machine's own: no proxy knows the way there, and its models take their time."""
    return _LOCAL.match(url) is not None


def read_providers(table: object, problems: list[str]) -> Iterator[Provider]:
    """The providers of the file in its order; what cannot be used is said in ``problems`` and left at its default."""
    for name, each in table.items() if isinstance(table, dict) else ():
        if isinstance(each, dict):
            yield _provider(str(name), each, problems)
        else:
            problems.append(f"providers.{name} is a value, not a table; it is not used")


def _provider(name: str, each: Mapping[str, object], problems: list[str]) -> Provider:
    kind = str(each.get("kind", ProviderKind.OPENAI_COMPATIBLE))
    if kind not in list(ProviderKind):
        problems.append(f"providers.{name}.kind is none of {', '.join(ProviderKind)}; it cannot be asked")
    base_url = str(each.get("base_url", "")) or DEFAULT_URLS.get(kind, "")
    if _shown(base_url) != base_url:
        problems.append(f"providers.{name}.base_url holds more than an address, such as a login; it is not asked")
    return Provider(
        name=name,
        kind=kind,
        base_url=base_url,
        api_key_env=str(each.get("api_key_env", "")),
        models=_models(name, each.get("models", []), problems),
        enabled=each.get("enabled", True) is not False,
        version=str(each.get("version", ANTHROPIC_VERSION)),
        timeouts=_timeouts(name, each.get("timeouts", {}), base_url, problems),
        window=_window(name, each.get("window"), WINDOWS.get(kind, WINDOW), problems),
    )


def _models(name: str, models: object, problems: list[str]) -> tuple[str, ...]:
    if isinstance(models, list) and all(isinstance(model, str) for model in models):
        return tuple(models)
    problems.append(f"providers.{name}.models takes a list of names; none is used")
    return ()


def _window(name: str, window: object, usual: int, problems: list[str]) -> int:
    if window is None:
        return usual
    if isinstance(window, int) and not isinstance(window, bool) and WINDOW_MIN <= window <= WINDOW_MAX:
        return window
    problems.append(
        f"providers.{name}.window takes a number of tokens from {WINDOW_MIN} to {WINDOW_MAX}; {usual} is used"
    )
    return usual


def _timeouts(name: str, given: object, base_url: str, problems: list[str]) -> Timeouts:
    # A model on this machine computes its whole answer before its first byte, at a few words a second.
    usual = Timeouts(first_byte=LOCAL_FIRST_BYTE_S) if is_on_this_machine(base_url) else Timeouts()
    known = [each.name for each in fields(Timeouts)]
    if not isinstance(given, dict):
        problems.append(f"providers.{name}.timeouts takes a table of {', '.join(known)}; the defaults are used")
        return usual
    usable = {key: float(value) for key, value in given.items() if key in known and _is_patience(value)}
    for key in given.keys() - usable.keys():
        problems.append(f"providers.{name}.timeouts.{key} is no number of seconds above 0 of one of {', '.join(known)}")
    for key in [key for key, value in usable.items() if value > WHOLE_MAX_S]:
        problems.append(f"providers.{name}.timeouts.{key} is above {WHOLE_MAX_S:g} seconds; {WHOLE_MAX_S:g} is used")
        usable[key] = WHOLE_MAX_S
    return replace(usual, **usable)


def _shown(url: str) -> str:
    if not set(url) & set("@?#"):
        return url
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if not host or parts.scheme not in ("http", "https"):  # what stands there may be anything
        return ""
    if parts.username is None and not parts.query and not parts.fragment:
        return url
    named = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    return f"{parts.scheme}://{named}" + ("" if "@" in parts.path else parts.path)


def _is_patience(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
