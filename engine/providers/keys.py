"""Where a provider's key comes from and goes to: a variable, the system's keyring, or a file only its owner reads.

Never puts a key into a message, a repr or a log, and never hands a stored one out for another address than it was
stored for; nothing here is stored in the database or the settings file.
"""

import os
import re
import stat
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.errors import SparkError, ValidationFailed
from engine.providers import system_keyring
from engine.providers.addresses import checked_base_url, checked_key, origin
from engine.storage import files

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""A provider's name: it is a table of the settings file and the name of a file."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SILENT: Final = "the keyring did not answer"
_UNLOCK: Final = "unlock it and try again, or name a variable by api_key_env"
_EVIDENTLY_A_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]{0,24}(?:_[A-Z0-9]{1,24}){0,6}")


class KeyProblem(SparkError):
    """A key that is meant to be there cannot be used; the message names its place, never the key."""

    code = "KEY_UNUSABLE"


class KeyPlace(StrEnum):
    """Where a key was found."""

    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    FILE = "file"
    NOWHERE = "none"


def is_variable(name: str) -> bool:
    """Whether this is evidently the name of an environment variable and not a key pasted by mistake."""
    return _EVIDENTLY_A_VARIABLE.fullmatch(name) is not None


class KeySource:
    """Where to look for the key of one provider, at each use anew.

    ``key_env`` is ``api_key_env`` of its settings: when it names a variable nothing else is asked. ``home`` is the
    folder of the home, None where no file may be read. ``address`` is the base URL the key is for: a key stored for
    another one is a ``KeyProblem``. ``patience`` is how long the keyring is waited for, in seconds.
    """

    def __init__(
        self,
        provider: str,
        key_env: str = "",
        home: Path | None = None,
        environ: Mapping[str, str] = os.environ,
        *,
        address: str = "",
        patience: float = system_keyring.READ_PATIENCE_S,
    ) -> None:
        self.provider: Final = provider
        self._key_env = key_env
        self._home = home
        self._environ = environ
        self._origin = origin(address)
        self._patience = patience

    def __repr__(self) -> str:
        return f"KeySource({self.provider!r})"

    def read(self) -> str | None:
        """The key, or None where there is none. Raises ``KeyProblem``."""
        return self.found()[1]

    def found(self) -> tuple[KeyPlace, str | None]:
        """The place and the key. Raises ``KeyProblem``, whose ``details`` name the ``place``."""
        if self._key_env:
            return KeyPlace.ENVIRONMENT, self._of_environment()
        if self._home is None or not NAME.fullmatch(self.provider):
            return KeyPlace.NOWHERE, None
        problems: list[KeyProblem] = []
        for place, look in ((KeyPlace.KEYRING, self._of_keyring), (KeyPlace.FILE, self._of_file)):
            try:
                kept = look()
                if kept is not None:
                    return place, self._meant(kept, place)
            except KeyProblem as problem:  # the other place may hold the right one
                problem.details["place"] = place
                problems.append(problem)
        if problems:
            raise problems[0]
        return KeyPlace.NOWHERE, None

    def _of_keyring(self) -> str | None:
        try:
            return system_keyring.stored(self.provider, self._patience)
        except system_keyring.Silent:
            raise KeyProblem(_SILENT, _UNLOCK) from None

    def _meant(self, kept: str, place: KeyPlace) -> str:
        """The key in what was kept, when this is the address it was stored for."""
        bound, _, key = kept.strip().rpartition(" ")
        if key and (not bound or bound != self._origin):
            raise KeyProblem(
                f"the key of provider {self.provider} in {place} was stored for another address; store it again",
                f"spark-tui provider remove {self.provider}, then provider add {self.provider} … --key-stdin",
            )
        return self._checked(key, str(place))

    def _of_environment(self) -> str:
        # What stands there may be the key itself, pasted by mistake: it is never repeated.
        if not _VARIABLE.fullmatch(self._key_env):
            raise KeyProblem(
                f"api_key_env of provider {self.provider} is not the name of an environment variable",
                "put the key into a variable and give its name",
            )
        key = self._environ.get(self._key_env)
        if not key:
            shown = self._key_env if is_variable(self._key_env) else "a variable"
            raise KeyProblem(
                f"the environment variable that api_key_env of provider {self.provider} names is not set",
                f"export {shown}, where the program is started",
            )
        return self._checked(key, self._key_env if is_variable(self._key_env) else "the variable")

    def _of_file(self) -> str | None:
        assert self._home is not None
        path = key_file(self._home, self.provider)
        try:
            with open(path, "rb") as file:
                if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                    raise KeyProblem(f"{path} can be read by others", f"chmod 600 {path}; then change the key")
                return file.read(10_000).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyProblem(f"{path} cannot be read: {error.strerror}", "check who owns it") from None

    def _checked(self, key: str, where: str) -> str:
        try:
            return checked_key(key)
        except ValidationFailed as error:
            raise KeyProblem(error.message, f"look at the key of provider {self.provider} in {where}") from None


def key_file(home: Path, provider: str) -> Path:
    """The file that holds the key of a provider where there is no keyring."""
    return home / "keys" / provider


def store_key(
    provider: str, key: str, home: Path, address: str, *, patience: float = system_keyring.WRITE_PATIENCE_S
) -> KeyPlace:
    """Keep a key for a base URL in the keyring, else in a file of mode 0600; answers where.

    Raises ``ValidationFailed`` for a key no header can carry or a URL that is none, ``KeyProblem`` for a keyring that
    does not answer, ``IoFailed`` or ``StoreReadOnly``.
    """
    # A blank is in no key and in no address: one line holds both.
    kept = f"{origin(checked_base_url(address))} {checked_key(key)}"
    path = key_file(home, provider)
    try:
        in_keyring = system_keyring.keep(provider, kept, patience)
    except system_keyring.Silent:
        raise KeyProblem(_SILENT, _UNLOCK, place=KeyPlace.KEYRING) from None
    files.remove(path)  # a file that others could read would hand its mode on to a new one
    if in_keyring:
        return KeyPlace.KEYRING
    files.write_through(path, f"{kept}\n".encode())
    return KeyPlace.FILE


def forget_key(provider: str, home: Path) -> None:
    """Take the key of a provider out of keyring and file; nothing happens where there is none."""
    if NAME.fullmatch(provider):
        files.remove(key_file(home, provider))
        system_keyring.forget(provider)
