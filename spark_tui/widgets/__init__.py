"""Parts of screens on Textual's line API; they know style names and plain rows, never the engine."""
