"""Asks one address over HTTP on an event loop: pool, patience, redirects, retries; knows no protocol above HTTP.

Never tells a key, what was sent or what was answered; a cancelled call leaves no connection behind.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from engine.errors import ModelFailed
from engine.providers.addresses import (
    REDIRECTS_MAX,
    RETRY_PAUSE_MAX_S,
    RETRY_PAUSE_S,
    CallFailed,
    redirected,
    wait_asked,
)
from engine.providers.faults import TABLE, ModelFault, classify, error_body, failed, transport_fault
from engine.providers.reading import NotJson, parsed
from engine.settings_providers import Timeouts, is_on_this_machine

if TYPE_CHECKING:
    import ssl

    import httpx

ANSWER_MAX: Final = 16_000_000
_ERROR_MAX: Final = 64_000
_HURRY_S: Final = 0.5
# As they are: a stream that a proxy packs arrives in lumps, and an answer is short.
_PLAIN: Final = {"content-type": "application/json", "accept-encoding": "identity"}


class Refused(Exception):
    """An answer with an error status: the ``failure`` to raise, and what the server said, which nobody may repeat."""

    def __init__(self, failure: ModelFailed, status: int, told: str) -> None:
        super().__init__(f"HTTP {status}")
        self.failure = failure
        self.status = status
        self.told = told


@dataclass(slots=True, eq=False)
class _Lease:
    client: "httpx.AsyncClient"
    loop: asyncio.AbstractEventLoop
    users: int = 0
    closing: bool = False


class Endpoint:
    """One address that takes JSON by POST.

    ``retries`` False asks once and no more; ``pause`` waits between two tries, in seconds.
    """

    def __init__(
        self,
        url: str,
        timeouts: Timeouts,
        *,
        retries: bool = True,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.url: Final = url
        self.host: Final = urlsplit(url).netloc
        self._timeouts = timeouts
        self._retries = retries
        self._pause = pause
        self._lease: _Lease | None = None

    def deadline(self) -> float:
        """When a call that begins now has to have its whole answer, in seconds of ``time.monotonic``."""
        return time.monotonic() + self._timeouts.whole

    async def post(self, payload: object, headers: Mapping[str, str], until: float | None = None) -> "Answer":
        """An answer whose status is good, which the caller closes. Raises ``Refused`` or ``ModelFailed``.

        ``until`` is when the answer has to be there, whatever is tried; by ``deadline`` where none is given.

        A connection that ends before a byte was a stale one of the pool: asked again at once, on a new one. What may
        pass (429, 5xx) is asked again after the wait the server names, when that is 5 s or less.
        """
        content = json.dumps(payload, ensure_ascii=True).encode("ascii")
        stale = passing = self._retries
        anew = False
        until = self.deadline() if until is None else until
        while True:
            answer = await self._sent(content, headers, until, anew, forgive=stale)
            if answer is None:
                stale, anew = False, True
                continue
            if answer.response.is_success:
                return answer
            refused = await _refused(answer)
            wait = refused.failure.details.get("retry_after", RETRY_PAUSE_S)
            in_time = time.monotonic() + wait < until
            if not (
                passing and in_time and wait <= RETRY_PAUSE_MAX_S and TABLE[refused.failure.details["fault"]].retryable
            ):
                raise refused
            passing = False
            await self._pause(wait)

    async def close(self) -> None:
        """Close the connections as soon as no answer is being read; the next call opens new ones."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.closing = True
            await _released(lease, 0)

    async def _sent(
        self, content: bytes, headers: Mapping[str, str], until: float, anew: bool, *, forgive: bool
    ) -> "Answer | None":
        """The answer, or None when the connection ended before a byte and that is to be forgiven."""
        import httpx

        lease = self._borrowed(anew)
        try:
            return await self._asked(lease, content, headers, until)
        except BaseException as error:
            await _released(lease)
            if forgive and isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError):
                return None
            failure = self._failure(error)
        raise failure

    def _failure(self, error: BaseException) -> BaseException:
        import httpx

        match error:
            case CallFailed():
                return ModelFailed(str(error), TABLE[ModelFault.BAD_URL].hint, fault=ModelFault.BAD_URL,
                                   status=error.status)  # fmt: skip
            case httpx.HTTPError() | httpx.StreamError() | TimeoutError() | OSError():
                return failed(transport_fault(error), self.host)
            case httpx.InvalidURL() | ValueError():
                return failed(ModelFault.BAD_URL, self.host)
            case _:
                return error

    async def _asked(self, lease: _Lease, content: bytes, headers: Mapping[str, str], until: float) -> "Answer":
        import httpx

        patience = self._timeouts
        longest = max(patience.first_byte, patience.idle)
        timeout = httpx.Timeout(patience.idle, connect=patience.connect, read=longest, pool=patience.connect)
        url, started = self.url, time.monotonic()
        for _ in range(REDIRECTS_MAX + 1):
            request = lease.client.build_request(
                "POST", url, content=content, headers={**headers, **_PLAIN}, timeout=timeout
            )
            async with asyncio.timeout(min(patience.connect + patience.first_byte, until - time.monotonic())):
                response = await lease.client.send(request, stream=True)
            if not response.has_redirect_location:
                return Answer(response, lease, self.host, patience, started, until)
            await response.aclose()
            url = redirected(url, response.status_code, response.headers["location"])
        raise CallFailed(f"{self.host} redirects in a circle")

    def _borrowed(self, anew: bool) -> _Lease:
        """A client for one answer; ``anew`` one that shares no connection with others and is closed after it."""
        import httpx

        loop = asyncio.get_running_loop()
        lease = self._lease
        if anew or lease is None or lease.loop is not loop:
            lease = _Lease(
                httpx.AsyncClient(follow_redirects=False, verify=_trust(), trust_env=not is_on_this_machine(self.url)),
                loop,
                closing=anew,
            )
            self._lease = self._lease if anew else lease
        lease.users += 1
        return lease


