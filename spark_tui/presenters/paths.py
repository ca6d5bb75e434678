"""Paths as people write them; never touches the disk."""

from pathlib import Path


def short_path(path: Path) -> str:
    """The path with the person's home written as ``~``."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
