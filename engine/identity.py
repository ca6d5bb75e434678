"""Where ids and randomness come from; handed in, so that a test can foresee every id."""

import secrets
from collections.abc import Callable


class Ids:
    """Makes the ids of entries, operations and groups from a source of random bytes."""

    def __init__(self, random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._random = random_bytes

    def make(self, prefix: str) -> str:
        """``prefix_`` and 8 lower-case hex digits; the caller retries on a collision."""
        return f"{prefix}_{self._random(4).hex()}"


def counting_ids(start: int = 1) -> Ids:
    """Ids that count up from ``start``: ``usr_00000001``, ``usr_00000002`` … for tests and snapshots."""
    state = iter(range(start, 2**32))
    return Ids(lambda size: next(state).to_bytes(size, "big"))
