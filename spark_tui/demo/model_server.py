"""A model server that answers by a script, for the demonstration and for tests; it knows no model and no engine.

By hand: ``python -m spark_tui.demo.model_server --script FILE.json`` prints the base URL and serves until interrupted.
"""

import socket
import sys
import threading
from collections.abc import Iterable
from http.server import ThreadingHTTPServer
from typing import Any, Final, Self

from spark_tui.demo.handler import Handler
from spark_tui.demo.received import Received, Request
from spark_tui.demo.script import Script
from spark_tui.demo.steps import EMPTY, Step, When

SAMPLING: Final = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")
_FOREVER_S: Final = 3_600.0


class ModelServer:
    """Speaks OpenAI's and Anthropic's chat protocols on one port of this machine; a context manager.

    ``steps`` are used up in their order, then the first of ``rules`` that fits the prompt, then ``default``.
    ``api_key`` is demanded when set, ``models`` are the only ones known when given, and the fields in ``refuses``
    (``SAMPLING`` for instance) are refused with 400 in every request.
    """

    def __init__(
        self,
        steps: Iterable[Step] = (),
        *,
        rules: Iterable[When] = (),
        default: Step = EMPTY,
        api_key: str | None = None,
        models: Iterable[str] = (),
        refuses: Iterable[str] = (),
        port: int = 0,
    ) -> None:
        self.script = Script(steps, rules, default)
        self.api_key = api_key
        self.models = tuple(models)
        self.refuses = tuple(refuses)
        self.received = Received()
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._abandoned = 0
        self._http = _Server(port, type("BoundHandler", (Handler,), {"model_server": self}), self.stopped)
        self._thread = threading.Thread(target=self._http.run, name="model-server", daemon=True)

    @property
    def root_url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def base_url(self) -> str:
        """The base URL a provider of either protocol is given; it ends in ``/v1``."""
        return f"{self.root_url}/v1"

    @property
    def requests(self) -> list[Request]:
        """Every request so far, refused ones too."""
        return self.received.all()

    @property
    def abandoned(self) -> int:
        """How many answers nobody waited for to their end."""
        with self._lock:
            return self._abandoned

    def wait_for(self, count: int, seconds: float = 10.0) -> list[Request]:
        """The requests once there are that many. Raises ``TimeoutError``."""
        return self.received.wait_for(count, seconds)

    def then(self, *steps: Step) -> None:
        """Add steps for the requests to come."""
        self.script.then(*steps)

    def when(self, contains: str | tuple[str, ...], answer: Step, times: int | None = None) -> None:
        """Add a rule: a prompt with these texts gets this step, at most so many times."""
        self.script.when(contains, answer, times)

    def gave_up(self) -> None:
        """Count a client that left before its answer was whole."""
        with self._lock:
            self._abandoned += not self.stopped.is_set()

    def start(self) -> None:
        """Begin to serve; the port is open since the server was made."""
        self._thread.start()

    def stop(self) -> None:
        """End at once: every connection is closed, every thread has ended when this returns; twice is once."""
        if self.stopped.is_set():
            return
        self.stopped.set()
        self._http.wake()
        self._thread.join()
        self._http.end_connections()
        self._http.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


class _Stopped(Exception):
    """Ends the loop that accepts connections."""


class _Server(ThreadingHTTPServer):
    """A thread for each connection, all known, so that they can be ended and waited for."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, handler: type[Handler], stopped: threading.Event) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self._stopped = stopped
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}

    def run(self) -> None:
        """Accept connections, asleep between them, until woken after the stop."""
        try:
            self.serve_forever(_FOREVER_S)
        except _Stopped:
            return

    def wake(self) -> None:
        """Make the sleeping loop look at whether it should stop."""
        with socket.create_connection(("127.0.0.1", self.server_port)):
            pass

    def service_actions(self) -> None:
        if self._stopped.is_set():
            raise _Stopped

    def verify_request(self, request: object, client_address: object) -> bool:
        return not self._stopped.is_set()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self._converse, args=(request, client_address), daemon=True)
        with self._lock:
            self._connections[request] = thread
        thread.start()

    def _converse(self, request: socket.socket, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is nothing to report; anything else is a fault of this server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end_connections(self) -> None:
        """Close every connection under its thread and wait for the threads."""
        with self._lock:
            running = dict(self._connections)
        for connection in running:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # it ended by itself meanwhile
                continue
        for thread in running.values():
            thread.join()


if __name__ == "__main__":
    from spark_tui.demo.command import main

    sys.exit(main())
