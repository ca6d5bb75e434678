"""Sheets that rise from the bottom line: they ask, show or let choose, and leave the screen above as it was."""
