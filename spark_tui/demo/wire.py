"""What both protocols have in common: an answer about to be sent, its pieces, and a refusal before it is written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from spark_tui.demo.shapes import written
from spark_tui.demo.steps import Ending, Say

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is no good: HTTP status, the protocol's type or code, a sentence, the field it is about."""

    status: int
    message: str
    type: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes of a stream; ``sent`` characters of the text are out with it, ``closing`` frames follow the whole text."""

    data: bytes
    sent: int = 0
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Spoken:
    """An answer as it goes out: shaped, cut to the request's limit, its tokens counted."""

    number: int
    model: str
    text: str
    reasoning: str
    ending: Ending
    piece: int
    usage: bool
    input: int
    output: int
    cached: int
    tool: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        """What the tool is called with."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    def pieces(self, edge: int) -> Iterator[tuple[str, int]]:
        """Pieces of the text and the characters out after each; none crosses ``edge``."""
        at = 0
        while at < len(self.text):
            end = min(at + max(1, self.piece), len(self.text))
            end = edge if at < edge < end else end
            yield self.text[at:end], end
            at = end


class Wire(Protocol):
    """One protocol, as its server speaks it."""

    def complaint(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> Refused | None:
        """What a real server would refuse in this request."""
        ...

    def key(self, headers: Mapping[str, str]) -> str:
        """The key a request carries; empty when there is none."""
        ...

    def prompt(self, body: Mapping[str, Any]) -> str:
        """All texts of the request, system first."""
        ...

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The JSON schema the answer has to follow; that of the tool the request forces."""
        ...

    def forced_tool(self, body: Mapping[str, Any]) -> str:
        """The tool that must be called; empty when there is none."""
        ...

    def limit(self, body: Mapping[str, Any]) -> int | None:
        """The most tokens the answer may have."""
        ...

    def error(self, refused: Refused) -> dict[str, Any]:
        """The body of an error."""
        ...

    def whole(self, spoken: Spoken, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        ...

    def frames(self, spoken: Spoken, body: Mapping[str, Any], edge: int) -> Iterator[Frame]:
        """The whole stream."""
        ...

    def error_event(self, refused: Refused) -> bytes:
        """An error inside a stream."""
        ...

    def raw_event(self, chunk: str) -> bytes:
        """An event with these bytes where JSON should be."""
        ...


def tokens(text: str) -> int:
    """Tokens of a text as this server counts them: a quarter of its characters, rounded up."""
    return -(-len(text) // CHARS_PER_TOKEN)


def spoken(say: Say, number: int, wire: Wire, body: Mapping[str, Any]) -> Spoken:
    """What a request gets to hear of an answer."""
    text, limit, ending = written(say, wire.schema(body)), wire.limit(body), say.ending
    if limit is not None and tokens(say.reasoning) + tokens(text) > limit:
        text, ending = text[: max(0, limit - tokens(say.reasoning)) * CHARS_PER_TOKEN], Ending.LENGTH
    read = tokens(wire.prompt(body))
    return Spoken(
        number, str(body["model"]), text, say.reasoning, ending, say.piece, say.usage,
        input=read, output=tokens(text) + tokens(say.reasoning), cached=min(say.cached, read),
        tool=(say.tool or wire.forced_tool(body)) if _is_object(text) else "",
    )  # fmt: skip


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def tool_named(tools: object, name: str) -> Mapping[str, Any]:
    """The tool of this name among those of a request, without OpenAI's wrapping; empty when there is none."""
    offered = tools if isinstance(tools, list) else []
    bare = (each.get("function", each) for each in offered if isinstance(each, dict))
    return next((each for each in bare if isinstance(each, dict) and each.get("name") == name), {})


def event(content: object, name: str | None = None) -> bytes:
    """One server-sent event."""
    return raw_event(json.dumps(content, ensure_ascii=False), name)


def raw_event(data: str, name: str | None = None) -> bytes:
    """One server-sent event with this data, whatever it is; a lone surrogate goes out as bytes no decoder takes."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n".encode("utf-8", "surrogatepass")


def texts_of(content: object) -> Iterator[str]:
    """The texts of a message's content, which is a string or a list of parts; of a tool's result too."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict):
                yield from texts_of(part.get("text", part.get("content")))
