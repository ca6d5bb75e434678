"""Candidates as the JSON of the command line; imports nothing that prints."""

from engine.clock import iso
from engine.memory.candidates.model import Shown
from spark_tui.presenters.json_shapes import Json


def candidate_json(shown: Shown) -> Json:
    """One candidate; a decided one has its name, no other text. ``changed`` sources are not what was read for it."""
    each = shown.candidate
    return {
        "id": each.id,
        "action": each.action.value,
        "origin": each.origin.value,
        "scope": each.scope.value,
        "scope_ref": each.scope_ref,
        "type": each.type.value,
        "name": each.name,
        "description": each.description,
        "body": each.body,
        "confidence": each.confidence,
        "digest": each.digest,
        "state": each.state.value,
        "sources": [{"id": source.id, "name": source.name, "changed": source.changed} for source in shown.sources],
        "target_id": each.target.id if each.target else None,
        "target_changed": shown.target_changed,
        "target_gone": shown.target_gone,
        "replaces": each.replaces,
        "entities": list(each.entities),
        "valid_until": each.valid_until.isoformat() if each.valid_until else None,
        "evidence": each.evidence,
        "evidence_status": each.evidence_status.value if each.evidence_status else None,
        "session": each.session,
        "model": each.model,
        "created_at": iso(each.created_at),
        "expires_at": iso(each.expires_at),
        "decided_at": iso(each.decided_at) if each.decided_at is not None else None,
        "result_id": each.result_id,
        "reason": each.reason,
    }
