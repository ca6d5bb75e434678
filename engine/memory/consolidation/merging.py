"""Joins entries that say the same: one is kept and takes in the texts of the others, which are invalidated (02 §8).

No text is lost and none is a model's: the kept entry keeps its own words, those of the others follow below headings.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from engine.clock import Clock
from engine.config import Settings
from engine.errors import NotFound, QuotaExceeded, SensitiveContent, SparkError, ValidationFailed, VersionConflict
from engine.memory.candidates.wording import speaks_chinese, with_merged
from engine.memory.checks import check_content
from engine.memory.commit import MERGE, Committer, Pending
from engine.memory.consolidation.alike import Alike
from engine.memory.consolidation.model import Merge, Merged, Skipped, Snapshot
from engine.memory.entities import cleaned
from engine.memory.evolution.outcome import may_change_by_itself
from engine.memory.model import AuthorRole, Entry, MemoryType, State
from engine.memory.store import Held, MemoryStore
from engine.storage.transaction import FileMoved

REASONS: Final = {
    VersionConflict.code: "moved",
    NotFound.code: "moved",
    FileMoved.code: "moved",
    SensitiveContent.code: "sensitive",
    ValidationFailed.code: "too_long",
    QuotaExceeded.code: "quota",
}
# More duplicates of one entry than these in one answer are rather a confused model.
MERGED_MAX: Final = 5
_log = logging.getLogger(__name__)


class Merger:
    """Carries merges out one by one, each as one operation group that can be undone."""

    def __init__(self, committer: Committer, store: MemoryStore, clock: Clock, settings: Settings) -> None:
        self._committer = committer
        self._store = store
        self._clock = clock
        self._settings = settings

    def merge(self, wanted: Merge, known: Mapping[str, Snapshot], alike: Alike) -> list[Merged | Skipped]:
        """Do it if every entry is still what the model was shown; whatever stands in the way leaves all as they are.

        Those that share nothing with the one that is kept, or are more than one answer may join, are left and told.
        Raises what concerns every merge: ``StoreBusy`` or an I/O error.
        """
        keep, ids = _kept_first(wanted, known)
        degrees = {each: alike.floor_of(known[keep], known[each]) for each in ids}
        fitting = [each for each in ids if degrees[each] >= 1 and _fits(known[keep].entry, known[each].entry)]
        likest = set(sorted(fitting, key=lambda each: -degrees[each])[:MERGED_MAX])
        done: list[Merged | Skipped] = []
        if likest:
            done.append(self._done(keep, [each for each in fitting if each in likest], known))
        for reason, left in (
            ("unlike", [each for each in ids if each not in fitting]),
            ("too_many", [each for each in fitting if each not in likest]),
        ):
            done += [Skipped(MERGE, reason, (keep, *left))] if left else []
        return done

    def _done(self, keep: str, ids: list[str], known: Mapping[str, Snapshot]) -> Merged | Skipped:
        try:
            return self._store.retried(lambda: self._merged(known[keep], [known[each] for each in ids]))
        except SparkError as error:
            if error.code not in REASONS:
                raise
            _log.info("merge of %s into %s not done: %s", ", ".join(ids), keep, error.code)
            return Skipped(MERGE, REASONS[error.code], (keep, *ids))

    def _merged(self, keep: Snapshot, others: list[Snapshot]) -> Merged:
        kept, taken = self._held(keep), [self._held(each) for each in others]
        after, body = self._joined(kept, taken)
        check_content(after, body)
        author = AuthorRole.CONSOLIDATION if may_change_by_itself(kept.entry) else kept.entry.author_role
        pending = self._prepared(kept, after, body, author)
        now = self._clock.now_ms()
        for each in taken:
            gone = replace(each.entry, invalid_at=now, superseded_by=kept.entry.id)
            pending += self._prepared(each, gone, each.body, AuthorRole.CONSOLIDATION)
        operation = self._store.operation()
        self._committer.commit(operation, pending)
        return Merged(kept.entry.id, tuple(each.entry.id for each in taken), operation)

    def _prepared(self, held: Held, after: Entry, body: str, author: AuthorRole) -> list[Pending]:
        """The kept words stay a person's where they were; who joined them is told in the feed."""
        pending = self._store.prepared(held, after, body, MERGE, author)
        return [replace(each, by=AuthorRole.CONSOLIDATION) for each in pending]

    def _held(self, seen: Snapshot) -> Held:
        """The entry under the lock, if it is still what the model was shown."""
        held = self._store.hold(seen.entry.id)
        if held.entry.version != seen.entry.version or held.entry.state(self._clock.now_ms()) is not State.ACTIVE:
            raise VersionConflict(f"{seen.entry.id} has changed meanwhile", "it is looked at again next time")
        return held

    def _joined(self, kept: Held, taken: list[Held]) -> tuple[Entry, str]:
        chinese = speaks_chinese(str(self._settings.get("ui.language")), f"{kept.entry.description}\n{kept.body}")
        body, entry = kept.body, kept.entry
        for each in taken:
            body = with_merged(body, each.entry, each.body, chinese=chinese)
            entry = replace(
                entry,
                entities=cleaned((*entry.entities, *each.entry.entities)),
                links=tuple(dict.fromkeys((*entry.links, *each.entry.links))),
            )
        return entry, body


def _kept_first(wanted: Merge, known: Mapping[str, Snapshot]) -> tuple[str, list[str]]:
    """Which entry is kept: the model's choice, unless it is a model's text and one of the others is somebody's own."""
    everyone = (wanted.keep, *wanted.ids)
    own = [each for each in everyone if not may_change_by_itself(known[each].entry)]
    keep = wanted.keep if wanted.keep in own or not own else max(own, key=lambda each: _newest(known[each].entry))
    ids = [each for each in everyone if each != keep]
    return keep, sorted(ids, key=lambda each: (known[each].entry.created_at, each))


def _newest(entry: Entry) -> tuple[int, str]:
    return entry.updated_at, entry.id


def _fits(keep: Entry, other: Entry) -> bool:
    """A rule is always injected, another memory is not; and what ends on a day must not go on within what has no end."""
    rules = (keep.type is MemoryType.FEEDBACK, other.type is MemoryType.FEEDBACK)
    return rules[0] == rules[1] and keep.valid_until == other.valid_until
