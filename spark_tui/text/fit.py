"""Cut, pad and wrap by cells; never splits a wide character or what a reader takes for one character."""

from typing import Literal

from spark_tui.text.glyphs import glyphs
from spark_tui.text.width import cells, clusters

Align = Literal["left", "right", "center"]
_JOINER = "\u200d"
_NO_START = frozenset("，。、；：？！）】》」』〉〕…—～·,.;:?!)]}%’”")
_NO_END = frozenset("（【《「『〈〔([{‘“")


def truncate(text: str, width: int, mark: str | None = None) -> str:
    """The text in at most ``width`` cells; when it is cut it ends with ``mark`` (or the ellipsis of the set)."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    ending = glyphs().ellipsis if mark is None else mark
    if cells(ending) > width:
        ending = ""
    return text[: _prefix(text, width - cells(ending))].rstrip(" " + _JOINER) + ending


def truncate_middle(text: str, width: int) -> str:
    """Like ``truncate`` but keeps both ends: for paths, whose last part says most."""
    if cells(text) <= width:
        return text
    ending = glyphs().ellipsis
    room = width - cells(ending)
    if room < 4:
        return truncate(text, width)
    head = text[: _prefix(text, room // 3)].rstrip(_JOINER)
    return head + ending + text[_suffix(text, room - cells(head)) :].lstrip(_JOINER)


def fit(text: str, width: int, align: Align = "left") -> str:
    """The text in exactly ``width`` cells: cut or padded with spaces."""
    # A loose joiner at an edge would swallow the padding beside it in every width table.
    cut = truncate(text.strip(_JOINER), max(width, 0)).strip(_JOINER)
    spare = max(width, 0) - cells(cut)
    if align == "left":
        return cut + " " * spare
    if align == "right":
        return " " * spare + cut
    return " " * (spare // 2) + cut + " " * (spare - spare // 2)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` cells (at least 2), broken at spaces and beside CJK characters."""
    return [text[start:end] for start, end in breaks(text, width)]


def breaks(text: str, width: int, verbatim: bool = False) -> list[tuple[int, int]]:
    """Where ``wrap`` cuts, as (start, end) offsets; ``verbatim`` keeps all spaces and breaks only at the edge."""
    width = max(width, 2)
    if cells(text) <= width:
        return [(0, len(text))]
    return _Breaker(text, width, verbatim).rows()


def _prefix(text: str, room: int) -> int:
    """The longest whole-cluster prefix of at most ``room`` cells, as an offset."""
    used = 0
    for start, _end, wide in clusters(text):
        used += wide
        if used > room:
            return start
    return len(text)


def _suffix(text: str, room: int) -> int:
    """Where the longest whole-cluster suffix of at most ``room`` cells starts."""
    used = 0
    for _start, end, wide in reversed(clusters(text)):
        used += wide
        if used > room:
            return end
    return 0


class _Breaker:
    """One greedy pass over the clusters of a text."""

    def __init__(self, text: str, width: int, verbatim: bool) -> None:
        self.text, self.width, self.verbatim = text, width, verbatim
        self.pieces = clusters(text)
        self.done: list[tuple[int, int]] = []

    def rows(self) -> list[tuple[int, int]]:
        """The rows of the text; linear: a cluster is looked at again only for the word that moved down."""
        first = index = used = 0
        last_break = 0
        while index < len(self.pieces):
            wide = self.pieces[index].cells
            if index > first and self._may_break(index):
                last_break = index
            if used + wide > self.width and index > first:
                cut = last_break if last_break > first and not self.verbatim else index
                self._emit(first, cut)
                first = index = last_break = self._skip_spaces(cut)
                used = 0
                continue
            used += wide
            index += 1
        if first < len(self.pieces) or not self.done:
            self._emit(first, len(self.pieces))
        return self.done

    def _emit(self, first: int, last: int) -> None:
        end = self.pieces[last - 1].end if last > first else self.pieces[first].start
        start = self.pieces[first].start
        if not self.verbatim:
            end = start + len(self.text[start:end].rstrip(" "))
        self.done.append((start, end))

    def _skip_spaces(self, index: int) -> int:
        while not self.verbatim and index < len(self.pieces) and self._at(index) == " ":
            index += 1
        return index

    def _at(self, index: int) -> str:
        piece = self.pieces[index]
        return self.text[piece.start : piece.end]

    def _may_break(self, index: int) -> bool:
        """Whether a line may end before this cluster: after a space or dash, or beside a wide one."""
        before, here = self._at(index - 1), self._at(index)
        if before == " " or here == " ":
            return True
        if here in _NO_START or before in _NO_END:
            return False
        return self.pieces[index].cells > 1 or self.pieces[index - 1].cells > 1 or before in ("-", "/")
