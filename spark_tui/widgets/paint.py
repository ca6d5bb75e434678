"""Styled pieces → strips of the current theme; the one bridge between style names and what Textual draws."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from spark_tui.text.lines import Piece
from spark_tui.text.width import cells
from spark_tui.theme import Look, look


class LineWidget(Widget):
    """A widget that draws its own lines from pieces; ``paint`` puts them on the widget's background."""

    ALLOW_SELECT = False
    _ground: Color | None = None
    _look: Look | None = None

    def paint(self, pieces: Iterable[Piece], band: str = "") -> Strip:
        """One line as wide as the widget; ``band`` (``selection`` …) is a style laid under all of it."""
        return self.paint_to(self.size.width, pieces, band)

    def paint_to(self, width: int, pieces: Iterable[Piece], band: str = "") -> Strip:
        """One line of ``width`` cells: cut or padded."""
        if self._look is None or self._ground is None:
            self._look = look(self.app.theme)
            self._ground = self.rich_style.bgcolor or Color.default()
        return strip(pieces, width, self._look, self._ground, band)

    def notify_style_update(self) -> None:
        """The theme or a class changed: look the colours up again."""
        self._look = self._ground = None
        super().notify_style_update()


def strip(pieces: Iterable[Piece], width: int, theme: Look, ground: Color, band: str = "") -> Strip:
    """One line of ``width`` cells on a background colour, in as few segments as it takes: each one costs bytes."""
    base = theme[band] if band else None
    segments: list[Segment] = []
    text, style, used = "", _style(theme["text"], base, band == "selection", ground), 0
    for name, piece in pieces:
        own = _style(theme[name], base, band == "selection", ground)
        used += cells(piece)
        if own is style or (not own.underline and not style.underline and not piece.strip(" ")):
            text += piece
        else:
            if text:
                segments.append(Segment(text, style))
            text, style = piece, own
    if used < width and (style.underline or style.reverse) and base is None:
        segments.append(Segment(text, style))
        text, style = "", _style(theme["text"], base, True, ground)
    if text or used < width:
        segments.append(Segment(text + " " * (width - used), style))
    line = Strip(segments, max(used, width))
    return line.crop(0, width) if used > width else line


@lru_cache(maxsize=1024)
def _style(piece: Style, band: Style | None, recolor: bool, ground: Color) -> Style:
    """A piece's style on the ground or a band; with ``recolor`` only its attributes survive, so the contrast holds."""
    below = Style(bgcolor=ground)
    if band is None:
        return below + piece
    colored = Style() if recolor else Style(color=piece.color)
    return below + band + colored + _attributes(piece)


def _attributes(style: Style) -> Style:
    return Style(bold=style.bold or None, underline=style.underline or None, italic=style.italic or None)


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> list[Piece]:
    """Pieces at both ends of a line of ``width`` cells."""
    used = sum(cells(text) for _style, text in (*left, *right))
    return [*left, ("text", " " * max(width - used, 0)), *right]
