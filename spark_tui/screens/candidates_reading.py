"""Candidates as the screen shows them, read on a thread: the list with what stands in the way, and one whole card."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import NotFound
from engine.memory.candidates.model import Action, Candidate, Shown, SourceState
from engine.memory.model import Entry, Scope, State
from spark_tui.presenters.candidate_card import Card, Text

if TYPE_CHECKING:
    from engine.runtime import Engine

TRIES = 5
Name = tuple[Scope, str | None, str]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate of the list; ``name_taken``: a memory with other content has its name."""

    shown: Shown
    name_taken: bool

    @property
    def candidate(self) -> Candidate:
        """The candidate itself."""
        return self.shown.candidate


def read_waiting(engine: "Engine") -> list[Waiting]:
    """What waits here, the newest first."""
    found = engine.candidates.window()
    taken = _holders(engine, [each.candidate for each in found])
    return [Waiting(each, _held(engine, each.candidate, taken) is not None) for each in found]


def read_card(engine: "Engine", candidate_id: str) -> Card:
    """One candidate with its target, its sources and whoever has its name. Raises ``NotFound``."""
    shown, target = _aimed(engine, candidate_id)
    each = shown.candidate
    project = engine.layers.project()
    return Card(
        shown=shown,
        project=project.label if project else "",
        target=target,
        after=_after(engine, each, target),
        sources=[(source, _text(engine, source.id)) for source in shown.sources],
        holder=_held(engine, each, _holders(engine, [each])),
    )


def _aimed(engine: "Engine", candidate_id: str) -> tuple[Shown, Text | None]:
    """A candidate and its target, both of one moment: the digest must cover the very version that is shown beside it."""
    for _try in range(TRIES):
        shown = engine.candidates.get(candidate_id)
        aim = shown.candidate.target
        target = _text(engine, aim.id) if aim else None
        if aim is None or target is None or target.entry.version == (shown.target_version or aim.version):
            break
        if shown.target_gone or not shown.candidate.changes_target:
            break
    return shown, target


def linked(shown: Shown, names: dict[str, str]) -> list[tuple[str, str]]:
    """(id, name) of the memories a candidate rests on that are still here, its target first."""
    target = [SourceState(shown.candidate.target.id, "", False)] if shown.candidate.target else []
    ids = dict.fromkeys(each.id for each in (*target, *shown.sources))
    return [(id_, names[id_]) for id_ in ids if id_ in names]


def _after(engine: "Engine", each: Candidate, target: Text | None) -> Text | None:
    """The target as a yes would leave it, by the very rule that writes it; None where it becomes a memory of its own."""
    from engine.memory.candidates.drafts import rewritten

    if each.action is not Action.UPDATE or target is None:
        return None
    if target.entry.state(engine.clock.now_ms()) is State.EXPIRED:
        return None
    return Text(rewritten(target.entry, each, each.wording, engine.clock.zone()), each.body)


def _makes_entry(each: Candidate) -> bool:
    """Whether a yes needs the name for itself."""
    return each.action in (Action.ADD, Action.ELEVATE) or (each.action is Action.DELETE and each.replaces)


def _holders(engine: "Engine", candidates: Sequence[Candidate]) -> dict[Name, Entry]:
    """Active memories by scope and name, as far as candidates ask for those names; few are asked for one by one."""
    from engine.memory.listing import Filter

    names = {each.name for each in candidates if _makes_entry(each)}
    if len(names) == 1:
        entries: Iterable[Entry] = engine.listing.window(Filter(text=next(iter(names))))
    else:
        entries = engine.listing.window(Filter()) if names else ()
    return {(each.scope, each.scope_ref, each.name): each for each in entries if each.name in names}


def _held(engine: "Engine", each: Candidate, holders: dict[Name, Entry]) -> Entry | None:
    """The memory that has the name with other content; not the one that gives its place, nor one that says the same."""
    from engine.memory.candidates.wording import without_sources

    holder = holders.get((each.scope, each.scope_ref, each.name)) if _makes_entry(each) else None
    if holder is None or (each.target is not None and holder.id == each.target.id):
        return None
    if each.action is Action.DELETE or holder.description != each.description:
        return holder
    same = without_sources(engine.listing.body(holder.id)) == without_sources(each.body)
    return None if same else holder


def _text(engine: "Engine", entry_id: str) -> Text | None:
    try:
        return Text(engine.listing.entry(entry_id), engine.listing.body(entry_id))
    except NotFound:  # a source may be deleted while the candidate waits
        return None
