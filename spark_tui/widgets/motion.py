"""The movements every list and page understands, whatever keys they are bound to."""

from enum import StrEnum
from typing import Protocol, runtime_checkable


class Motion(StrEnum):
    """Where to go; the values are the ends of the ``move.…`` action ids."""

    UP = "up"
    DOWN = "down"
    TOP = "top"
    BOTTOM = "bottom"
    HALF_UP = "half-up"
    HALF_DOWN = "half-down"
    PAGE_UP = "page-up"
    PAGE_DOWN = "page-down"
    LEFT = "left"
    RIGHT = "right"
    CHOOSE = "choose"

    def target(self, index: int, count: int, page: int) -> int:
        """The index of ``count`` rows this motion leads to from ``index``, a page being ``page`` rows; clamped."""
        half = max(page // 2, 1)
        step = {
            Motion.UP: -1,
            Motion.DOWN: 1,
            Motion.TOP: -count,
            Motion.BOTTOM: count,
            Motion.HALF_UP: -half,
            Motion.HALF_DOWN: half,
            Motion.PAGE_UP: -max(page, 1),
            Motion.PAGE_DOWN: max(page, 1),
        }.get(self, 0)
        return max(0, min(index + step, count - 1))


@runtime_checkable
class Movable(Protocol):
    """A widget the movement keys act on while it has the focus."""

    def move(self, motion: Motion) -> None:
        """Follow one motion; one that makes no sense here does nothing."""
        ...
