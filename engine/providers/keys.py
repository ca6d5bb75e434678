"""Where a provider's key comes from and goes to: a variable, the system's keyring, or a file only its owner reads.

Never puts a key into a message, a repr or a log; nothing here is stored in the database or the settings file.
"""

import logging
import os
import re
import stat
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.errors import SparkError, ValidationFailed
from engine.providers.addresses import checked_key
from engine.storage import files

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE: Final = "spark-tui"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""A provider's name: it is a table of the settings file and the name of a file."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EVIDENTLY_A_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]{0,24}(?:_[A-Z0-9]{1,24}){0,6}")
_log = logging.getLogger(__name__)


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
    folder of the home, None where no file may be read.
    """

    def __init__(
        self, provider: str, key_env: str = "", home: Path | None = None, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.provider: Final = provider
        self._key_env = key_env
        self._home = home
        self._environ = environ

    def __repr__(self) -> str:
        return f"KeySource({self.provider!r})"

    def read(self) -> str | None:
        """The key, or None where there is none. Raises ``KeyProblem``."""
        return self.found()[1]

    def found(self) -> tuple[KeyPlace, str | None]:
        """The place and the key. Raises ``KeyProblem``."""
        if self._key_env:
            return KeyPlace.ENVIRONMENT, self._of_environment()
        if self._home is None or not NAME.fullmatch(self.provider):
            return KeyPlace.NOWHERE, None
        for place, key in ((KeyPlace.KEYRING, _of_keyring(self.provider)), (KeyPlace.FILE, self._of_file(self._home))):
            if key is not None:
                return place, self._checked(key, str(place))
        return KeyPlace.NOWHERE, None

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

    def _of_file(self, home: Path) -> str | None:
        path = key_file(home, self.provider)
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


def store_key(provider: str, key: str, home: Path) -> KeyPlace:
    """Keep a key in the keyring, else in a file of mode 0600; answers where.

    Raises ``ValidationFailed`` for a key no header can carry, ``IoFailed`` or ``StoreReadOnly``.
    """
    checked = checked_key(key)
    if _into_keyring(provider, checked):
        files.remove(key_file(home, provider))
        return KeyPlace.KEYRING
    path = key_file(home, provider)
    files.remove(path)  # a file that others could read would hand its mode on to the new one
    files.write_through(path, f"{checked}\n".encode())
    return KeyPlace.FILE


def forget_key(provider: str, home: Path) -> None:
    """Take the key of a provider out of keyring and file; nothing happens where there is none."""
    if not NAME.fullmatch(provider):
        return
    files.remove(key_file(home, provider))
    backend = _backend()
    if backend is not None and _of_keyring(provider) is not None:
        try:
            backend.delete_password(SERVICE, provider)
        except Exception as error:  # a backend raises what its system raises
            _log.warning("keyring: the key of %s stays there (%s)", provider, type(error).__name__)


def _backend() -> "KeyringBackend | None":
    """The keyring of this machine; None without the package, and where no backend works, as over SSH."""
    try:
        import keyring
        from keyring.backends import fail
    except ImportError:
        return None
    try:
        backend = keyring.get_keyring()
    except Exception as error:  # a configured backend that cannot be loaded
        _log.info("no keyring (%s)", type(error).__name__)
        return None
    return None if isinstance(backend, fail.Keyring) else backend


def _of_keyring(provider: str) -> str | None:
    backend = _backend()
    try:
        return backend.get_password(SERVICE, provider) if backend else None
    except Exception as error:  # locked, no D-Bus, no answer: as if there were none
        _log.info("keyring not read (%s)", type(error).__name__)
        return None


def _into_keyring(provider: str, key: str) -> bool:
    backend = _backend()
    if backend is None:
        return False
    try:
        backend.set_password(SERVICE, provider, key)
        return backend.get_password(SERVICE, provider) == key  # some backends accept and keep nothing
    except Exception as error:
        _log.info("keyring not written (%s)", type(error).__name__)
        return False
