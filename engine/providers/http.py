"""One HTTP call to a model's endpoint: where a key may go, how long to wait, what to say when it fails.

Keeps keys and texts out of every message: errors name the host and the status, never what was sent or answered.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from engine.errors import ValidationFailed

if TYPE_CHECKING:
    import httpx

_REDIRECTS_MAX: Final = 3
_RETRY_PAUSE_S: Final = 0.5
_RETRY_PAUSE_MAX_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}


class CallFailed(Exception):
    """A call that brought no usable answer; ``str()`` is a sentence without key, text or path.

    ``status`` is the HTTP status when one arrived; ``passing`` says that the same call may work a moment later.
    """

    def __init__(
        self, reason: str, *, status: int | None = None, passing: bool = False, wait_s: float | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.passing = passing
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Limits:
    """Patience in seconds (``idle``: between two bytes, ``whole``: for the call) and the longest answer in bytes."""

    connect: float = 10.0
    idle: float = 60.0
    whole: float = 120.0
    answer: int = 64_000_000


def checked_base_url(url: str) -> str:
    """The URL without a closing slash. Raises ``ValidationFailed`` unless it is http(s) to a host, without a login."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValidationFailed("the base URL must be http:// or https:// and a host", "for example https://host/v1")
    if parts.username is not None or parts.password is not None:
        raise ValidationFailed("the base URL holds a login", "give the key by api_key_env instead")
    if parts.query or parts.fragment:
        raise ValidationFailed("the base URL ends before '?' and '#'", "for example https://host/v1")
    return url.strip().rstrip("/")


def checked_key(key: str) -> str:
    """The key without surrounding blanks. Raises ``ValidationFailed`` when no header can carry it."""
    stripped = key.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ValidationFailed("the key is empty or holds a character that no key has", "copy it again")
    return stripped


@dataclass(slots=True)
class _Lease:
    client: "httpx.Client"
    users: int = 0
    closing: bool = False


class SharedClient:
    """One pool of connections for several threads, made at the first call; it follows no redirect by itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lease: _Lease | None = None

    @contextmanager
    def borrowed(self) -> Iterator["httpx.Client"]:
        """The client, kept open until the end of the block even when it is closed meanwhile."""
        with self._lock:
            lease = self._lease = self._lease or _made()
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


def _made() -> _Lease:
    import httpx

    return _Lease(httpx.Client(follow_redirects=False))


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
        pause(min(_RETRY_PAUSE_S if failure.wait_s is None else failure.wait_s, _RETRY_PAUSE_MAX_S))
    return _post(client, url, content, headers, limits)


def _post(client: "httpx.Client", url: str, content: bytes, headers: Mapping[str, str], limits: Limits) -> object:
    import httpx

    deadline = time.monotonic() + limits.whole
    timeout = httpx.Timeout(limits.idle, connect=limits.connect)
    sent = {**headers, "content-type": "application/json"}
    host = urlsplit(url).netloc
    try:
        for _ in range(_REDIRECTS_MAX + 1):
            with client.stream("POST", url, content=content, headers=sent, timeout=timeout) as response:
                if response.has_redirect_location:
                    url = _redirected(url, response)
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


def _redirected(url: str, response: "httpx.Response") -> str:
    """Where to ask again; only 307 and 308 ask for the same request (RFC 9110 §15.4)."""
    here, status = urlsplit(url), response.status_code
    there = urlsplit(str(response.url.join(response.headers["location"])))
    upgraded = (here.scheme, there.scheme) == ("http", "https")
    ports = [parts.port or _PORTS.get(parts.scheme) for parts in (here, there)]
    same_door = here.scheme == there.scheme and ports[0] == ports[1]
    if here.hostname != there.hostname or not (same_door or upgraded):
        raise CallFailed(f"HTTP {status} from {here.netloc}: its redirect leads to another host", status=status)
    if status not in (307, 308):
        raise CallFailed(f"HTTP {status} from {here.netloc}: the base URL has moved", status=status)
    return there.geturl()


def _checked_status(host: str, response: "httpx.Response") -> None:
    status = response.status_code
    if response.is_success:
        return
    passing = status == 429 or status >= 500
    raise CallFailed(f"HTTP {status} from {host}", status=status, passing=passing, wait_s=_wait(response))


def _wait(response: "httpx.Response") -> float | None:
    """Seconds the endpoint asks to wait; a date is not worth reading for one short retry."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


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
