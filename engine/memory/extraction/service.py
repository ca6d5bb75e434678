"""Learns from one finished turn: asks the model what is worth keeping, passes each item through the gates (02 §3, §4).

How far it got is noted after every item, so that a turn interrupted anywhere goes on where it stopped.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from engine.clock import Clock
from engine.errors import (
    AlreadyExists,
    ModelFailed,
    NameConflict,
    NotFound,
    QuotaExceeded,
    SensitiveContent,
    ValidationFailed,
)
from engine.memory import gate_log
from engine.memory.evolution.evolution import Begun, Evolution, Origin
from engine.memory.evolution.outcome import Settled, dropped
from engine.memory.extraction.answer import BadItem, BadReason, DraftItem, parse_items
from engine.memory.extraction.batch import judge_batch
from engine.memory.extraction.evidence import checked_evidence
from engine.memory.extraction.items import item_from, item_json
from engine.memory.extraction.knowledge import Knowledge
from engine.memory.extraction.prompt import Verb, extraction_request
from engine.memory.extraction.turn import Turn
from engine.memory.gate_log import Drop, Gate
from engine.memory.gates.order import judge, shown_name
from engine.memory.layers import Layers
from engine.memory.model import Layer, Scope
from engine.memory.workspaces import Unbound
from engine.providers.asking import Ask
from engine.providers.chat import ChatReply, Stop
from engine.providers.faults import ModelFault, failed
from engine.providers.tokens import TokenCounter
from engine.settings_providers import WINDOW_MIN
from engine.storage.database import Database

ITEM_FAULTS: Final = (ValidationFailed, AlreadyExists, NameConflict, NotFound, QuotaExceeded)
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
        for at, kept in progress["items"].items():
            if at not in progress["told"]:
                progress = self._one(at, item_from(kept), turn, ask, progress, keep)
                keep(progress)
        told = [progress["told"][at] for at in sorted(progress["told"], key=int)]
        return Learned((*told, *progress["bad"]), None if told or progress["bad"] else "nothing worth keeping")

    def _one(
        self, at: str, item: DraftItem, turn: Turn, ask: Ask, progress: Mapping[str, Any], keep: Keep
    ) -> dict[str, Any]:
        """The progress with one more item settled; what is about to be written is noted before it is."""
        begun = progress.get("begun") or {}
        earlier = Begun(Verb(begun["verb"]), begun["target"], begun["version"]) if begun.get("at") == at else None

        def begin(wanted: Begun) -> None:
            keep({**progress, "begun": {"at": at, **asdict(wanted)}})

        settled = self._settled(item, turn, ask, str(progress["model"]), earlier, begin)
        return {**progress, "begun": None, "told": {**progress["told"], at: self._told(item, settled, turn)}}

    def _extracted(self, turn: Turn, ask: Ask) -> dict[str, Any]:
        """What the model found, as far as it passes what needs nothing but the item; of the rest no text is kept."""
        reply = self._reply(turn, ask)
        parsed = parse_items(reply.text)
        if reply.stop is Stop.REFUSED and not parsed.items:
            raise failed(ModelFault.REFUSED, ask.chat.provider)
        if not parsed.readable:
            fault = ModelFault.CUT if reply.stop in (Stop.INCOMPLETE, Stop.LENGTH) else ModelFault.BAD_ANSWER
            raise failed(fault, ask.chat.provider)
        refused = {at: self._refused(item) for at, item in enumerate(parsed.items)}
        passed = {at: item for at, item in enumerate(parsed.items) if refused[at] is None}
        for (at, item), repeats in zip(passed.items(), judge_batch(list(passed.values())), strict=True):
            if repeats is not None:
                refused[at] = dropped(Gate.DUPLICATE, repeats)
            elif item.shortened:
                _log.info("%s was longer than a memory may be and is shortened", item.name)
        return {
            "model": f"{ask.chat.provider}:{reply.model or ask.chat.model}",
            "items": {str(at): item_json(item) for at, item in passed.items() if refused[at] is None},
            "told": {str(at): self._told(parsed.items[at], why, turn) for at, why in refused.items() if why},
            "bad": [self._bad(each, turn) for each in parsed.bad],
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

    def _refused(self, item: DraftItem) -> Settled | None:
        """What stops an item before anything else is looked at: no project to keep it in, gates one to three."""
        if self._homeless(item):
            return dropped(Gate.NO_WORKSPACE, "no_workspace")
        refused = judge(item)
        return dropped(refused.gate, refused.reason) if refused is not None else None

    def _settled(
        self,
        item: DraftItem,
        turn: Turn,
        ask: Ask,
        model: str,
        begun: Begun | None,
        begin: Callable[[Begun], None],
    ) -> Settled:
        evidence = checked_evidence(item.evidence, turn)
        origin = Origin(turn.said_at, turn.session, turn.turn, turn.agent, model, evidence.excerpt, evidence.status)
        try:
            return self._evolution.settle(item, self._layer(item, turn), origin, ask, begun, begin)
        except SensitiveContent as error:
            return dropped(Gate.SENSITIVE, f"sensitive: {error.details.get('kind', '')}")
        except ITEM_FAULTS as error:  # one item that cannot be had must not cost those behind it
            _log.info("%s cannot be stored: %s", item.name, error.code)
            return dropped(Gate.INVALID, error.code.casefold())

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
        gate = Gate.SENSITIVE if bad.reason is BadReason.SECRET_NAME else Gate.INVALID
        return self._noted(bad.name, bad.scope or Scope.USER, dropped(gate, bad.reason), turn)

    def _told(self, item: DraftItem, settled: Settled, turn: Turn) -> Told:
        """An item that is dropped leaves no text behind, so none that was made into a name either."""
        name = item.name if item.named or settled.gate is None else ""
        return self._noted(name, item.scope, settled, turn)

    def _noted(self, name: str, scope: Scope, settled: Settled, turn: Turn) -> Told:
        """The line for an item, written to the log, and to the gate log where it was dropped; a secret name is none."""
        shown = shown_name(name)
        _log.info("%s: %s %s", shown, settled.outcome, settled.reason or settled.id or "")
        if settled.gate is not None:
            with self._database.write() as connection:
                now = self._clock.now_ms()
                gate_log.note(connection, [Drop(now, scope, shown, settled.gate, settled.reason, turn.session)])
        return settled.told(shown, scope)
