"""What the model server remembers of the requests it got; waits for them on behalf of tests."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived: header names in lower case, the parsed body (empty when it is no JSON object)."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)
    prompt: str = field(default="", repr=False)

    @property
    def is_stream(self) -> bool:
        """Whether the answer was wanted as a stream."""
        return bool(self.body.get("stream"))


class Received:
    """Requests in the order of their arrival; safe for many threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[Request] = []

    def add(self, request: Request) -> int:
        """Keep one; its number, counted from 1."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
            return len(self._requests)

    def all(self) -> list[Request]:
        """Those so far."""
        with self._changed:
            return list(self._requests)

    def wait_for(self, count: int, seconds: float) -> list[Request]:
        """Those so far once there are that many. Raises ``TimeoutError``."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= count, seconds):
                raise TimeoutError(f"{len(self._requests)} of {count} requests came in {seconds:g} s")
            return list(self._requests)
