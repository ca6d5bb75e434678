"""Makes the entry of a draft: its id, its times, its end; writes nothing."""

from collections.abc import Iterable
from datetime import date

from engine.clock import Clock, day_end_ms
from engine.errors import ValidationFailed
from engine.identity import Ids
from engine.memory import rows
from engine.memory.entities import cleaned
from engine.memory.model import PREFIX, Draft, Entry, Layer, Validity
from engine.storage.database import Database


def new_entry(database: Database, clock: Clock, ids: Ids, draft: Draft, layer: Layer) -> Entry:
    """The first version of an entry of this layer."""
    now = clock.now_ms()
    return Entry(
        id=_fresh_id(database, ids, layer),
        scope=draft.scope,
        scope_ref=layer.ref,
        type=draft.type,
        name=draft.name,
        description=draft.description,
        source=draft.source,
        confidence=draft.confidence,
        author_role=draft.author,
        created_at=now,
        updated_at=now,
        valid_from=now if draft.valid_from is None else min(draft.valid_from, now),
        valid_until=validity_of(draft.valid_until, clock),
        entities=cleaned(draft.entities),
        links=kept(draft.links),
        source_session_id=draft.source_session_id,
        source_turn_id=draft.source_turn_id,
        extraction_model=draft.extraction_model,
        evidence=draft.evidence,
        evidence_status=draft.evidence_status,
    )


def validity_of(day: date | None, clock: Clock) -> Validity | None:
    """The last applicable day in the person's zone, with the instant it ends."""
    if day is None:
        return None
    zone = clock.zone()
    return Validity(day, zone.key, day_end_ms(day, zone))


def kept(links: Iterable[str]) -> tuple[str, ...]:
    """The links that say something."""
    return tuple(link for link in links if link.strip())


def _fresh_id(database: Database, ids: Ids, layer: Layer) -> str:
    for _ in range(100):
        candidate = ids.make(PREFIX[layer.scope])
        with database.read() as connection:
            taken = rows.find(connection, (layer.key,), candidate)
        if taken is None and not (layer.folder / f"{candidate}.md").exists():
            return candidate
    raise ValidationFailed("no free id could be found")
