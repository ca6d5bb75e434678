"""One run of consolidation over a layer: asks a model group by group, merges what is said twice, proposes rules (02 §8)."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from engine.clock import Clock
from engine.config import Settings
from engine.errors import ModelFailed, NotFound, StoreBusy
from engine.memory import gate_log, rows
from engine.memory.candidates.model import Action, Origin, Outcome, Proposal, Quoted
from engine.memory.candidates.service import Candidates
from engine.memory.consolidation.alike import Alike
from engine.memory.consolidation.answer import SOURCES_MIN, parse
from engine.memory.consolidation.clustering import clusters
from engine.memory.consolidation.likeness import pairs
from engine.memory.consolidation.merging import Merger
from engine.memory.consolidation.model import ConsolidationReport, Elevation, Skipped, Snapshot
from engine.memory.consolidation.prompt import consolidation_request, line_of, room
from engine.memory.consolidation.running import Run
from engine.memory.gate_log import Drop, Gate
from engine.memory.layers import Layers
from engine.memory.model import Layer, MemoryType
from engine.providers.chat import ChatReply, ChatRequest
from engine.providers.faults import ModelFault
from engine.providers.tokens import TokenCounter
from engine.settings_providers import WINDOW_MIN
from engine.storage.database import Database
from engine.storage.lock import try_exclusive

NOTHING: Final[Mapping[str, Any]] = {}
ELEVATE: Final = Action.ELEVATE.value
GATES: Final = {Outcome.SENSITIVE: Gate.SENSITIVE, Outcome.INVALID: Gate.INVALID}
_log = logging.getLogger(__name__)


class Consolidation:
    """Runs over one layer at a time; ``run_folder`` holds the lock that keeps two processes off the same layer."""

    def __init__(
        self,
        database: Database,
        merger: Merger,
        candidates: Candidates,
        layers: Layers,
        refresh: Callable[[list[Layer]], object],
        tokens: TokenCounter,
        clock: Clock,
        settings: Settings,
        run_folder: Path,
    ) -> None:
        self._database = database
        self._merger = merger
        self._candidates = candidates
        self._layers = layers
        self._refresh = refresh
        self._tokens = tokens
        self._clock = clock
        self._settings = settings
        self._run_folder = run_folder

    def run(
        self,
        layer_key: str,
        ask: Callable[[ChatRequest], ChatReply],
        window: int,
        progress: Mapping[str, Any] = NOTHING,
        keep: Callable[[Mapping[str, Any]], None] = lambda far: None,
    ) -> ConsolidationReport:
        """Consolidate a layer with a model that reads ``window`` tokens, answer included.

        ``keep`` is given how far it is after every answer, and may raise to stop it; ``progress`` is what it was given
        last: what was asked about is not asked again, what was done is reported. Raises ``ModelFailed``, ``NotFound``
        for a layer that is not seen from here, ``StoreBusy`` while another process has it.
        """
        layer = self._layers.by_key(layer_key)
        if layer is None:
            raise NotFound(f"no layer {layer_key[:80]} here")
        if not self._settings.memory.enabled:
            return ConsolidationReport(layer.key, reason="disabled")
        with self._alone(layer):
            self._refresh([layer])
            run = Run(layer, self._active(layer), window, progress)
            self._all_groups(run, ask, keep)
        _log.info(
            "consolidation of %s: %d calls, %d merged, %d proposed, %d skipped",
            layer.key, run.calls, len(run.merged), len(run.proposed), len(run.skipped),
        )  # fmt: skip
        return run.report()

    def _all_groups(
        self, run: Run, ask: Callable[[ChatRequest], ChatReply], keep: Callable[[Mapping[str, Any]], None]
    ) -> None:
        """Ask about group after group; when the model reads less than was thought, the rest is cut into smaller ones."""
        groups = self._groups(run)
        while (group := next(groups, None)) is not None:
            lines, known = group
            try:
                reply = ask(consolidation_request(lines, run.window))
            except ModelFailed as error:
                if error.details.get("fault") != ModelFault.TOO_LONG or run.window <= WINDOW_MIN:
                    raise
                run.window = max(WINDOW_MIN, run.window // 2)
                _log.info("the model reads less: asked again with %d tokens", run.window)
                groups = self._groups(run)
                continue
            run.calls += 1
            self._answered(run, known, reply)
            run.asked |= known.keys()
            keep(run.far())

    @contextmanager
    def _alone(self, layer: Layer) -> Iterator[None]:
        with try_exclusive(self._run_folder / f"consolidation-{layer.key.replace(':', '-')}.lock") as mine:
            if not mine:
                raise StoreBusy(f"another process is consolidating {layer.key}", "try again later")
            yield

    def _active(self, layer: Layer) -> list[Snapshot]:
        sql = f"SELECT {rows.COLUMNS} FROM memory_entry WHERE layer = :layer AND {rows.ACTIVE} ORDER BY rid"
        with self._database.read() as connection:
            found = connection.execute(sql, {"layer": layer.key, "now": self._clock.now_ms()}).fetchall()
            return [Snapshot(row.rid, row.entry, rows.body_of(connection, row.rid)) for row in map(rows.row_of, found)]

    def _groups(self, run: Run) -> Iterator[tuple[list[str], dict[str, Snapshot]]]:
        """What is still to be asked about together: the lines of the entries, and the entries by id."""
        found = run.waiting
        if len(found) < SOURCES_MIN:
            return
        budget = room(run.window, self._tokens)
        lines = {each.rid: line_of(each, budget // 4, self._tokens) for each in found}
        sizes = {rid: self._tokens.count(line + "\n") for rid, line in lines.items()}
        with self._database.read() as connection:
            likest = pairs(connection, run.layer.key, found, self._clock.now_ms())
        by_rid = {each.rid: each for each in found}
        for group in clusters(sizes, likest, budget):
            if len(group) >= SOURCES_MIN:
                yield [lines[rid] for rid in group], {by_rid[rid].entry.id: by_rid[rid] for rid in group}

    def _answered(self, run: Run, known: Mapping[str, Snapshot], reply: ChatReply) -> None:
        answer = parse(reply.text, known)
        if answer is None:
            run.note(Skipped("answer", "unreadable", ()))
            return
        if answer.ignored:
            _log.info("%d parts of an answer made no sense", answer.ignored)
        if answer.merges:
            with self._database.read() as connection:
                alike = Alike(connection, list(run.known.values()))
            for done in (done for wanted in answer.merges for done in self._merger.merge(wanted, known, alike)):
                run.note(done)
        for elevation in answer.elevations:
            run.note(self._propose(run, elevation, reply.model))

    def _propose(self, run: Run, wanted: Elevation, model: str) -> str | Skipped:
        sources = tuple(dict.fromkeys(run.standing(each) for each in wanted.sources))
        if len(sources) < SOURCES_MIN:
            return Skipped(ELEVATE, "merged", sources)
        entries = [run.known[each].entry for each in sources]
        shared = Counter(name for entry in entries for name in entry.entities)
        answer = self._candidates.propose(
            Proposal(
                layer=run.layer, action=Action.ELEVATE, origin=Origin.CONSOLIDATION, name=wanted.name,
                description=wanted.description, body=wanted.body, type=MemoryType.FEEDBACK,
                confidence=min(entry.confidence for entry in entries),  # a rule is no surer than what it rests on
                entities=tuple(name for name, times in shared.items() if times > 1),
                sources=tuple(Quoted(each, run.version(each)) for each in sources), model=model,
            )
        )  # fmt: skip
        if answer.candidate is not None:
            return answer.candidate.id
        if answer.outcome in GATES:
            self._log_drop(run.layer, wanted.name, GATES[answer.outcome], answer.reason)
        return Skipped(ELEVATE, answer.outcome.value, sources)

    def _log_drop(self, layer: Layer, name: str, gate: Gate, reason: str) -> None:
        with self._database.write() as connection:
            now = self._clock.now_ms()
            gate_log.note(connection, [Drop(now, layer.scope, name, gate, f"consolidation: {reason}")])
