"""One connection of the model server: reads requests, checks them as the real servers do, plays the script."""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from spark_tui.demo.anthropic_wire import AnthropicWire
from spark_tui.demo.delivery import Answer, deliver
from spark_tui.demo.line import Gone, Line
from spark_tui.demo.openai_wire import OpenAIWire
from spark_tui.demo.other_paths import embeddings, model_list
from spark_tui.demo.received import Request
from spark_tui.demo.script import refusal
from spark_tui.demo.steps import answer_of
from spark_tui.demo.wire import Refused, Wire, spoken

if TYPE_CHECKING:
    from spark_tui.demo.model_server import ModelServer

OPENAI: Final = OpenAIWire()
ANTHROPIC: Final = AnthropicWire()
_CHATS: Final[Mapping[str, Wire]] = {"/v1/chat/completions": OPENAI, "/v1/messages": ANTHROPIC}
_EMBEDDINGS: Final = "/v1/embeddings"


class Handler(BaseHTTPRequestHandler):
    """Answers for the server that is its class attribute ``model_server``."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model_server: "ModelServer"
    stale = False

    def log_message(self, format: str, *args: object) -> None:
        """Whoever wants to know reads ``requests``."""

    def do_GET(self) -> None:
        """The lists of models; everything else is not there."""
        self._answer_unless_stale(b"")

    def do_POST(self) -> None:
        """Chat and embeddings."""
        try:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
        except (OSError, ValueError):
            self.close_connection = True
            return
        self._answer_unless_stale(content)

    def _answer_unless_stale(self, content: bytes) -> None:
        if self.stale:
            self.close_connection = True
            return
        line = Line(self, self.model_server.stopped)
        try:
            self._answer(line, urlsplit(self.path).path, content)
        except Gone:
            self.close_connection = True
            self.model_server.gave_up()

    def _answer(self, line: Line, path: str, content: bytes) -> None:
        server, wire = self.model_server, self._wire(path)
        body = _parsed(content)
        refused = self._refused(wire, path, body, line.headers)
        prompt = wire.prompt(body) if refused is None and body is not None and path in _CHATS else ""
        number = server.received.add(Request(self.command, self.path, line.headers, body or {}, prompt))
        if refused is not None:
            line.body(refused.status, wire.error(refused))
        elif self.command == "GET":
            line.body(200, model_list(path, server.models or ("scripted",), line.headers))
        elif body is not None and path == _EMBEDDINGS:
            line.body(200, embeddings(body))
        elif body is not None:
            self._chat(line, wire, body, prompt, number)

    def _chat(self, line: Line, wire: Wire, body: dict[str, Any], prompt: str, number: int) -> None:
        step = self.model_server.script.next(prompt, lambda each: refusal(each, body) is not None)
        said = spoken(answer_of(step), number, wire, body)
        self.stale = deliver(step, Answer(line, wire, said, body, bool(body.get("stream"))))

    def _wire(self, path: str) -> Wire:
        found = _CHATS.get(path)
        anthropic = "anthropic-version" in self.headers or "x-api-key" in self.headers
        return found or (ANTHROPIC if anthropic else OPENAI)

    def _refused(
        self, wire: Wire, path: str, body: dict[str, Any] | None, headers: Mapping[str, str]
    ) -> Refused | None:
        server = self.model_server
        if server.api_key is not None and (key := wire.key(headers)) != server.api_key:
            return Refused(401, f"Incorrect API key provided: {key}" if key else "no API key was provided")
        if self.command == "GET":
            known = model_list(path, server.models or ("scripted",), headers) is not None
            return None if known else _unknown(path, self.command)
        if path not in (*_CHATS, _EMBEDDINGS):
            return _unknown(path, self.command)
        if body is None:
            return Refused(400, "We could not parse the JSON body of your request.")
        if path == _EMBEDDINGS:
            answer = embeddings(body)
            return answer if isinstance(answer, Refused) else None
        return wire.complaint(headers, body) or self._not_offered(body)

    def _not_offered(self, body: Mapping[str, Any]) -> Refused | None:
        server, model = self.model_server, body["model"]
        if server.models and model not in server.models:
            return Refused(404, f"The model `{model}` does not exist or you do not have access to it.", field="model")
        for name in sorted(set(server.refuses) & set(body)):
            said = f"Unsupported parameter: '{name}' is not supported with this model."
            return Refused(400, said, field=name)
        return None


def _unknown(path: str, command: str) -> Refused:
    chat = path in (*_CHATS, _EMBEDDINGS)
    return Refused(405, "method not allowed") if chat else Refused(404, f"Invalid URL ({command} {path})")


def _parsed(content: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None
