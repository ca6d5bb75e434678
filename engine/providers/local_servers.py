"""Finds model servers and agent programs on this machine, when a person asks for it; looks nowhere else and starts nothing."""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.providers.cli_agents import DIALECTS
from engine.providers.reading import items, mapping, parsed, text
from engine.settings_providers import ProviderKind

HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 0.5
_ANSWER_MAX: Final = 4_000_000
_MODELS_MAX: Final = 200
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d{1,9})\r\n", re.I)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kind of server listens unless told otherwise, and the path that lists its models."""

    name: str
    kind: ProviderKind
    port: int
    path: str


PLACES: Final = (
    Place("ollama", ProviderKind.OLLAMA, 11434, "/api/tags"),
    Place("lm-studio", ProviderKind.OPENAI_COMPATIBLE, 1234, "/v1/models"),
    Place("llama-server", ProviderKind.OPENAI_COMPATIBLE, 8080, "/v1/models"),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider that could be added as it is; ``how`` says in one sentence where it was found.

    ``base_url`` is empty for a program, ``models`` may be empty: nothing loaded, or the program chooses.
    """

    kind: str
    name: str
    base_url: str
    models: tuple[str, ...]
    how: str


async def offers(
    environ: Mapping[str, str] = os.environ, ports: Mapping[str, int] | None = None, seconds: float = PATIENCE_S
) -> tuple[Offer, ...]:
    """What answers on this machine now, servers first; takes ``seconds`` at most, for all together.

    ``ports`` replaces ports by the name of a place.
    """
    given = ports or {}
    found = await asyncio.gather(*(_server(place, given.get(place.name, place.port), seconds) for place in PLACES))
    return (*(offer for offer in found if offer is not None), *programs(environ))


def programs(environ: Mapping[str, str] = os.environ) -> tuple[Offer, ...]:
    """The agent programs on PATH; they are not started, so whether they are logged in is not known."""
    path = environ.get("PATH", "")
    names = {kind: dialect.program for kind, dialect in DIALECTS.items()}
    return tuple(
        Offer(str(kind), name, "", (), f"{name} is on PATH")
        for kind, name in names.items()
        if shutil.which(name, path=path)
    )


async def _server(place: Place, port: int, seconds: float) -> Offer | None:
    """The offer of a place, or None where nobody listens or something else does."""
    try:
        async with asyncio.timeout(seconds):
            body = await _got(port, place.path)
    except (OSError, ValueError, EOFError, asyncio.LimitOverrunError):  # a time-out is an OSError
        return None
    models = _models(body)
    if models is None:
        return None
    how = f"{place.name} answers at {HOST}:{port}"
    return Offer(str(place.kind), place.name, f"http://{HOST}:{port}/v1", models, how)


async def _got(port: int, path: str) -> object:
    """The JSON of a GET; by hand, for this must neither load an HTTP library nor follow anybody elsewhere.

    Raises ``OSError``, ``ValueError``, ``EOFError``, ``LimitOverrunError``.
    """
    reader, writer = await asyncio.open_connection(HOST, port, limit=_ANSWER_MAX)
    try:
        # HTTP/1.0: no chunks, and the connection ends with the answer where no length is told.
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {HOST}:{port}\r\nAccept: application/json\r\n\r\n".encode())
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        if head.split(b" ", 2)[1:2] != [b"200"]:
            raise ValueError("no success")
        length = _LENGTH.search(head)
        return parsed(await _rest(reader, int(length.group(1)) if length else None))
    finally:
        writer.close()


async def _rest(reader: asyncio.StreamReader, length: int | None) -> bytes:
    body = bytearray()
    while (length is None or len(body) < length) and (chunk := await reader.read(65_536)):
        body += chunk
        if len(body) > _ANSWER_MAX:
            raise ValueError("too long for a list of models")
    return bytes(body)


def _models(body: object) -> tuple[str, ...] | None:
    """Names of models in Ollama's or OpenAI's list; None when this is neither."""
    content = mapping(body)
    named, listed = ("id", content.get("data")) if content.get("object") == "list" else ("name", content.get("models"))
    if not isinstance(listed, list):
        return None
    names = (text(mapping(each).get(named)) for each in items(listed)[:_MODELS_MAX])
    return tuple(dict.fromkeys(name for name in names if name))
