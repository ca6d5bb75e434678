"""One connection as the model server uses it: bodies, streams, pauses, and every way to stop in the middle."""

import json
import socket
import struct
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler

Headers = Iterable[tuple[str, str]]
_STREAM = (("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("transfer-encoding", "chunked"))


class Gone(Exception):
    """The client has left, or the server is being stopped: there is nobody to answer."""


class Line:
    """The answering side of one request. Every method raises ``Gone`` when there is nobody to send to.

    ``pace`` is the seconds before each single byte; ``promise`` says keep-alive whatever comes after.
    """

    def __init__(self, handler: BaseHTTPRequestHandler, stopped: threading.Event) -> None:
        self._handler = handler
        self._stopped = stopped
        self.pace = 0.0
        self.promise = False

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request, names in lower case."""
        return {name.lower(): value for name, value in self._handler.headers.items()}

    def body(self, status: int, content: object, headers: Headers = (), *, until: int | None = None) -> None:
        """A whole answer; bytes and texts as they are, all else as JSON. ``until`` sends only so many bytes of it."""
        data, kind = _encoded(content)
        self._head(status, [("content-type", kind), ("content-length", str(len(data))), *headers])
        self._send(data if until is None else data[: min(until, len(data) - 1)])

    def begin(self) -> None:
        """The head of a stream."""
        self._head(200, _STREAM)

    def chunk(self, data: bytes) -> None:
        """A piece of a stream."""
        if data:
            self._send(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        """The proper end of a stream; the connection stays usable."""
        self._send(b"0\r\n\r\n")

    def wait(self, seconds: float) -> None:
        """Let time pass, not a moment longer than the server lives."""
        if seconds > 0 and self._stopped.wait(seconds):
            raise Gone

    def wait_until_gone(self) -> None:
        """Send nothing until the client gives up or the server is stopped."""
        self._handler.close_connection = True
        try:
            while self._handler.rfile.read(1):
                pass
        except OSError as error:
            raise Gone from error
        raise Gone

    def drop(self, *, reset: bool = False) -> None:
        """Close now, whatever was promised; ``reset`` lets the client's next read fail rather than end."""
        handler = self._handler
        handler.close_connection = True
        if reset:
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.rfile.close()
            handler.connection.close()

    def _head(self, status: int, headers: Headers) -> None:
        handler = self._handler
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        if self.promise:
            handler.send_header("connection", "keep-alive")
        try:
            handler.end_headers()
        except OSError as error:
            raise Gone from error

    def _send(self, data: bytes) -> None:
        pieces = [data] if not self.pace else [data[at : at + 1] for at in range(len(data))]
        for piece in pieces:
            self.wait(self.pace)
            try:
                self._handler.wfile.write(piece)
            except OSError as error:
                raise Gone from error


def _encoded(content: object) -> tuple[bytes, str]:
    if isinstance(content, bytes):
        return content, "application/octet-stream"
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8"
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass"), "application/json"
