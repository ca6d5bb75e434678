"""The rows of candidates: what waits, what was decided, what was ever asked; inside the caller's transaction."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

import apsw

from engine.clock import DAY_MS
from engine.memory.candidates.model import Action, Candidate, CandidateState, Origin, Quoted, Wording, digest_of
from engine.memory.model import EvidenceStatus, MemoryType, Scope
from engine.storage.erasing import rewrite

_COLUMNS = (
    "id, layer, scope, scope_ref, action, origin, state, type, name, description, body, confidence, digest,"
    " created_at, expires_at, entities, links, valid_until, valid_from, target_id, target_version, replaces, reason,"
    " session, turn, model, evidence, evidence_status, decided_at, result_id, operation"
)
# What has run out is expired wherever it is read, whether or not a write has noted it yet. Parameter: now in ms.
_STATE = "CASE WHEN state = 'pending' AND expires_at <= :now THEN 'expired' ELSE state END"
# For one that waits the column says when it was first seen to have run out, which is nobody's business but tidy's.
_DECIDED = "CASE WHEN state != 'pending' THEN decided_at WHEN expires_at <= :now THEN expires_at END"
# A decided candidate keeps its name; every other text of it goes.
_WIPED = "description = '', body = '', entities = '[]', links = '[]', evidence = NULL"
GRACE_DAYS: Final = 30
KEPT_DAYS: Final = 180


def insert(connection: apsw.Connection, each: Candidate) -> None:
    """Store a new candidate with its sources, and that its text was asked."""
    values = _values(each)
    sql = f"INSERT INTO memory_candidate({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    connection.execute(sql, tuple(values.values()))
    connection.executemany(
        "INSERT INTO memory_candidate_source(candidate, position, id, version) VALUES (?, ?, ?, ?)",
        [(each.id, position, source.id, source.version) for position, source in enumerate(each.sources)],
    )
    note_asked(connection, each.layer, each.question, each.digest, each.created_at)


def note_asked(connection: apsw.Connection, layer: str, question: str, digest: str, at: int) -> None:
    """A text was put before the person in this layer; it is never asked again.

    These rows are never trimmed: they are what keeps a rejected text from coming back, at some 100 bytes each.
    """
    connection.execute(
        "INSERT OR IGNORE INTO memory_candidate_asked(layer, question, digest, at) VALUES (?, ?, ?, ?)",
        (layer, question, digest, at),
    )


def was_asked(connection: apsw.Connection, layer: str, question: str, digest: str) -> bool:
    """Whether it ever was, whatever became of it."""
    sql = "SELECT 1 FROM memory_candidate_asked WHERE layer = ? AND question = ? AND digest = ?"
    return bool(connection.execute(sql, (layer, question, digest)).fetchall())


def exists(connection: apsw.Connection, candidate_id: str) -> bool:
    """Whether an id is taken."""
    return bool(connection.execute("SELECT 1 FROM memory_candidate WHERE id = ?", (candidate_id,)).fetchall())


def find(connection: apsw.Connection, layers: Iterable[str], candidate_id: str, now: int) -> Candidate | None:
    """The candidate of an id within the given layers, its state as of now."""
    return next(iter(_where(connection, layers, None, now, "id = :id", {"id": candidate_id})), None)


def window(
    connection: apsw.Connection,
    layers: Iterable[str],
    states: Sequence[CandidateState] | None,
    now: int,
    offset: int = 0,
    limit: int | None = None,
) -> list[Candidate]:
    """Candidates of some states (None: any), the newest first."""
    more = {"limit": -1 if limit is None else limit, "offset": offset}
    return _where(connection, layers, states, now, "1", more, "ORDER BY seq DESC LIMIT :limit OFFSET :offset")


def count(connection: apsw.Connection, layers: Iterable[str], states: Sequence[CandidateState] | None, now: int) -> int:
    """How many ``window`` would answer in all."""
    sql = f"SELECT count(*) FROM memory_candidate WHERE {_within(states)}"
    return int(next(connection.execute(sql, _bound(layers, states, now)))[0])


def waiting_models(connection: apsw.Connection, layer: str, now: int) -> int:
    """How many pending candidates of a layer a model proposed; imports are not counted (02 §8)."""
    sql = (
        "SELECT count(*) FROM memory_candidate"
        " WHERE layer = ? AND state = 'pending' AND expires_at > ? AND origin != 'import'"
    )
    return int(next(connection.execute(sql, (layer, now)))[0])


def decide(
    connection: apsw.Connection,
    candidate_id: str,
    state: CandidateState,
    now: int,
    result_id: str | None = None,
    operation: str | None = None,
) -> None:
    """A pending candidate is decided; its text goes, from the file as well."""
    connection.execute(
        f"UPDATE memory_candidate SET state = ?, decided_at = ?, result_id = ?, operation = ?, {_WIPED}"
        " WHERE id = ? AND state = 'pending'",
        (state.value, now, result_id, operation, candidate_id),
    )
    rewrite(connection, "memory_candidate")


def tidy(connection: apsw.Connection, now: int) -> None:
    """Let go what nobody needs any more: the text of what ran out, and what was decided half a year ago.

    The text stays for ``GRACE_DAYS`` after it was first seen to have run out: a clock that ran ahead for a while, and
    was set back, has cost nothing.
    """
    grace, kept = now - GRACE_DAYS * DAY_MS, now - KEPT_DAYS * DAY_MS
    connection.execute(
        "UPDATE memory_candidate SET decided_at = CASE WHEN expires_at <= :now THEN :now END"
        " WHERE state = 'pending' AND ((decided_at IS NULL) = (expires_at <= :now) OR decided_at > :now)",
        {"now": now},
    )
    connection.execute(
        f"UPDATE memory_candidate SET state = 'expired', decided_at = expires_at, {_WIPED}"
        " WHERE state = 'pending' AND decided_at <= ?",
        (grace,),
    )
    connection.execute(
        "DELETE FROM memory_candidate_source WHERE candidate IN"
        " (SELECT id FROM memory_candidate WHERE state != 'pending' AND decided_at <= ?)",
        (kept,),
    )
    connection.execute("DELETE FROM memory_candidate WHERE state != 'pending' AND decided_at <= ?", (kept,))


def confirmed_by(connection: apsw.Connection, operation: str) -> tuple[str, str] | None:
    """The candidate an operation group confirmed, and the entry it led to."""
    sql = "SELECT id, result_id FROM memory_candidate WHERE operation = ? AND state = 'confirmed'"
    return next(((str(id_), str(result)) for id_, result in connection.execute(sql, (operation,))), None)


def reopen(connection: apsw.Connection, candidate_id: str, text: Wording, now: int, expires_at: int) -> None:
    """A confirmation was undone: the candidate waits again, with the text that was confirmed."""
    connection.execute(
        "UPDATE memory_candidate SET state = 'pending', decided_at = NULL, result_id = NULL, operation = NULL,"
        " name = ?, description = ?, body = ?, digest = ?, expires_at = ? WHERE id = ?",
        (text.name, text.description, text.body, text.digest, expires_at, candidate_id),
    )
    sql = "SELECT layer, action, replaces FROM memory_candidate WHERE id = ?"
    for layer, action, replaces in list(connection.execute(sql, (candidate_id,))):
        question = "forget" if action == Action.DELETE and not replaces else "keep"
        note_asked(connection, layer, question, text.digest, now)


def retarget(connection: apsw.Connection, candidate_id: str, version: int) -> None:
    """The candidate is about this version of its target now; a yes to another difference does not count for it."""
    sql = "SELECT name, description, body FROM memory_candidate WHERE id = ? AND target_version != ?"
    for name, description, body in list(connection.execute(sql, (candidate_id, version))):
        connection.execute(
            "UPDATE memory_candidate SET target_version = ?, digest = ? WHERE id = ?",
            (version, digest_of(name, description, body, version), candidate_id),
        )


def waiting_about(
    connection: apsw.Connection, layer: str, question: str, text: Wording, target: str, now: int
) -> Candidate | None:
    """The candidate that waits with this very text about this target."""
    words = {"target": target, "name": text.name, "description": text.description, "body": text.body}
    same = "target_id = :target AND name = :name AND description = :description AND body = :body"
    found = _where(connection, (layer,), (CandidateState.PENDING,), now, same, words)
    return next((each for each in found if each.question == question and each.changes_target), None)


def _where(
    connection: apsw.Connection,
    layers: Iterable[str],
    states: Sequence[CandidateState] | None,
    now: int,
    condition: str,
    more: dict[str, Any],
    tail: str = "",
) -> list[Candidate]:
    columns = _COLUMNS.replace(" state,", f" {_STATE},").replace(" decided_at,", f" {_DECIDED},")
    sql = f"SELECT {columns} FROM memory_candidate WHERE {_within(states)} AND {condition} {tail}"
    found = list(connection.execute(sql, _bound(layers, states, now) | more))
    return [_without_text(_candidate(values, _sources(connection, values[0]))) for values in found]


def _without_text(each: Candidate) -> Candidate:
    """What has run out is shown as any other decided one, though its text is still there for a while."""
    if each.state is not CandidateState.EXPIRED:
        return each
    return replace(each, description="", body="", entities=(), links=(), evidence=None)


def _within(states: Sequence[CandidateState] | None) -> str:
    wanted = "" if states is None else f" AND {_STATE} IN (SELECT value FROM json_each(:states))"
    return f"layer IN (SELECT value FROM json_each(:layers)){wanted} AND :now >= 0"


def _bound(layers: Iterable[str], states: Sequence[CandidateState] | None, now: int) -> dict[str, Any]:
    return {"layers": json.dumps(list(layers)), "states": json.dumps([str(each) for each in states or ()]), "now": now}


def _sources(connection: apsw.Connection, candidate_id: str) -> tuple[Quoted, ...]:
    sql = "SELECT id, version FROM memory_candidate_source WHERE candidate = ? ORDER BY position"
    return tuple(Quoted(id_, version) for id_, version in connection.execute(sql, (candidate_id,)))


def _values(each: Candidate) -> dict[str, str | int | float | None]:
    return {
        "id": each.id, "layer": each.layer, "scope": each.scope.value, "scope_ref": each.scope_ref,
        "action": each.action.value, "origin": each.origin.value, "state": each.state.value, "type": each.type.value,
        "name": each.name, "description": each.description, "body": each.body, "confidence": each.confidence,
        "digest": each.digest, "created_at": each.created_at, "expires_at": each.expires_at,
        "entities": json.dumps(each.entities, ensure_ascii=False), "links": json.dumps(each.links, ensure_ascii=False),
        "valid_until": each.valid_until.isoformat() if each.valid_until else None,
        "valid_from": each.valid_from,
        "target_id": each.target.id if each.target else None,
        "target_version": each.target.version if each.target else None, "replaces": int(each.replaces),
        "reason": each.reason, "session": each.session, "turn": each.turn, "model": each.model,
        "evidence": each.evidence, "evidence_status": each.evidence_status.value if each.evidence_status else None,
        "decided_at": each.decided_at, "result_id": each.result_id, "operation": each.operation,
    }  # fmt: skip


def _candidate(values: tuple[Any, ...], sources: tuple[Quoted, ...]) -> Candidate:
    """A row of ``_COLUMNS``; SQLite's values have no static types, so they get them here."""
    (
        id_, layer, scope, ref, action, origin, state, type_, name, description, body, confidence, digest, created,
        expires, entities, links, until, valid_from, target, target_version, replaces, reason, session, turn, model, evidence,
        evidence_status, decided, result, operation,
    ) = values  # fmt: skip
    return Candidate(
        id=id_, layer=layer, scope=Scope(scope), scope_ref=ref, action=Action(action), origin=Origin(origin),
        state=CandidateState(state), type=MemoryType(type_), name=name, description=description, body=body,
        confidence=float(confidence), digest=digest, created_at=created, expires_at=expires,
        entities=tuple(json.loads(entities)), links=tuple(json.loads(links)),
        valid_until=date.fromisoformat(until) if until else None, valid_from=valid_from,
        target=Quoted(target, target_version) if target else None, replaces=bool(replaces), sources=sources,
        reason=reason, session=session, turn=turn, model=model, evidence=evidence,
        evidence_status=EvidenceStatus(evidence_status) if evidence_status else None,
        decided_at=decided, result_id=result, operation=operation,
    )  # fmt: skip
