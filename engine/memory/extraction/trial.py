"""Tries the extraction settings with one real call on a made-up turn; stores nothing (02 §10)."""

import time
from dataclasses import dataclass
from typing import Final

from engine.memory.extraction.answer import parse_items
from engine.memory.extraction.prompt import extraction_request
from engine.memory.extraction.turn import Turn
from engine.providers.asking import Ask
from engine.providers.tokens import TokenCounter

SAMPLE_MAX: Final = 200
SAMPLE_TURN: Final = Turn(
    user="From now on give me the conclusion first, then the details. 我们项目统一用 pnpm，不要用 npm。",
    assistant="Understood: conclusion first, and pnpm for everything in this project.",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What came back: who answered, after how many ms, the beginning of the answer, and what would be looked at.

    ``readable`` is False when the model answered something that is no list of memories.
    """

    provider: str
    model: str
    latency_ms: int
    sample: str
    readable: bool
    names: tuple[str, ...]


def tried(ask: Ask, tokens: TokenCounter) -> Trial:
    """One extraction of the sample turn. Raises ``ModelFailed``."""
    import httpx  # noqa: F401 - loading it is not the model's latency

    request = extraction_request(SAMPLE_TURN, (), tokens, ask.window)
    began = time.monotonic()
    reply = ask(request)
    latency = round((time.monotonic() - began) * 1000)
    parsed = parse_items(reply.text)
    names = tuple(item.name for item in parsed.items)
    sample = " ".join(reply.text.split())[:SAMPLE_MAX]
    return Trial(ask.chat.provider, reply.model or ask.chat.model, latency, sample, parsed.readable, names)
