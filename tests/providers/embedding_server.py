"""A real HTTP server that speaks OpenAI's ``/embeddings``, and on demand every way an endpoint can get it wrong."""

import itertools
import json
import math
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from tests.support import Place

DIMENSION = 32


class Answer(StrEnum):
    """How one request is answered."""

    NORMAL = "normal"
    OUT_OF_ORDER = "out_of_order"
    WITHOUT_INDEX = "without_index"
    TWICE_THE_SAME_INDEX = "twice_the_same_index"
    STRANGE_INDEX = "strange_index"
    TOO_FEW = "too_few"
    WRONG_DIMENSION = "wrong_dimension"
    NAN = "nan"
    INFINITE = "infinite"
    HUGE_NUMBER = "huge_number"
    ZERO = "zero"
    EMPTY_EMBEDDING = "empty_embedding"
    TEXT_IN_EMBEDDING = "text_in_embedding"
    NULL_EMBEDDING = "null_embedding"
    NOT_JSON = "not_json"
    DEEP_JSON = "deep_json"
    OTHER_JSON = "other_json"
    LONG = "long"
    SLOW = "slow"
    DRIPPING = "dripping"
    HANG_UP = "hang_up"
    CUT = "cut"
    REDIRECT_HERE = "redirect_here"
    REDIRECT_AS_GET = "redirect_as_get"
    REDIRECT_ELSEWHERE = "redirect_elsewhere"
    REDIRECT_NOWHERE = "redirect_nowhere"
    STATUS_400 = "400"
    STATUS_401 = "401"
    STATUS_403 = "403"
    STATUS_404 = "404"
    STATUS_429 = "429"
    STATUS_500 = "500"
    STATUS_503 = "503"


class Request(NamedTuple):
    """What arrived: path, headers with lower-case names, the decoded body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def embedding(text: str, dimension: int = DIMENSION) -> list[float]:
    """A vector in which texts that share letter pairs are near each other."""
    values = [0.0] * dimension
    folded = f" {text.casefold()} "
    for pair in itertools.pairwise(folded):
        values[zlib.crc32("".join(pair).encode()) % dimension] += 1.0
    return values


class EmbeddingServer:
    """Answers each request as ``script`` says, in its order; normally once that is used up.

    ``elsewhere`` is where ``REDIRECT_ELSEWHERE`` leads; ``patience`` is how many seconds the slow answers take.
    """

    def __init__(
        self,
        script: Iterable[Answer] = (),
        *,
        always: Answer = Answer.NORMAL,
        elsewhere: str = "",
        patience: float = 1.0,
    ) -> None:
        self.script = deque(script)
        self.always = always
        self.elsewhere = elsewhere
        self.patience = patience
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        owner = self

        class Handler(_Handler):
            server_of_test = owner

        self._http = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        """The base URL for a provider."""
        return f"http://{self.address}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def with_endpoint(place: Place, server: EmbeddingServer, model: str = "test") -> Place:
    """The place with this server as its embedding provider."""
    place.configure(memory__embeddingProviderId="mine", memory__embeddingModel=model)
    with place.home.config.open("a", encoding="utf-8") as file:
        file.write(f'[providers.mine]\nkind = "openai-compatible"\nbase_url = "{server.url}"\n')
    return place


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gives up in the middle is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of_test: EmbeddingServer

    def log_message(self, format: str, *args: object) -> None:
        """Tests read ``requests`` instead."""

    def do_GET(self) -> None:
        self._record({})
        self._send(405, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._record(body)
        server = self.server_of_test
        answer = server.script.popleft() if server.script else server.always
        if answer.value.isdigit():
            told = f"no: {body['input']} {self.headers['authorization']}"
            later = [("retry-after", "2")] if answer is Answer.STATUS_429 else []
            self._send(int(answer.value), {"error": {"message": told}}, later)
        elif answer.name.startswith("REDIRECT"):
            self._redirect(answer)
        elif answer in (Answer.SLOW, Answer.DRIPPING, Answer.HANG_UP, Answer.CUT):
            self._dawdle(answer)
        else:
            self._send(200, _content(answer, body["input"]))

    def _record(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server_of_test.requests.append(Request(self.path, headers, body))

    def _send(self, status: int, content: object, headers: Iterable[tuple[str, str]] = ()) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _redirect(self, answer: Answer) -> None:
        target, status = {
            Answer.REDIRECT_HERE: ("/v1/embeddings/", 307),
            Answer.REDIRECT_AS_GET: ("/v1/embeddings/", 302),
            Answer.REDIRECT_ELSEWHERE: (f"{self.server_of_test.elsewhere}/embeddings", 308),
            Answer.REDIRECT_NOWHERE: ("http://[/", 307),
        }[answer]
        self._send(status, b"", [("location", target)])

    def _dawdle(self, answer: Answer) -> None:
        self.close_connection = True
        if answer is Answer.HANG_UP:
            return
        server = self.server_of_test
        if answer is Answer.SLOW:
            server.stopped.wait(server.patience)
            return
        self.send_response(200)
        self.send_header("content-length", "1000000")
        self.end_headers()
        end = time.monotonic() + server.patience
        try:
            while answer is Answer.DRIPPING and time.monotonic() < end and not server.stopped.wait(0.02):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            return


def _content(answer: Answer, texts: list[str]) -> object:
    data: list[Any] = [
        {"object": "embedding", "index": at, "embedding": embedding(text)} for at, text in enumerate(texts)
    ]
    last = data[-1]["embedding"]
    match answer:
        case Answer.OUT_OF_ORDER:
            data.reverse()
        case Answer.WITHOUT_INDEX:
            data = [{"embedding": item["embedding"]} for item in data]
        case Answer.TWICE_THE_SAME_INDEX:
            data[-1]["index"] = 0
        case Answer.STRANGE_INDEX:
            data[-1]["index"] = [0]
        case Answer.TOO_FEW:
            data.pop()
        case Answer.WRONG_DIMENSION:
            last.append(1.0)
        case Answer.NAN:
            last[0] = math.nan
        case Answer.INFINITE:
            last[0] = math.inf
        case Answer.HUGE_NUMBER:
            last[0] = 10**400
        case Answer.ZERO:
            last[:] = [0] * len(last)
        case Answer.EMPTY_EMBEDDING:
            last.clear()
        case Answer.TEXT_IN_EMBEDDING:
            last[0] = "0.5"
        case Answer.NULL_EMBEDDING:
            data[-1]["embedding"] = None
        case Answer.NOT_JSON:
            return b"<html>not here</html>"
        case Answer.DEEP_JSON:
            return b"[" * 200_000
        case Answer.OTHER_JSON:
            return ["something", "else"]
        case Answer.LONG:
            return b" " * 3_000_000
    return {"object": "list", "data": data, "model": "test", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
