"""Proposals as evolution, consolidation and import hand them in, short to write."""

from typing import Any

from engine.memory.candidates.model import Action, Candidate, Origin, Outcome, Proposal, quoted
from engine.memory.model import Entry, MemoryType
from engine.runtime import Engine

SECRET = "ghp_" + "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8"


def proposal(engine: Engine, name: str = "a-rule", description: str = "answer briefly", **fields: Any) -> Proposal:
    """A rule elevated in the user layer, unless fields say otherwise."""
    values = {
        "layer": engine.layers.user(),
        "action": Action.ELEVATE,
        "origin": Origin.CONSOLIDATION,
        "body": "**Why:** time is short",
        **fields,
    }
    return Proposal(name=name, description=description, **values)


def proposed(engine: Engine, *args: Any, **fields: Any) -> Candidate:
    """The candidate of a proposal that is taken."""
    answer = engine.candidates.propose(proposal(engine, *args, **fields))
    assert answer.outcome is Outcome.QUEUED, answer
    assert answer.candidate is not None
    return answer.candidate


def update_of(engine: Engine, target: Entry, description: str = "answers at length", **fields: Any) -> Candidate:
    """A change of an entry that evolution may not make by itself."""
    values = {"type": MemoryType.USER, "target": quoted(target), "confidence": 0.7, "body": "new body", **fields}
    return proposed(engine, "some-name", description, action=Action.UPDATE, origin=Origin.EVOLUTION, **values)


def forget(engine: Engine, target: Entry) -> Candidate:
    """A wish to take an entry out of use."""
    answer = engine.candidates.propose(_forgetting(engine, target))
    assert answer.candidate is not None, answer
    return answer.candidate


def _forgetting(engine: Engine, target: Entry) -> Proposal:
    return Proposal.to_forget(engine.layers.user(), target, engine.listing.body(target.id), "the turn says so")
