"""The settings of a home: the file's values over the table's defaults, changed one key at a time."""

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from engine.errors import ValidationFailed
from engine.settings_file import ConfigBroken as ConfigBroken
from engine.settings_file import leaves, read_tree, rewrite
from engine.settings_providers import Provider as Provider
from engine.settings_providers import read_providers
from engine.settings_table import BY_KEY, SCOPES, TABLE, Setting, Value
from engine.storage import files
from engine.storage.files import Signature

QUOTA: Final = "memory.quota"
EMBEDDING_PROVIDER: Final = "memory.embeddingProviderId"
EXTRACTION_PROVIDER: Final = "memory.extractionProviderId"
DEFAULT_PROVIDER: Final = "model.defaultProviderId"
DEFAULT_MODEL: Final = "model.defaultModel"
BUILT_IN_EMBEDDERS: Final = ("", "local", "none")
WITHOUT_EMBEDDINGS: Final = ("anthropic", "claude-cli", "codex-cli")
_OTHER_TABLES: Final = ("providers.", "routers.")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The settings of category ``memory`` as the engine uses them at one moment."""

    enabled: bool
    max_inject_tokens: int
    time_decay_lambda: float
    time_decay_floor: float
    embedding_provider: str
    embedding_model: str
    quotas: tuple[int, int, int]
    quota_policy: str
    extraction_provider: str
    extraction_model: str
    consolidation_enabled: bool
    consolidation_threshold: int
    consolidation_interval_days: float

    def quota_of(self, scope: str) -> int:
        """Most active entries of one layer of a scope."""
        return self.quotas[SCOPES.index(scope)]


class Settings:
    """Settings with their defaults.

    ``problems`` says which values of the file are out of range, so that their default is used; ``unknown`` lists keys
    of the file that mean nothing to this version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: tuple[str, ...] = ()
        self.unknown: tuple[str, ...] = ()
        self.generation = 0  # counts readings: whoever keeps what was made from settings knows when to make it anew
        self._signature: Signature | None = None
        self._values: dict[str, Value] = {}
        self._providers: tuple[Provider, ...] = ()

    @classmethod
    def load(cls, path: Path) -> "Settings":
        """Read the file; a missing one gives the defaults. Raises ``ConfigBroken``."""
        settings = cls(path)
        settings._read()
        return settings

    def reload_if_changed(self) -> bool:
        """Read the file again when it was changed; a broken one keeps the values last read. Answers if it was read."""
        if files.signature(self.path) == self._signature:
            return False
        try:
            self._read()
        except ConfigBroken as error:
            self._signature = files.signature(self.path)
            self.problems = (error.message,)
            _log.warning("settings not reloaded: %s", error.message)
        return True

    def get(self, key: str) -> Value:
        """The value in force, ``memory.quota`` as a JSON object. Raises ``ValidationFailed`` for an unknown key."""
        if key == QUOTA:
            return json.dumps({scope: self.get(f"{QUOTA}.{scope}") for scope in SCOPES})
        return self._values.get(key, setting(key).default)

    def is_set(self, key: str) -> bool:
        """Whether the file gives this key (for ``memory.quota``: one of its scopes) a value."""
        return key in self._values or (key == QUOTA and any(f"{QUOTA}.{scope}" in self._values for scope in SCOPES))

    def items(self) -> Iterator[tuple[Setting, Value]]:
        """Every setting a person may change, with the value in force."""
        return ((each, self.get(each.key)) for each in TABLE if not each.internal)

    def set(self, key: str, text: str) -> Value:
        """Write a value a person typed; ``memory.quota`` takes a JSON object.

        Raises ``ValidationFailed`` (an unknown or internal key, a value out of range, no such provider or embeddings),
        ``ConfigBroken``, ``StoreBusy``, ``StoreReadOnly`` or ``IoFailed``.
        """
        if key == QUOTA:
            wanted = _quota_object(text)
            self._write({f"{QUOTA}.{scope}": value for scope, value in wanted.items()})
            return text
        value = editable(key).parsed(text)
        if key == EMBEDDING_PROVIDER and value not in BUILT_IN_EMBEDDERS:
            self._check_embeds(str(value))
        if key in (EXTRACTION_PROVIDER, DEFAULT_PROVIDER) and value:
            self._named(str(value), key)
        self._write({key: value})
        return value

    def unset(self, key: str) -> Value:
        """Take a key out of the file; answers the default that is in force from then on."""
        keys = [f"{QUOTA}.{scope}" for scope in SCOPES] if key == QUOTA else [editable(key).key]
        self._write(dict.fromkeys(keys))
        return self.get(keys[0])

    @property
    def memory(self) -> MemorySettings:
        """The memory settings as they are now."""
        return MemorySettings(
            enabled=cast(bool, self.get("memory.enabled")),
            max_inject_tokens=cast(int, self.get("memory.maxInjectTokens")),
            time_decay_lambda=cast(float, self.get("memory.timeDecayLambda")),
            time_decay_floor=cast(float, self.get("memory.timeDecayFloor")),
            embedding_provider=str(self.get("memory.embeddingProviderId")),
            embedding_model=str(self.get("memory.embeddingModel")),
            quotas=tuple(cast(int, self.get(f"{QUOTA}.{scope}")) for scope in SCOPES),  # type: ignore[arg-type]
            quota_policy=str(self.get("memory.quotaPolicy")),
            extraction_provider=str(self.get("memory.extractionProviderId")),
            extraction_model=str(self.get("memory.extractionModel")),
            consolidation_enabled=cast(bool, self.get("memory.consolidationEnabled")),
            consolidation_threshold=cast(int, self.get("memory.consolidationThreshold")),
            consolidation_interval_days=cast(float, self.get("memory.consolidationIntervalDays")),
        )

    def providers(self) -> tuple[Provider, ...]:
        """The endpoints of the file, in its order."""
        return self._providers

    def change(self, changes: Mapping[str, object]) -> None:
        """Write several dotted keys at once (None takes a key or a whole table out), unchecked: for the registry."""
        self._write(changes)

    def _read(self) -> None:
        signature = files.signature(self.path)
        tree = read_tree(self.path)
        values: dict[str, Value] = {}
        problems: list[str] = []
        unknown: list[str] = []
        for key, value in leaves(tree):
            if key == QUOTA:
                problems.append(f"{QUOTA} takes a table of {', '.join(SCOPES)}; the defaults are used")
            elif key not in BY_KEY:
                unknown += [key] if not key.startswith(_OTHER_TABLES) else []
            elif not BY_KEY[key].internal:
                try:
                    values[key] = BY_KEY[key].checked(value)
                except ValidationFailed as error:
                    problems.append(f"{error.message}; {BY_KEY[key].default} is used")
        self._providers = tuple(read_providers(tree.get("providers"), problems))
        self._values, self.problems, self.unknown = values, tuple(problems), tuple(unknown)
        self._signature = signature
        self.generation += 1

    def _write(self, changes: Mapping[str, object]) -> None:
        rewrite(self.path, changes)
        self._read()

    def _check_embeds(self, name: str) -> None:
        provider = self._named(name, EMBEDDING_PROVIDER, "local", "none")
        if provider.kind in WITHOUT_EMBEDDINGS:
            raise ValidationFailed(
                f"provider {name} ({provider.kind}) offers no embeddings",
                "choose an OpenAI-compatible provider, local or none",
                key=EMBEDDING_PROVIDER,
            )

    def _named(self, name: str, key: str, *also: str) -> Provider:
        provider = next((each for each in self._providers if each.name == name), None)
        if provider is None:
            choices = ", ".join([*also, *(each.name for each in self._providers)])
            hint = f"one of {choices}" if choices else "spark-tui provider add"
            raise ValidationFailed(f"no provider named {name[:60]}", hint, key=key)
        return provider


def setting(key: str) -> Setting:
    """The setting of a key. Raises ``ValidationFailed`` with the nearest key there is."""
    if key in BY_KEY:
        return BY_KEY[key]
    import difflib

    near = difflib.get_close_matches(key, BY_KEY, 1)
    raise ValidationFailed(f"no setting {key[:60]}", f"did you mean {near[0]}?" if near else "see: settings list")


def editable(key: str) -> Setting:
    """The setting of a key a person may change. Raises ``ValidationFailed``."""
    found = setting(key)
    if found.internal:
        raise ValidationFailed(f"{key} is kept by the program and cannot be set")
    return found


def _quota_object(text: str) -> dict[str, Value]:
    try:
        wanted = json.loads(text)
    except ValueError:
        wanted = None
    if not isinstance(wanted, dict) or not wanted or not set(wanted) <= set(SCOPES):
        raise ValidationFailed(
            f'{QUOTA} takes an object like {{"user": 100, "project": 200, "agent": 50}}', allowed="1–100000 each"
        )
    return {scope: BY_KEY[f"{QUOTA}.{scope}"].checked(value) for scope, value in wanted.items()}
