"""Text as a terminal sees it: widths, cuts, marks, dates, two languages; imports neither Textual nor the engine."""
