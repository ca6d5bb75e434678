"""The JSON documents of the command line (08): engine objects in, plain dicts out; the names here are a contract."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from engine.clock import iso
from engine.memory.model import Change, Derivation, Entry, ItemResult, Revision

Json = dict[str, Any]


class Reasoned(Protocol):
    """A search hit with the reasons for its place; ranks count from 1."""

    @property
    def entry(self) -> Entry: ...
    @property
    def score(self) -> float: ...
    @property
    def fts_rank(self) -> int | None: ...
    @property
    def vector_rank(self) -> int | None: ...
    @property
    def bm25(self) -> float | None: ...
    @property
    def similarity(self) -> float | None: ...
    @property
    def rrf(self) -> float: ...
    @property
    def decay(self) -> float: ...


class Found(Protocol):
    """What a search answered."""

    @property
    def status(self) -> str: ...
    @property
    def hits(self) -> Sequence[Reasoned]: ...
    @property
    def related(self) -> Sequence[Entry]: ...
    @property
    def channels(self) -> Mapping[str, str]: ...
    @property
    def reason(self) -> str | None: ...


class LeftOut(Protocol):
    """An entry that is not in a block, and the code of the reason."""

    @property
    def id(self) -> str: ...
    @property
    def reason(self) -> str: ...


class Injected(Protocol):
    """A memory block with what is in it and what is not."""

    @property
    def status(self) -> str: ...
    @property
    def block(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def injected(self) -> Sequence[str]: ...
    @property
    def dropped(self) -> Sequence[LeftOut]: ...


def entry_json(entry: Entry, now_ms: int) -> Json:
    """ENTRY of the contract, its state at ``now_ms``; ``file`` is relative to the folder of its scope."""
    return {
        "id": entry.id,
        "scope": entry.scope.value,
        "scope_ref": entry.scope_ref,
        "type": entry.type.value,
        "name": entry.name,
        "description": entry.description,
        "confidence": entry.confidence,
        "state": entry.state(now_ms).value,
        "version": entry.version,
        "created_at": iso(entry.created_at),
        "updated_at": iso(entry.updated_at),
        "valid_from": iso(entry.valid_from),
        "valid_until": entry.valid_until.day.isoformat() if entry.valid_until else None,
        "invalid_at": _time(entry.invalid_at),
        "superseded_by": entry.superseded_by,
        "archived": entry.archived,
        "hit_count": entry.hit_count,
        "entities": list(entry.entities),
        "author_role": entry.author_role.value,
        "source": entry.source.value,
        "source_session_id": entry.source_session_id,
        "file": entry.file,
    } | ({"file_reason": entry.file_reason} if entry.file_state is not None else {})


def revision_json(revision: Revision) -> Json:
    """One superseded version: what it said and when, and by which operation group, it was replaced."""
    entry = revision.entry
    return {
        "version": entry.version,
        "name": entry.name,
        "description": entry.description,
        "type": entry.type.value,
        "body": revision.body,
        "author_role": entry.author_role.value,
        "updated_at": iso(entry.updated_at),
        "replaced_at": iso(revision.replaced_at),
        "group": revision.group,
    }


def derivation_json(edge: Derivation) -> Json:
    """One edge between memories, from the older to the newer."""
    return {"from": edge.from_id, "to": edge.to_id, "kind": edge.kind, "at": iso(edge.at)}


def change_json(change: Change) -> Json:
    """One line of the recent-changes feed."""
    return {
        "group": change.group,
        "at": iso(change.at),
        "action": change.action,
        "id": change.id,
        "name": change.name,
        "author_role": change.author.value,
        "before": change.before,
        "after": change.after,
        "fields": list(change.fields),
        "undone": change.undone,
    }


def results_json(results: Iterable[ItemResult]) -> Json:
    """The answer of a bulk verb; ``ok`` only when every id is as it was wanted."""
    told = list(results)
    return {"ok": all(result.ok for result in told), "results": [_result(result) for result in told]}


def search_json(found: Found, now_ms: int, explain: bool = False) -> Json:
    """The answer of ``memory search``; ``explain`` adds what the ranks were made from."""
    document: Json = {
        "status": str(found.status),
        "hits": [_hit(hit, now_ms) | (_scores(hit) if explain else {}) for hit in found.hits],
        "related": [entry_json(entry, now_ms) for entry in found.related],
        "channels": {name: str(state) for name, state in found.channels.items()},
    }
    return document | ({"reason": found.reason} if found.reason else {})


def injection_json(injection: Injected) -> Json:
    """The answer of ``inject``; tokens count the whole block, fixed text included."""
    return {
        "status": str(injection.status),
        "block": injection.block,
        "tokens": injection.tokens,
        "injected": list(injection.injected),
        "dropped": [{"id": each.id, "reason": str(each.reason)} for each in injection.dropped],
    }


def _hit(hit: Reasoned, now_ms: int) -> Json:
    return {
        "entry": entry_json(hit.entry, now_ms),
        "score": hit.score,
        "fts_rank": hit.fts_rank,
        "vector_rank": hit.vector_rank,
        "rrf": hit.rrf,
        "decay": hit.decay,
    }


def _scores(hit: Reasoned) -> Json:
    return {"bm25": hit.bm25, "similarity": hit.similarity, "confidence": hit.entry.confidence}


def _result(result: ItemResult) -> Json:
    optional = {"message": result.message or None, "path": result.path, "version": result.version}
    given = {key: value for key, value in optional.items() if value is not None}
    return {"id": result.id, "outcome": result.outcome} | given


def _time(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)
