"""What every benchmark is told: how large, and where its homes may lie."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

QUICK_SIZE = 60
"""Memories of a home when only the running itself is looked at."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """``folder`` keeps the homes, of ``most`` memories at most; ``quick`` wants a run whose figures mean little."""

    folder: Path
    quick: bool = False
    most: int = 1_000_000

    def either(self, full: T, quick: T) -> T:
        """The one of two sizes that is wanted."""
        return quick if self.quick else full

    def sizes(self, *full: int) -> list[int]:
        """How many memories the homes shall have: each of the full sizes that is not too large."""
        return [QUICK_SIZE] if self.quick else [size for size in full if size <= self.most] or [self.most]
