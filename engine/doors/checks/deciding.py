"""Looks at what waits for a person's decision, and at when each layer was and will be consolidated."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from engine.clock import DAY_MS, iso
from engine.config import MemorySettings
from engine.doors.checks.row import Row, first_few, info, ok, warn
from engine.doors.parts import Parts
from engine.memory import rows
from engine.memory.candidates.model import PENDING_MAX, Action, Candidate, Origin, Wording
from engine.memory.candidates.wording import without_sources
from engine.memory.model import Layer, State


def candidate_row(parts: Parts) -> Iterator[Row]:
    """What waits for a decision, what of it a taken name holds up, and where no more can be proposed."""
    waiting, title = parts.candidates.pending(), "Candidates"
    if not waiting:
        yield ok("candidates", title, "none waits")
        return
    held = [each.id for each in waiting if _is_held(parts, each)]
    told, fix = f"{len(waiting)} wait for you", "spark-tui candidates list"
    if held:
        told += f"; another memory has the name of {len(held)} of them: {first_few(held)}"
        fix = f"spark-tui candidates show {held[0]}, then confirm it with --name and another name"
    full = _full_layers(waiting)
    if full:
        told += f"; no more are proposed for {first_few(full)} until some are decided"
    yield (warn if held or full else info)("candidates", title, told, fix)


def _is_held(parts: Parts, candidate: Candidate) -> bool:
    """Whether its name belongs to an active memory that says something else (02 §8); the same rule as confirming."""
    if candidate.action not in (Action.ADD, Action.ELEVATE):
        return False
    with parts.database.read() as connection:
        taken = rows.holder(connection, candidate.layer, candidate.name)
        if taken is None or taken.entry.state(parts.clock.now_ms()) is State.EXPIRED:
            return False
        body = without_sources(rows.body_of(connection, taken.rid))
    said = Wording(taken.entry.name, taken.entry.description, body)
    return said != replace(candidate.wording, body=without_sources(candidate.body))


def _full_layers(waiting: list[Candidate]) -> list[str]:
    by_models = Counter(each.layer for each in waiting if each.origin is not Origin.IMPORT)
    return [layer for layer, count in by_models.items() if count >= PENDING_MAX]


def consolidation_row(parts: Parts) -> Iterator[Row]:
    """For each layer: when it was last consolidated, and whether it is due or why not."""
    settings, title = parts.memory_settings(), "Consolidation"
    if not settings.consolidation_enabled:
        yield info("consolidation", title, "off", "spark-tui settings set memory.consolidationEnabled true")
        return
    told = [(layer, *_standing(parts, layer, settings)) for layer in parts.layers.person()]
    evidence = "; ".join(f"{layer.label}: {words}" for layer, _due, words in told)
    due = any(is_due for _layer, is_due, _words in told)
    yield info("consolidation", title, evidence, "spark-tui consolidate --wait does it now" if due else None)


def _standing(parts: Parts, layer: Layer, settings: MemorySettings) -> tuple[bool, str]:
    """(whether it is due, the words for it)."""
    now, last = parts.clock.now_ms(), parts.due.last(layer)
    with parts.database.read() as connection:
        count = rows.active_count(connection, layer.key, now)
    before = f"last {iso(last, parts.clock.zone())}" if last else "never yet"
    if count < settings.consolidation_threshold:
        return False, f"{before}, not due with {count} of {settings.consolidation_threshold} entries"
    pause = round(settings.consolidation_interval_days * DAY_MS)
    if last is not None and abs(now - last) <= pause:
        return False, f"{before}, due again {iso(last + pause, parts.clock.zone())}"
    return True, f"{before}, due at the next turn"
