"""A machine with a scripted model on it: turns go in over the same doors as any other's, answers come over HTTP."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.jobs import Job
from engine.memory.extraction.turn import Turn
from engine.memory.listing import Filter
from engine.memory.model import Entry
from engine.runtime import Engine
from spark_tui.demo.model_server import ModelServer
from tests.providers.scripted import MODEL, provider_config
from tests.support import Place

DECIDES = "You keep a list of memories"
EXTRACTS = "You read one finished turn"


def item(name: str, description: str, **fields: Any) -> dict[str, Any]:
    """What a model answers about one fact."""
    values = {"scope": "user", "type": "user", "body": "", "confidence": 0.9}
    return {**values, "name": name, "description": description, **fields}


class School:
    """One home, one project, one engine and a model whose answers the test writes."""

    def __init__(self, root: Path, server: ModelServer, stack: ExitStack) -> None:
        self.place = Place(root)
        self.server = server
        self.configure()
        self._stack = stack
        self.engine = self.open()

    def configure(self, **settings: object) -> None:
        """Write the settings, with the model as the one that extracts."""
        self.place.configure(memory__extractionProviderId="mine", **settings)
        config = self.place.home.config
        config.write_text(config.read_text("utf-8") + provider_config(self.server), "utf-8")

    def open(self, folder: Path | None = None) -> Engine:
        """Another engine on the same home."""
        return self._stack.enter_context(self.place.open(folder))

    def answers(self, *items: dict[str, Any]) -> None:
        """The next extraction brings these."""
        self.server.script.when(EXTRACTS, _say(json.dumps(list(items), ensure_ascii=False)), times=1)

    def decides(self, verb: str, target: str = "", **more: Any) -> None:
        """The next decision about an item."""
        answer = {"decision": verb, "targetId": target, "reason": "because", **more}
        self.server.script.when(DECIDES, _say(json.dumps(answer)), times=1)

    def job(self, user: str = "I prefer short answers", assistant: str = "Noted.", **fields: Any) -> Job:
        """Hand a turn over and do its job."""
        self.place.clock.advance(ms=60_000)
        given = Turn(user, assistant, **{"said_at": self.place.clock.now_ms(), **fields})
        self.place.clock.advance(ms=2_000)
        taken = self.engine.intake.submit(given)
        assert taken.job is not None
        return self.engine.learning.run(taken.job.id)

    def turn(self, *items: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
        """A whole turn in which the model finds these items; answers what became of each."""
        self.answers(*items)
        job = self.job(**fields)
        assert job.state == "done", job
        return [dict(each) for each in job.result]

    def learned(self, name: str, description: str, **fields: Any) -> Entry:
        """An entry that an earlier turn brought."""
        told = self.turn(item(name, description, **fields))
        assert told[0]["outcome"] == "added", told
        return self.engine.listing.entry(str(told[0]["id"]))

    def asked(self, words: str) -> int:
        """How many requests had these words in their prompt."""
        return sum(words in json.dumps(each.body, ensure_ascii=False) for each in self.server.requests)

    def entry(self, name: str) -> Entry:
        """The one entry of that name that is in service."""
        found = [each for each in self.engine.listing.window(Filter()) if each.name == name]
        assert len(found) == 1, found
        return found[0]


def _say(text: str) -> Any:
    from spark_tui.demo.steps import Say

    return Say(text)


@pytest.fixture
def school(tmp_path: Path) -> Iterator[School]:
    """A school with nothing learned yet."""
    with ModelServer() as server, ExitStack() as stack:
        yield School(tmp_path, server, stack)


__all__ = ["MODEL", "School", "item"]
