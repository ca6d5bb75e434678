"""Keyrings of tests: one in memory, and the one of a machine that has none; never that of whoever runs the tests."""

import threading
from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as Fail


class Memory(KeyringBackend):
    """A keyring of a test's own, which may be locked or keep nothing."""

    priority = -1  # never chosen by itself

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False
        self.forgetful = False
        self.answers = threading.Event()
        """Cleared while a dialogue waits for somebody."""
        self.answers.set()
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        if not self.forgetful:
            self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.kept[service, username]

    def _check(self) -> None:
        self.asked += 1
        self.answers.wait()
        if self.locked:
            raise RuntimeError("locked: sk-canary-0123456789abcdef")


@pytest.fixture
def ring() -> Iterator[Memory]:
    """A working keyring for the length of a test."""
    found = Memory()
    keyring.set_keyring(found)
    yield found
    found.answers.set()
    keyring.set_keyring(Fail())


@pytest.fixture
def no_ring() -> Iterator[None]:
    """A machine whose keyring has no backend, as over SSH."""
    keyring.set_keyring(Fail())
    yield
    keyring.set_keyring(Fail())
