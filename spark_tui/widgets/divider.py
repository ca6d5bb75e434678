"""A faint line between two panes, in the glyph set in use; nothing can be done with it."""

from textual.strip import Strip

from spark_tui.text.glyphs import glyphs
from spark_tui.widgets.paint import LineWidget


class Divider(LineWidget):
    """One column of the vertical glyph."""

    DEFAULT_CSS = "Divider { width: 1; height: 1fr; background: $background; color: $foreground; }"

    def render_line(self, y: int) -> Strip:
        """The same on every row."""
        return self.paint([("faint", glyphs().bar)])
