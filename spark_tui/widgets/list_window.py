"""The part of a list that is looked at: one window of rows, the cursor, the scroll position; draws nothing."""

from spark_tui.widgets.rows import ListSource, Row, RowSource


class ListWindow:
    """Reads a source by windows of three pages and keeps the cursor on its key when the source changes.

    ``index`` and ``key`` are the cursor (key None when there are no rows), ``top`` the first row in view, ``page`` the
    rows the view has room for.
    """

    def __init__(self) -> None:
        self.source: RowSource = ListSource()
        self.count = 0
        self.index = 0
        self.key: str | None = None
        self.top = 0
        self.page = 1
        self._start = 0
        self._rows: list[Row] = []

    def row(self, index: int) -> Row | None:
        """The row at an index; reads one window around the view when it is not at hand, None beyond the end."""
        if not 0 <= index < self.count:
            return None
        if not self._start <= index < self._start + len(self._rows):
            self._start = max(0, min(self.top, index) - self.page)
            self._rows = list(self.source.rows(self._start, min(self.count, self._start + 3 * self.page)))
        at = index - self._start
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def go(self, index: int) -> None:
        """Put the cursor on an index and scroll as little as that takes."""
        self.index = index
        self.top = self._scrolled(self.top)
        found = self.row(index)
        self.key = found.key if found is not None else None

    def settle(self, source: RowSource) -> None:
        """Read the source anew: the cursor stays on its key and line, or on its index when the key has gone."""
        line = self.index - self.top
        self.source = source
        self.count = source.count()
        self.forget()
        found = source.index_of(self.key) if self.key is not None else None
        self.index = max(0, min(self.index if found is None else found, self.count - 1))
        self.top = self.index - line
        self.go(self.index)

    def to_top(self) -> None:
        """Forget the cursor: the next ``settle`` starts on the first row."""
        self.key, self.index, self.top = None, 0, 0

    def resize(self, page: int, placed: bool) -> None:
        """The view has room for ``page`` rows now; not ``placed`` yet, it starts as near to the first row as it can."""
        self.page = page
        self.top = self._scrolled(self.top if placed else 0)

    def forget(self) -> None:
        """Drop the rows at hand, so that they are read again."""
        self._start, self._rows = 0, []

    def _scrolled(self, top: int) -> int:
        """The top row nearest to ``top`` that keeps the cursor in view and no room unused."""
        top = max(min(top, self.index), self.index - self.page + 1)
        return max(0, min(top, self.count - self.page))
