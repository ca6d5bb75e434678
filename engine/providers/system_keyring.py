"""Asks the system's keyring, which may wait for a person to unlock it; never keeps the program waiting, or from ending."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")
SERVICE: Final = "spark-tui"
READ_PATIENCE_S: Final = 10.0
# Somebody has just typed a key, and may have to unlock the keyring for it.
WRITE_PATIENCE_S: Final = 60.0
_log = logging.getLogger(__name__)


class Silent(Exception):
    """The keyring did not answer in time."""


def aside(work: Callable[[], T]) -> "Future[T]":
    """Run something in a thread of its own that the end of the program does not wait for."""
    future: Future[T] = Future()
    threading.Thread(target=_settle, args=(future, work), name="keyring", daemon=True).start()
    return future


class _Readings:
    """Readings that have not come back: whoever asks meanwhile waits with them, so that a dialogue opens once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, tuple[Future[str | None], float]] = {}

    def value(self, provider: str, patience: float) -> str | None:
        with self._lock:
            self._under_way = {name: each for name, each in self._under_way.items() if not each[0].done()}
            if provider not in self._under_way:
                self._under_way[provider] = aside(lambda: _got(provider)), time.monotonic()
            reading = self._under_way[provider][0]
            # A keyring that has been silent for that long is not waited for again.
            until = min(since for _, since in self._under_way.values()) + patience
        return _waited(reading, until - time.monotonic())


_readings: Final = _Readings()


def stored(provider: str, patience: float = READ_PATIENCE_S) -> str | None:
    """What is kept for a provider; None where there is no keyring or it is locked. Raises ``Silent``."""
    return _readings.value(provider, patience)


def keep(provider: str, value: str, patience: float = WRITE_PATIENCE_S) -> bool:
    """Keep a value; False where there is no keyring that keeps it. Raises ``Silent``: it may be kept later."""
    return _waited(aside(lambda: _kept(provider, value)), patience)


def forget(provider: str, patience: float = READ_PATIENCE_S) -> None:
    """Take out what is kept for a provider; a keyring that does not let go of it is noted in the log."""
    try:
        _waited(aside(lambda: _forgotten(provider)), patience)
    except Silent:
        _log.warning("keyring: no answer; a key of %s may stay there", provider)


def _settle(future: "Future[T]", work: Callable[[], T]) -> None:
    future.set_running_or_notify_cancel()
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _waited(future: "Future[T]", seconds: float) -> T:
    try:
        return future.result(max(seconds, 0))
    except TimeoutError:
        raise Silent from None


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


def _got(provider: str) -> str | None:
    backend = _backend()
    try:
        return backend.get_password(SERVICE, provider) if backend else None
    except Exception as error:  # locked, no D-Bus, no answer: as if there were none
        _log.info("keyring not read (%s)", type(error).__name__)
        return None


def _kept(provider: str, value: str) -> bool:
    backend = _backend()
    if backend is None:
        return False
    try:
        backend.set_password(SERVICE, provider, value)
        return backend.get_password(SERVICE, provider) == value  # some backends accept and keep nothing
    except Exception as error:
        _log.info("keyring not written (%s)", type(error).__name__)
        return False


def _forgotten(provider: str) -> None:
    backend = _backend()
    if backend is None or _got(provider) is None:
        return
    try:
        backend.delete_password(SERVICE, provider)
    except Exception as error:  # a backend raises what its system raises
        _log.warning("keyring: the key of %s stays there (%s)", provider, type(error).__name__)
