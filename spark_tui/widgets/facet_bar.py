"""Facets with counts as a small tree; what a facet means is the screen's business."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from spark_tui.text.fit import fit
from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Piece
from spark_tui.text.width import cells
from spark_tui.widgets.motion import Motion
from spark_tui.widgets.paint import LineWidget


@dataclass(frozen=True, slots=True)
class Facet:
    """One line: a heading, or something to choose with its count (``12`` or ``12/200`` against a quota).

    ``depth`` indents; a facet followed by deeper ones can be folded. ``style`` is a style name for the label.
    """

    key: str
    label: str
    count: str = ""
    depth: int = 0
    heading: bool = False
    selected: bool = False
    folded: bool = False
    style: str = "text"


class FacetBar(LineWidget, can_focus=True):
    """The facets, one a line; the cursor follows its facet's key, folding is remembered by key."""

    CHOOSES = True
    DEFAULT_CSS = "FacetBar { height: 1fr; width: 24; background: $background; color: $foreground; }"

    class Chosen(Message):
        """A person switched a facet on or off; the screen answers with ``show``."""

        def __init__(self, bar: "FacetBar", key: str) -> None:
            super().__init__()
            self.bar, self.key = bar, key

        @property
        def control(self) -> "FacetBar":
            """The bar, for ``@on(…, "#selector")``."""
            return self.bar

    def __init__(self, facets: Sequence[Facet] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._folds: dict[str, bool] = {}
        self._facets: tuple[Facet, ...] = ()
        self._lines: list[Facet] = []
        self._at = 0
        self._top = 0
        self.show(facets)

    @property
    def cursor_key(self) -> str | None:
        """The key under the cursor; None when nothing can be chosen."""
        return self._lines[self._at].key if self._lines and not self._lines[self._at].heading else None

    def show(self, facets: Sequence[Facet]) -> None:
        """Show these facets; the cursor stays on its key, and only an actual change is painted."""
        if tuple(facets) == self._facets:
            return
        key = self.cursor_key
        self._facets = tuple(facets)
        self._lay(key)

    def move(self, motion: Motion) -> None:
        """Follow a movement key; left and right fold and unfold, choosing switches the facet under the cursor."""
        if not self._lines:
            return
        if motion is Motion.CHOOSE:
            if self.cursor_key is not None:
                self.post_message(self.Chosen(self, self.cursor_key))
        elif motion in (Motion.LEFT, Motion.RIGHT):
            self._fold(motion is Motion.LEFT)
        else:
            wanted = motion.target(self._at, len(self._lines), max(self.size.height, 1))
            self._go(self._selectable(wanted, -1 if wanted < self._at else 1))

    def render_line(self, y: int) -> Strip:
        """One facet, its label cut before its count."""
        at = self._top + y
        if at >= len(self._lines):
            return self.paint(())
        facet = self._lines[at]
        cursor = at == self._at and not facet.heading
        band = ("selection" if self.has_focus else "") if cursor else ""
        return self.paint(self._pieces(facet, self.size.width, cursor), band)

    def on_focus(self) -> None:
        """Only the cursor's line looks different with the focus."""
        self.refresh(Region(0, self._at - self._top, self.size.width, 1))

    on_blur = on_focus

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in view."""
        self._scroll()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click chooses the facet."""
        at = self._top + event.y
        if at < len(self._lines) and not self._lines[at].heading:
            self._go(at)
            self.move(Motion.CHOOSE)

    def _pieces(self, facet: Facet, width: int, cursor: bool) -> Iterator[Piece]:
        marks = glyphs()
        if facet.heading:
            yield "dim", fit(facet.label, width)
            return
        yield "accent", marks.cursor if cursor and self.has_focus else " "
        yield "marked", marks.chosen if facet.selected else " "
        yield "dim", "  " * facet.depth + self._branch(facet) + " "
        room = width - 5 - 2 * facet.depth
        count = facet.count if cells(facet.count) + 4 <= room else ""
        style = "strong" if facet.selected else facet.style
        yield style, fit(facet.label, room - cells(count) - (1 if count else 0))
        yield "dim", (" " if count else "") + count + " "

    def _branch(self, facet: Facet) -> str:
        if not self._has_children(facet):
            return " "
        return glyphs().closed if self._is_folded(facet) else glyphs().opened

    def _is_folded(self, facet: Facet) -> bool:
        return self._folds.get(facet.key, facet.folded)

    def _has_children(self, facet: Facet) -> bool:
        at = self._facets.index(facet) + 1
        return at < len(self._facets) and self._facets[at].depth > facet.depth and not facet.heading

    def _lay(self, key: str | None) -> None:
        """The lines that are unfolded, with the cursor on ``key``, its nearest visible place, or the first facet."""
        self._lines = list(self._unfolded())
        at = next((at for at, facet in enumerate(self._lines) if facet.key == key), min(self._at, len(self._lines) - 1))
        self._at = self._selectable(max(at, 0), 1) if self._lines else 0
        self._scroll()
        self.refresh()

    def _unfolded(self) -> Iterator[Facet]:
        hidden_below: int | None = None
        for facet in self._facets:
            if hidden_below is not None and facet.depth > hidden_below:
                continue
            hidden_below = facet.depth if not facet.heading and self._is_folded(facet) else None
            yield facet

    def _fold(self, fold: bool) -> None:
        """Fold the branch under the cursor; on a leaf or folded branch, go to its parent."""
        facet = self._lines[self._at]
        if self._has_children(facet) and self._is_folded(facet) != fold:
            self._folds[facet.key] = fold
            self._lay(facet.key)
        elif fold and facet.depth:
            parent = next(at for at in range(self._at - 1, -1, -1) if self._lines[at].depth < facet.depth)
            self._go(parent)

    def _selectable(self, at: int, step: int) -> int:
        """The nearest line from ``at`` in the direction of ``step`` that is no heading, else in the other one."""
        for way in (step, -step):
            found = at
            while 0 <= found < len(self._lines):
                if not self._lines[found].heading:
                    return found
                found += way
        return at

    def _go(self, at: int) -> None:
        before, top = self._at, self._top
        self._at = at
        self._scroll()
        if self._top != top:
            self.refresh()
        elif at != before:
            self.refresh(*(Region(0, each - top, self.size.width, 1) for each in (before, at)))

    def _scroll(self) -> None:
        height = max(self.size.height, 1)
        above = self._at - 1 if self._at and self._lines[self._at - 1].heading else self._at
        self._top = max(0, min(max(min(self._top, above), self._at - height + 1), len(self._lines) - height))
