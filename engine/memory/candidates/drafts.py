"""What a candidate's text becomes in the store: a new entry, or the next version of its target. Pure; no gate is here."""

from dataclasses import replace
from typing import Final
from zoneinfo import ZoneInfo

from engine.memory.candidates.model import Action, Candidate, Origin, Proposal, Wording
from engine.memory.document import validity
from engine.memory.model import AuthorRole, Draft, Entry, MemoryType, Scope, Source

_SOURCES: Final = {
    Origin.CONSOLIDATION: Source.CONSOLIDATION,
    Origin.EVOLUTION: Source.EXTRACTION,
    Origin.IMPORT: Source.IMPORT,
}


def draft_of(candidate: Candidate, text: Wording) -> Draft:
    """The new entry a confirmation makes.

    The author is the person: they saw exactly this text and said yes, so no later turn may change it unasked.
    Where the words came from stays in ``source``.
    """
    elevated = candidate.action is Action.ELEVATE
    sources = tuple(each.id for each in candidate.sources) if elevated else ()
    return Draft(
        scope=candidate.scope,
        type=MemoryType.FEEDBACK if elevated else candidate.type,
        name=text.name,
        description=text.description,
        body=text.body,
        confidence=candidate.confidence,
        entities=candidate.entities,
        links=tuple(dict.fromkeys((*candidate.links, *sources))),
        valid_until=candidate.valid_until,
        valid_from=candidate.valid_from,
        agent=candidate.scope_ref if candidate.scope is Scope.AGENT else None,
        source=_SOURCES[candidate.origin],
        author=AuthorRole.MANUAL_USER,
        source_session_id=candidate.session,
        source_turn_id=candidate.turn,
        extraction_model=candidate.model,
        evidence=candidate.evidence,
        evidence_status=candidate.evidence_status,
    )


def rewritten(entry: Entry, candidate: Candidate, text: Wording, zone: ZoneInfo) -> Entry:
    """The target with the candidate's text; id, name, creation and source stay, confidence may fall (02 §4.4)."""
    until = validity(candidate.valid_until.isoformat(), zone) if candidate.valid_until else entry.valid_until
    return replace(
        entry,
        type=candidate.type,
        description=text.description,
        confidence=candidate.confidence,
        entities=candidate.entities or entry.entities,
        links=candidate.links or entry.links,
        valid_until=until,
        valid_from=max(candidate.valid_from or 0, entry.valid_from),
        source_session_id=candidate.session or entry.source_session_id,
        source_turn_id=candidate.turn or entry.source_turn_id,
        extraction_model=candidate.model or entry.extraction_model,
        evidence=candidate.evidence or entry.evidence,
        evidence_status=candidate.evidence_status or entry.evidence_status,
    )


def draft_for_checks(proposal: Proposal) -> Draft:
    """A proposal in the form the gates of content judge."""
    return Draft(
        scope=proposal.layer.scope, type=proposal.type, name=proposal.name, description=proposal.description,
        body=proposal.body, confidence=proposal.confidence, entities=proposal.entities, links=proposal.links,
        source_session_id=proposal.session, source_turn_id=proposal.turn, extraction_model=proposal.model,
        evidence=proposal.evidence,
    )  # fmt: skip
