"""Learns from one finished turn: asks the model what is worth keeping, passes each item through the gates (02 §3, §4).

How far it got is noted after every item, so that a turn interrupted anywhere goes on where it stopped.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.clock import Clock
from engine.errors import ModelFailed, SensitiveContent, ValidationFailed
from engine.memory import gate_log
from engine.memory.evolution.evolution import Evolution, Origin
from engine.memory.evolution.outcome import Settled, dropped
from engine.memory.extraction.answer import BadItem, DraftItem, parse_items
from engine.memory.extraction.batch import Verdict, judge_batch
from engine.memory.extraction.evidence import checked_evidence
from engine.memory.extraction.items import item_from, item_json
from engine.memory.extraction.knowledge import Knowledge
from engine.memory.extraction.prompt import extraction_request
from engine.memory.extraction.turn import Turn
from engine.memory.gate_log import Drop, Gate
from engine.memory.gates.order import judge
from engine.memory.layers import Layers
from engine.memory.model import Layer, Scope
from engine.memory.workspaces import Unbound
from engine.providers.asking import Ask
from engine.providers.chat import ChatReply, Stop
from engine.providers.faults import ModelFault, failed
from engine.providers.tokens import TokenCounter
from engine.settings_providers import WINDOW_MIN
from engine.storage.database import Database

Told = Mapping[str, Any]
Keep = Callable[[Mapping[str, Any]], None]
"""Notes how far a job is; raises when it is no longer ours."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of a turn: one line an item, as in ``Settled.told``; ``reason`` says why there is none."""

    items: tuple[Told, ...]
    reason: str | None = None


class Extraction:
    """Runs one turn at a time, standing where the turn was."""

    def __init__(
        self,
        database: Database,
        layers: Layers,
        knowledge: Knowledge,
        evolution: Evolution,
        tokens: TokenCounter,
        clock: Clock,
    ) -> None:
        self._database = database
        self._layers = layers
        self._knowledge = knowledge
        self._evolution = evolution
        self._tokens = tokens
        self._clock = clock

    def run(self, turn: Turn, ask: Ask, progress: Mapping[str, Any], keep: Keep) -> Learned:
        """What came of a turn; ``progress`` is what ``keep`` was given last, empty at the first time.

        Raises ``ModelFailed`` when the model brings nothing that can be read.
        """
        if "items" not in progress:
            progress = self._extracted(turn, ask)
            keep(progress)
        items = [item_from(each) for each in progress["items"]]
        told: list[Told] = list(progress["told"])
        for item, repeats in list(zip(items, self._repeats(items), strict=True))[len(told) :]:
            settled = repeats or self._settled(item, turn, ask, str(progress["model"]))
            self._note(item.name, item.scope, settled, turn)
            told.append(settled.told(item.name, item.scope))
            progress = {**progress, "told": told}
            keep(progress)
        all_told = (*told, *progress["bad"])
        return Learned(all_told, None if all_told else "nothing worth keeping")

    def _extracted(self, turn: Turn, ask: Ask) -> dict[str, Any]:
        reply = self._reply(turn, ask)
        parsed = parse_items(reply.text)
        if reply.stop is Stop.REFUSED and not parsed.items:
            raise failed(ModelFault.REFUSED, ask.chat.provider)
        if not parsed.readable:
            fault = ModelFault.CUT if reply.stop in (Stop.INCOMPLETE, Stop.LENGTH) else ModelFault.BAD_ANSWER
            raise failed(fault, ask.chat.provider)
        for item in parsed.items:
            if item.shortened:
                _log.info("%s was longer than a memory may be and is shortened", item.name)
        return {
            "model": f"{ask.chat.provider}:{reply.model or ask.chat.model}",
            "items": [item_json(item) for item in parsed.items],
            "bad": [self._bad(each, turn) for each in parsed.bad],
            "told": [],
        }

    def _reply(self, turn: Turn, ask: Ask) -> ChatReply:
        """The model's answer; one that reads less than was thought is asked again with less."""
        known, window = self._knowledge.about(turn), ask.window
        while True:
            try:
                return ask(extraction_request(turn, known, self._tokens, window))
            except ModelFailed as error:
                if error.details.get("fault") != ModelFault.TOO_LONG or window <= WINDOW_MIN:
                    raise
                window = max(WINDOW_MIN, window // 2)
                _log.info("the model reads less: asked again with %d tokens", window)

    def _repeats(self, items: Sequence[DraftItem]) -> list[Settled | None]:
        """What is dropped before anything is asked: copies of the prompt's examples, repeats within the batch."""
        storable = [item for item in items if not self._homeless(item)]
        judged = {id(each.item): each for each in judge_batch(storable, ())}
        found: list[Settled | None] = []
        for item in items:
            verdict = judged.get(id(item))
            repeats = verdict is not None and verdict.verdict is Verdict.DUPLICATE
            found.append(dropped(Gate.DUPLICATE, verdict.reason or "") if verdict and repeats else None)
        return found

    def _settled(self, item: DraftItem, turn: Turn, ask: Ask, model: str) -> Settled:
        if self._homeless(item):
            return dropped(Gate.NO_WORKSPACE, "no_workspace")
        refused = judge(item)
        if refused is not None:
            return dropped(refused.gate, refused.reason)
        evidence = checked_evidence(item.evidence, turn)
        origin = Origin(turn.said_at, turn.session, turn.turn, turn.agent, model, evidence.excerpt, evidence.status)
        try:
            return self._evolution.settle(item, self._layer(item, turn), origin, ask)
        except SensitiveContent as error:
            return dropped(Gate.SENSITIVE, f"sensitive: {error.details.get('kind', '')}")
        except ValidationFailed as error:
            _log.info("%s cannot be stored: %s", item.name, error.code)
            return dropped(Gate.INVALID, "cannot_be_stored")

    def _homeless(self, item: DraftItem) -> bool:
        return item.scope is Scope.PROJECT and isinstance(self._layers.workspace, Unbound)

    def _layer(self, item: DraftItem, turn: Turn) -> Layer | None:
        match item.scope:
            case Scope.USER:
                return self._layers.user()
            case Scope.AGENT:
                return self._layers.agent(turn.agent)
            case Scope.PROJECT:
                return self._layers.project()

    def _bad(self, bad: BadItem, turn: Turn) -> Told:
        settled = dropped(Gate.INVALID, bad.reason)
        scope = bad.scope or Scope.USER
        self._note(bad.name, scope, settled, turn)
        return settled.told(bad.name, scope)

    def _note(self, name: str, scope: Scope, settled: Settled, turn: Turn) -> None:
        """One line of the log for each item, and one row of the gate log for each that was dropped."""
        _log.info("%s: %s %s", name, settled.outcome, settled.reason or settled.id or "")
        if settled.gate is None:
            return
        with self._database.write() as connection:
            now = self._clock.now_ms()
            gate_log.note(connection, [Drop(now, scope, name, settled.gate, settled.reason, turn.session)])