class Answer:
    """A response that is being read; every wait in it has an end."""

    def __init__(
        self, response: "httpx.Response", lease: _Lease, host: str, timeouts: Timeouts, started: float, until: float
    ) -> None:
        self.response: Final = response
        self.host: Final = host
        self._lease = lease
        self._idle = timeouts.idle
        self._first = started + timeouts.connect + timeouts.first_byte
        self._deadline = until

    @property
    def is_json(self) -> bool:
        """Whether the server says that this is one JSON value, whatever was asked for."""
        return "json" in self.response.headers.get("content-type", "").partition(";")[0].casefold()

    def hurry(self) -> None:
        """Wait for what is left half a second at most: the answer itself is there."""
        self._deadline = min(self._deadline, time.monotonic() + _HURRY_S)

    async def chunks(self, longest: int = ANSWER_MAX) -> AsyncGenerator[bytes, None]:
        """Bytes as they arrive. Raises ``ModelFailed`` for a wait too long, a cut, or more than ``longest`` bytes."""
        import httpx

        until, size = self._first, 0
        async with aclosing(self.response.aiter_bytes()) as source:  # type: ignore[type-var]
            while True:
                try:
                    async with asyncio.timeout(min(until, self._deadline) - time.monotonic()):
                        chunk = await anext(source)
                except StopAsyncIteration:
                    return
                except (httpx.HTTPError, httpx.StreamError, OSError) as error:
                    fault = transport_fault(error)
                    break
                size += len(chunk)
                if size > longest:
                    fault = ModelFault.BAD_ANSWER
                    break
                until = time.monotonic() + self._idle
                yield chunk
        raise failed(fault, self.host)

    async def json(self) -> object:
        """The whole answer. Raises ``ModelFailed``."""
        body = bytearray()
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                body += chunk
        try:
            return parsed(bytes(body))
        except NotJson:
            raise failed(ModelFault.BAD_ANSWER, self.host) from None

    async def close(self) -> None:
        """Give the connection back, or end it when the answer was not read to its end."""
        import httpx

        try:
            with suppress(httpx.HTTPError, OSError):
                await self.response.aclose()
        finally:
            await _released(self._lease)


@cache
def _trust() -> "ssl.SSLContext":
    """Whom to trust, read once: it takes longer than a call to a local server."""
    import httpx

    return httpx.create_ssl_context()


async def _refused(answer: Answer) -> Refused:
    """What an error answer comes to; a body that breaks off tells as much as arrived of it."""
    body = bytearray()
    status, waits = answer.response.status_code, wait_asked(answer.response.headers)
    try:
        with suppress(ModelFailed):
            async with aclosing(answer.chunks(_ERROR_MAX)) as chunks:
                async for chunk in chunks:
                    body += chunk
    finally:
        await answer.close()
    told = body.decode("utf-8", "replace")
    return Refused(failed(classify(status, error_body(told)), answer.host, status, wait_s=waits), status, told)


async def _released(lease: _Lease, users: int = 1) -> None:
    lease.users -= users
    if lease.closing and lease.users == 0:
        await lease.client.aclose()
