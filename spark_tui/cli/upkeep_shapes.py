"""Findings, dropped candidates, exports and imports as JSON documents and as lines for people."""

from collections.abc import Iterable

from engine.clock import iso
from engine.memory.audit import Finding
from engine.memory.gate_log import Drop
from engine.memory.transfer.exporting import Exported
from engine.memory.transfer.importing import Imported
from spark_tui.presenters.json_shapes import Json


def finding_json(finding: Finding) -> Json:
    """One finding of ``memory audit``; ``fix`` is a command."""
    return {
        "kind": finding.kind.value,
        "ids": list(finding.ids),
        "names": list(finding.names),
        "why": finding.why,
        "fix": finding.fix,
    }


def drop_json(drop: Drop) -> Json:
    """One line of ``memory gate-log``."""
    return {
        "at": iso(drop.at),
        "session": drop.session,
        "scope": drop.scope.value,
        "name": drop.name,
        "gate": drop.gate.value,
        "reason": drop.reason,
    }


def exported_json(each: Exported) -> Json:
    """One file of ``memory export``."""
    told: Json = {"file": each.file, "outcome": each.outcome.value, "id": each.id}
    return told | ({"reason": each.reason} if each.reason else {})


def imported_json(each: Imported) -> Json:
    """One item of ``memory import``, in the words of the gates."""
    told: Json = {
        "file": each.file,
        "kind": each.kind.value,
        "name": each.name,
        "scope": each.scope.value if each.scope else None,
        "outcome": each.outcome.value,
    }
    optional = {"gate": each.gate.value if each.gate else None, "reason": each.reason or None, "id": each.id}
    return told | {key: value for key, value in optional.items() if value is not None}


def counted(outcomes: Iterable[str]) -> dict[str, int]:
    """How often each outcome occurs, in the order they are first met."""
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome] = counts.get(outcome, 0) + 1
    return counts


def spoken(counts: dict[str, int]) -> str:
    """``3 added, 1 dropped``."""
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing"
