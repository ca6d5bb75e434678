"""Where a key may go: checks of base URLs, keys and redirects, shared by calls from threads and from the loop.

Never repeats a URL, a key or an answer in a message; hosts and statuses only.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin, urlsplit

from engine.errors import ValidationFailed

REDIRECTS_MAX: Final = 3
RETRY_PAUSE_S: Final = 0.5
RETRY_PAUSE_MAX_S: Final = 5.0
_SECONDS: Final = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,6})?")
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


def origin(url: str) -> str:
    """Scheme, host and port of a base URL, as keys are bound to them; empty for one that cannot be asked."""
    try:
        parts = urlsplit(checked_base_url(url))
    except ValidationFailed:
        return ""
    host = str(parts.hostname)
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{parts.port or _PORTS[parts.scheme]}"


def checked_key(key: str) -> str:
    """The key without surrounding blanks. Raises ``ValidationFailed`` when no header can carry it."""
    stripped = key.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ValidationFailed("the key is empty or holds a character that no key has", "copy it again")
    return stripped


def redirected(url: str, status: int, location: str) -> str:
    """Where to ask again; only 307 and 308 ask for the same request (RFC 9110 §15.4).

    Raises ``CallFailed`` when that is another host or a lesser scheme, ``ValueError`` when it is no URL.
    """
    here, there = urlsplit(url), urlsplit(urljoin(url, location))
    upgraded = (here.scheme, there.scheme) == ("http", "https")
    ports = [parts.port or _PORTS.get(parts.scheme) for parts in (here, there)]
    same_door = here.scheme == there.scheme and ports[0] == ports[1]
    if here.hostname != there.hostname or not (same_door or upgraded):
        raise CallFailed(f"HTTP {status} from {here.netloc}: its redirect leads to another host", status=status)
    if status not in (307, 308):
        raise CallFailed(f"HTTP {status} from {here.netloc}: the base URL has moved", status=status)
    return there.geturl()


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds an endpoint asks to wait; a date is not worth reading for one short retry."""
    text = headers.get("retry-after", "").strip()
    return float(text) if _SECONDS.fullmatch(text) else None
