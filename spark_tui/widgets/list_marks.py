"""Which rows of a list a person marked, with an optional open range; never marks a row that is not listed."""

from spark_tui.widgets.rows import RowSource

_FEW = 200


class Marks:
    """Marked keys over a source; a range runs from its anchor to the cursor until it is closed."""

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self._keys: set[str] = set()
        self._anchor: str | None = None
        self._anchor_index = 0

    @property
    def ranging(self) -> bool:
        """Whether a range is open."""
        return self._anchor is not None

    def has(self, key: str, index: int, cursor: int) -> bool:
        """Whether the row of that key at ``index`` counts as marked."""
        if key in self._keys:
            return True
        return self.ranging and min(self._anchor_index, cursor) <= index <= max(self._anchor_index, cursor)

    def all(self, cursor: int) -> frozenset[str]:
        """Every marked key, an open range included."""
        return frozenset(self._keys | self._range(cursor))

    def ordered(self, cursor: int) -> tuple[str, ...]:
        """Every marked key in the order of the source."""
        keys = self.all(cursor)
        if len(keys) > _FEW:
            return tuple(key for key in self._source.keys(0, self._source.count()) if key in keys)
        placed = {key: index for key in keys if (index := self._source.index_of(key)) is not None}
        return tuple(sorted(placed, key=placed.__getitem__))

    def toggle(self, key: str) -> None:
        """Mark a key, or take its mark away."""
        self._keys ^= {key}

    def toggle_all(self) -> None:
        """Mark every key of the source; none when all are."""
        everything = set(self._source.keys(0, self._source.count()))
        self._keys = set() if everything <= self._keys else everything

    def toggle_range(self, cursor: int) -> None:
        """Open a range at the cursor, or close it and keep its rows marked."""
        if self.ranging:
            self._keys |= self._range(cursor)
            self._anchor = None
        else:
            self._anchor_index = cursor
            self._anchor = next(iter(self._source.keys(cursor, cursor + 1)), None)

    def clear(self) -> bool:
        """Drop the open range, else every mark; False when there was neither."""
        if self.ranging:
            self._anchor = None
            return True
        had = bool(self._keys)
        self._keys = set()
        return had

    def rebase(self, source: RowSource) -> None:
        """Other rows are listed now: marks of rows that left are dropped, so that no verb acts on what is not seen."""
        self._source = source
        if len(self._keys) > _FEW:
            self._keys &= set(source.keys(0, source.count()))
        else:
            self._keys = {key for key in self._keys if source.index_of(key) is not None}
        if self._anchor is not None:
            index = source.index_of(self._anchor)
            self._anchor, self._anchor_index = (self._anchor, index) if index is not None else (None, 0)

    def _range(self, cursor: int) -> set[str]:
        if not self.ranging:
            return set()
        first, last = sorted((self._anchor_index, cursor))
        return set(self._source.keys(first, last + 1))
