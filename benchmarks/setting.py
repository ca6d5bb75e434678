"""What every benchmark is told: how large, and where its homes may lie."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

QUICK_SIZE = 60
"""Memories of a home when only the running itself is looked at."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """``folder`` keeps the homes; ``quick`` wants a run of seconds whose figures mean little."""

    folder: Path
    quick: bool = False

    def either(self, full: T, quick: T) -> T:
        """The one of two sizes that is wanted."""
        return quick if self.quick else full
