"""Fixtures that several tests of providers share."""

import pytest

from tests.providers.keyrings import no_ring, ring
from tests.providers.scripted import model_server

__all__ = ["model_server", "no_ring", "ring"]


@pytest.fixture(autouse=True)
def _no_keyring_of_ours(no_ring: None) -> None:
    """No test reads or writes the keyring of whoever runs it."""
