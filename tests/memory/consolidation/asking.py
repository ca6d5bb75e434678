"""Layers to consolidate, and a model that is asked over HTTP by the engine's own client."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.memory.consolidation.model import ConsolidationReport
from engine.memory.model import AuthorRole, Entry, Source
from engine.providers.chat import ChatReply, ChatRequest
from engine.runtime import Engine
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Say, Shape
from tests.providers.chatting import openai
from tests.support import draft

EXTRACTED: Mapping[str, Any] = {"source": Source.EXTRACTION, "author": AuthorRole.EXTRACTION, "confidence": 0.8}


def extracted(engine: Engine, name: str, description: str = "", body: str = "", **fields: Any) -> Entry:
    """An entry that a turn wrote."""
    return engine.store.add(draft(name, description or f"says {name}", body, **{**EXTRACTED, **fields}))


def actions(*items: Mapping[str, object], shape: Shape = Shape.PLAIN) -> Say:
    """The answer that asks for these."""
    return Say(json.dumps(list(items), ensure_ascii=False), shape)


def merge(keep: Entry | str, *others: Entry | str) -> dict[str, object]:
    """The wish to merge others into one."""
    return {"action": "MERGE", "keep": _id(keep), "ids": [_id(each) for each in others]}


def elevate(
    sources: Iterable[Entry | str], name: str = "a-rule", description: str = "answer briefly", **more: str
) -> dict[str, object]:
    """The wish to propose a rule."""
    body = {"body": "**Why:** time is short", **more}
    return {"action": "ELEVATE", "name": name, "description": description, **body, "sources": [_id(e) for e in sources]}


def asking(
    engine: Engine, server: ModelServer, meanwhile: Callable[[], object] = lambda: None
) -> Callable[[ChatRequest], ChatReply]:
    """Asks the server; ``meanwhile`` happens while the model thinks."""

    def ask(request: ChatRequest) -> ChatReply:
        reply = engine.loop.run(model.complete(request))
        meanwhile()
        return reply

    model = openai(server.base_url)
    return ask


def consolidated(
    engine: Engine, server: ModelServer, *steps: Say, layer: str = "user", **more: Any
) -> ConsolidationReport:
    """One run over a layer, the model answering these in turn and then with an empty array."""
    server.then(*steps)
    meanwhile = more.pop("meanwhile", lambda: None)
    return engine.consolidation.run(layer, asking(engine, server, meanwhile), more.pop("window", 32_000))


def shown_ids(prompt: str) -> list[str]:
    """The ids of the entries in a prompt."""
    return [json.loads(line)["id"] for line in shown_lines(prompt).splitlines()]


def shown_lines(prompt: str) -> str:
    """What stands between the tags of a prompt."""
    found = re.search(r"<(memories-[0-9a-f]{8})>\n(.*?)\n</\1>", prompt, re.DOTALL)
    assert found is not None, prompt
    return found[2]


def _id(each: Entry | str) -> str:
    return each if isinstance(each, str) else each.id
