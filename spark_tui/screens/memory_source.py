"""Where the rows of the memory list come from: the store by window, or the hits of one search."""

from collections.abc import Sequence
from typing import Protocol

from engine.errors import SparkError
from engine.memory.listing import Filter, Listing, Order
from engine.memory.model import Entry
from engine.memory.retrieval import Hit, SearchResult
from spark_tui.presenters.memory_rows import Reasons, search_words
from spark_tui.screens.memory_columns import hit_row, row_of
from spark_tui.text.i18n import _
from spark_tui.widgets.rows import Row

NEAR = 150


class MemorySource(Protocol):
    """A row source that also knows the entries behind its rows."""

    def count(self) -> int:
        """How many rows there are."""
        ...

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """The rows ``start`` to ``stop``."""
        ...

    def index_of(self, key: str) -> int | None:
        """Where an id is."""
        ...

    def keys(self, start: int, stop: int) -> Sequence[str]:
        """The ids of the rows ``start`` to ``stop``."""
        ...

    def entry(self, key: str) -> Entry | None:
        """The entry of an id among the rows that were looked at."""
        ...

    def reasons(self, key: str) -> Reasons | None:
        """Why a hit was found; None for what no search found."""
        ...


class StoreSource:
    """One state of the store under one filter; make a new one when the store has changed.

    A window that cannot be read is empty and its error is kept in ``failure``: drawing a list must never end the program.
    """

    def __init__(self, listing: Listing, wanted: Filter, now_ms: int) -> None:
        self._listing = listing
        self._wanted = wanted
        self._now_ms = now_ms
        self._count = listing.count(wanted)
        self._seen: dict[str, Entry] = {}
        self._places: dict[str, int] = {}
        self._near: tuple[int, list[Row]] = (0, [])
        self._ids: list[str] | None = None
        self.failure: SparkError | None = None

    def look_around(self, index: int, key: str | None) -> None:
        """Read the rows around an index, and find where a key is now; may be called on a thread before the list is shown."""
        start = max(index - NEAR, 0)
        self._near = (start, self._read(start, start + 2 * NEAR))
        if key is not None and key not in self._places:
            place = self.index_of(key)
            if place is not None:
                start = max(place - NEAR, 0)
                self._near = (start, self._read(start, start + 2 * NEAR))

    def count(self) -> int:
        """How many entries the filter left when this was made."""
        return self._count

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """One window of the list, from what was read around the cursor or else from the store."""
        first, near = self._near
        if first <= start and stop <= first + len(near):
            return near[start - first : stop - first]
        return self._read(start, stop)

    def index_of(self, key: str) -> int | None:
        """Where an id is: where it was seen, or else looked for in the whole list."""
        if key in self._places:
            return self._places[key]
        ids = self._all_ids()
        return ids.index(key) if key in ids else None

    def keys(self, start: int, stop: int) -> Sequence[str]:
        """The ids of a window."""
        first, near = self._near
        if first <= start and stop <= first + len(near):
            return [row.key for row in near[start - first : stop - first]]
        return self._all_ids()[start:stop]

    def entry(self, key: str) -> Entry | None:
        """The entry of an id that was in a window."""
        return self._seen.get(key)

    def reasons(self, key: str) -> Reasons | None:
        """Nothing was searched."""
        return None

    def _read(self, start: int, stop: int) -> list[Row]:
        try:
            entries = self._listing.window(self._wanted, start, stop - start)
        except SparkError as error:
            self.failure = error
            return []
        self._seen.update((entry.id, entry) for entry in entries)
        self._places.update((entry.id, start + at) for at, entry in enumerate(entries))
        by_creation = self._wanted.order is Order.CREATED
        return [row_of(entry, self._now_ms, by_creation) for entry in entries]

    def _all_ids(self) -> list[str]:
        if self._ids is None:
            self._ids = self._listing.ids(self._wanted)
        return self._ids


class FoundSource:
    """The hits of one search, best first, then what is related to them, then what holds the typed text.

    While a word is half typed no word matches: then what holds the text comes before what is merely near in meaning.
    """

    def __init__(
        self, query: str, result: SearchResult, others: Sequence[Entry], now_ms: int, with_reasons: bool
    ) -> None:
        self._reasons = {hit.entry.id: reasons_of(hit) for hit in result.hits}
        hits = [*(hit.entry for hit in result.hits), *result.related]
        by_word = any(hit.fts_rank is not None for hit in result.hits)
        self._entries = {entry.id: entry for entry in ([*hits, *others] if by_word else [*others, *hits])}
        self._order = list(self._entries)
        words = search_words(query)
        related = {entry.id for entry in result.related}

        def row(entry: Entry) -> Row:
            why = self._reasons.get(entry.id) or (_("related") if entry.id in related else _("text"))
            return hit_row(entry, now_ms, words, why, with_reasons)

        self._rows = [row(entry) for entry in self._entries.values()]

    def count(self) -> int:
        """How many were found."""
        return len(self._rows)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """Rows that are at hand already."""
        return self._rows[start:stop]

    def index_of(self, key: str) -> int | None:
        """The place of an id among the hits."""
        return self._order.index(key) if key in self._entries else None

    def keys(self, start: int, stop: int) -> Sequence[str]:
        """Their ids."""
        return self._order[start:stop]

    def entry(self, key: str) -> Entry | None:
        """One of the hits."""
        return self._entries.get(key)

    def reasons(self, key: str) -> Reasons | None:
        """Why a hit was found; None for a related entry."""
        return self._reasons.get(key)


def reasons_of(hit: Hit) -> Reasons:
    """The numbers of a hit for the screens."""
    return Reasons(hit.fts_rank, hit.vector_rank, hit.rrf, hit.decay, hit.entry.confidence, hit.score)
