"""Adds, removes and chooses the providers of config.toml; checks what it writes and never writes a key into it."""

from dataclasses import dataclass
from typing import Final

from engine.config import DEFAULT_MODEL, DEFAULT_PROVIDER, EMBEDDING_PROVIDER, EXTRACTION_PROVIDER, Settings
from engine.errors import AlreadyExists, NotFound, ValidationFailed
from engine.providers.addresses import checked_base_url, checked_key
from engine.providers.keys import NAME, KeyPlace, forget_key, is_variable, store_key
from engine.settings_providers import CLI_KINDS, DEFAULT_URLS, Provider, ProviderKind

RESERVED: Final = ("local", "none")
"""Words of ``memory.embeddingProviderId`` that are no providers."""
_POINTERS: Final = {
    EMBEDDING_PROVIDER: "memory.embeddingModel",
    EXTRACTION_PROVIDER: "memory.extractionModel",
    DEFAULT_PROVIDER: DEFAULT_MODEL,
}
_LINE_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class NewProvider:
    """What a person says of a provider to be added; ``key`` is kept apart from the settings and shown nowhere."""

    name: str
    kind: str
    base_url: str = ""
    api_key_env: str = ""
    models: tuple[str, ...] = ()
    key: str | None = None

    def __repr__(self) -> str:
        return f"NewProvider({self.name!r}, {self.kind!r})"


class Registry:
    """The providers of one home."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = settings.path.parent

    def all(self) -> tuple[Provider, ...]:
        """Every provider, in the order of the file."""
        return self._settings.providers()

    def get(self, name: str) -> Provider:
        """The provider of a name. Raises ``NotFound`` that lists those there are."""
        found = next((each for each in self.all() if each.name == name), None)
        if found is None:
            names = ", ".join(each.name for each in self.all())
            raise NotFound(f"no provider named {name[:60]}", f"one of {names}" if names else "spark-tui provider add")
        return found

    def default(self) -> tuple[str, str]:
        """Provider and model used where nothing else is chosen; empty where none is set."""
        return str(self._settings.get(DEFAULT_PROVIDER)), str(self._settings.get(DEFAULT_MODEL))

    def add(self, new: NewProvider) -> KeyPlace:
        """Write a provider, and its key where one was given; answers where the key is to be found.

        A key still stored under that name is forgotten. Raises ``ValidationFailed``, ``AlreadyExists``, ``KeyProblem``,
        ``ConfigBroken``, ``StoreBusy``, ``StoreReadOnly``, ``IoFailed``.
        """
        url = self._checked(new)
        place = KeyPlace.ENVIRONMENT if new.api_key_env else KeyPlace.NOWHERE
        if new.key is not None:  # first: a key without its provider harms nobody, a provider without its key fails
            place = store_key(new.name, new.key, self._home, url or DEFAULT_URLS[new.kind])
        else:
            forget_key(new.name, self._home)  # of a provider whose table was taken out by hand
        fields = {"kind": new.kind, "base_url": url, "api_key_env": new.api_key_env, "models": list(new.models)}
        self._settings.change({f"providers.{new.name}.{key}": value for key, value in fields.items() if value})
        return place

    def remove(self, name: str, *, force: bool = False) -> tuple[str, ...]:
        """Take a provider and its stored key away; answers the settings that named it and are now unset.

        Raises ``NotFound``, or ``ValidationFailed`` when settings name it and ``force`` is False: a background job
        that suddenly asks another model is worse than a question.
        """
        self.get(name)
        if not NAME.fullmatch(name):
            raise ValidationFailed(f"{name[:60]} was named by hand", "remove its table from config.toml by hand")
        used = tuple(key for key in _POINTERS if self._settings.get(key) == name)
        if used and not force:
            them = "it" if len(used) == 1 else "them"
            hint = f"set {them} to another one first, or use --force to unset {them}"
            raise ValidationFailed(f"provider {name} is used by {', '.join(used)}", hint, settings=list(used))
        models = [_POINTERS[key] for key in used if self._settings.is_set(_POINTERS[key])]
        self._settings.change(dict.fromkeys([*used, *models, f"providers.{name}"]))
        forget_key(name, self._home)
        return (*used, *models)

    def set_default(self, name: str, model: str = "") -> str:
        """Use a provider where nothing else is chosen, with ``model`` or its first; answers the model.

        Raises ``NotFound`` or ``ValidationFailed``.
        """
        provider = self.get(name)
        if not provider.enabled:
            raise ValidationFailed(f"provider {name} is disabled", "set enabled = true in its table of config.toml")
        chosen = _checked_line(model, "a model's name") or next(iter(provider.models), "")
        if not chosen and provider.kind not in CLI_KINDS:
            raise ValidationFailed(f"provider {name} names no model", "name one with --model")
        self._settings.change({DEFAULT_PROVIDER: name, DEFAULT_MODEL: chosen or None})
        return chosen

    def _checked(self, new: NewProvider) -> str:
        """The base URL to write, empty where the kind has one of its own."""
        if not NAME.fullmatch(new.name) or new.name in RESERVED:
            raise ValidationFailed(
                f"a provider's name is 1–40 small letters, digits, - and _, and neither {' nor '.join(RESERVED)}",
                "for example my-lab",
            )
        if any(each.name == new.name for each in self.all()):
            raise AlreadyExists(f"a provider named {new.name} exists", "remove it first, or choose another name")
        if new.kind not in list(ProviderKind):
            raise ValidationFailed(f"no kind {new.kind[:40]}", f"one of {', '.join(ProviderKind)}")
        for model in new.models:
            if not _checked_line(model, "a model's name"):
                raise ValidationFailed("a model's name is empty", "leave it out or name one")
        _check_key(new)
        return _checked_url(new)


def _check_key(new: NewProvider) -> None:
    if new.api_key_env and new.key is not None:
        raise ValidationFailed("a key comes from a variable or from standard input, not from both", "leave one out")
    if new.kind in CLI_KINDS and (new.api_key_env or new.key is not None):
        raise ValidationFailed(f"{new.kind} has a login of its own and takes no key", "leave the key out")
    if new.api_key_env and not is_variable(new.api_key_env):
        # It may be the key itself, pasted by mistake: never repeated.
        raise ValidationFailed(
            "what was given as api_key_env is not the name of an environment variable",
            "put the key into a variable such as MY_API_KEY and give that name, or hand it over by --key-stdin",
        )
    if new.key is not None:
        checked_key(new.key)


def _checked_url(new: NewProvider) -> str:
    if new.kind in CLI_KINDS:
        if new.base_url:
            raise ValidationFailed(f"{new.kind} is a program and has no base URL", "leave --base-url out")
        return ""
    if new.base_url:
        return checked_base_url(new.base_url)
    if new.kind not in DEFAULT_URLS:
        raise ValidationFailed(f"{new.kind} needs a base URL", "for example --base-url https://host/v1")
    return ""


def _checked_line(text: str, what: str) -> str:
    found = text.strip()
    if len(found) > _LINE_MAX or not all(each.isprintable() for each in found):
        raise ValidationFailed(f"{what} is one line of at most {_LINE_MAX} characters", "copy it again")
    return found
