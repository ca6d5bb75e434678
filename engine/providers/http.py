"""One HTTP call from a worker thread to a model's endpoint: how long to wait, what to say when it fails.

Keeps keys and texts out of every message: errors name the host and the status, never what was sent or answered.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.providers.addresses import (
    REDIRECTS_MAX,
    RETRY_PAUSE_MAX_S,
    RETRY_PAUSE_S,
    CallFailed,
    redirected,
    wait_asked,
)
from engine.settings_providers import is_on_this_machine

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Limits:
    """Patience in seconds (``idle``: between two bytes, ``whole``: for the call) and the longest answer in bytes."""

    connect: float = 10.0
    idle: float = 60.0
    whole: float = 120.0
    answer: int = 64_000_000


@dataclass(slots=True)
class _Lease:
    client: "httpx.Client"
    users: int = 0
    closing: bool = False


class SharedClient:
    """One pool of connections to ``url``'s host for several threads, made at the first call; it follows no redirect."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._lease: _Lease | None = None

    @contextmanager
    def borrowed(self) -> Iterator["httpx.Client"]:
        """The client, kept open until the end of the block even when it is closed meanwhile."""
        with self._lock:
            lease = self._lease = self._lease or _made(self._url)
            lease.users += 1
        try:
            yield lease.client
        finally:
            with self._lock:
                lease.users -= 1
                last = lease.closing and lease.users == 0
            if last:
                lease.client.close()

    def close(self) -> None:
        """Close the connections as soon as nobody uses them; the next call opens new ones."""
        with self._lock:
            lease, self._lease = self._lease, None
            if lease is None:
                return
            lease.closing = True
            idle = lease.users == 0
        if idle:
            lease.client.close()


def _made(url: str) -> _Lease:
    import httpx

    return _Lease(httpx.Client(follow_redirects=False, trust_env=not is_on_this_machine(url)))


def post_json(
    client: "httpx.Client",
    url: str,
    payload: object,
    headers: Mapping[str, str],
    limits: Limits,
    *,
    pause: Callable[[float], None] = time.sleep,
) -> object:
    """The JSON answer to a JSON request; what may pass (no connection, 429, 5xx) is tried once more.

    Raises ``CallFailed``. A redirect is followed with the key only to the same host, never to a lesser scheme.
    """
    content = json.dumps(payload, ensure_ascii=True).encode("ascii")
    try:
        return _post(client, url, content, headers, limits)
    except CallFailed as failure:
        if not failure.passing:
            raise
        pause(min(RETRY_PAUSE_S if failure.wait_s is None else failure.wait_s, RETRY_PAUSE_MAX_S))
    return _post(client, url, content, headers, limits)


def _post(client: "httpx.Client", url: str, content: bytes, headers: Mapping[str, str], limits: Limits) -> object:
    import httpx

    deadline = time.monotonic() + limits.whole
    timeout = httpx.Timeout(limits.idle, connect=limits.connect)
    sent = {**headers, "content-type": "application/json"}
    host = urlsplit(url).netloc
    try:
        for _ in range(REDIRECTS_MAX + 1):
            with client.stream("POST", url, content=content, headers=sent, timeout=timeout) as response:
                if response.has_redirect_location:
                    url = redirected(url, response.status_code, response.headers["location"])
                    continue
                _checked_status(host, response)
                return _json(host, _read(host, response, limits, deadline))
    except httpx.TimeoutException as error:
        raise CallFailed(f"{host} did not answer in time ({type(error).__name__})", passing=True) from None
    except (httpx.TransportError, httpx.StreamError) as error:
        raise CallFailed(f"no connection to {host} ({type(error).__name__})", passing=True) from None
    except httpx.HTTPError as error:
        raise CallFailed(f"{host} did not answer in HTTP ({type(error).__name__})") from None
    except (httpx.InvalidURL, ValueError):
        raise CallFailed(f"{host} cannot be asked: its URL or redirect is not one") from None
    raise CallFailed(f"{host} redirects in a circle")


def _checked_status(host: str, response: "httpx.Response") -> None:
    status = response.status_code
    if response.is_success:
        return
    passing = status == 429 or status >= 500
    raise CallFailed(f"HTTP {status} from {host}", status=status, passing=passing, wait_s=wait_asked(response.headers))


def _read(host: str, response: "httpx.Response", limits: Limits, deadline: float) -> bytes:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > limits.answer:
            raise CallFailed(f"the answer of {host} is longer than {limits.answer} bytes")
        if time.monotonic() > deadline:
            raise CallFailed(f"{host} did not finish its answer in {limits.whole:g} s")
    return bytes(body)


def _json(host: str, body: bytes) -> object:
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        raise CallFailed(f"the answer of {host} is not JSON") from None
    return content
