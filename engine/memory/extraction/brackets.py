"""Finds the balanced brackets of a text in one pass, strings of JSON left alone; it never judges what they hold."""

import re
from dataclasses import dataclass
from typing import Final

_MARK: Final = re.compile(r'["\[\]{}]')
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_OPENER: Final = {"]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Brackets:
    """``closed``: the widest balanced stretches ``[start, end)``, in order; ``unclosed``: where the others open."""

    closed: tuple[tuple[int, int], ...]
    unclosed: tuple[int, ...]


class _Stack:
    """The brackets open at a point, and the widest stretches closed before it."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, int]] = []
        self.closed: list[tuple[int, int]] = []
        self._counts = {"[": 0, "{": 0}

    def open(self, bracket: str, at: int) -> None:
        self.opened.append((bracket, at))
        self._counts[bracket] += 1

    def close(self, opener: str, end: int) -> None:
        """End the nearest bracket of this kind, and those left open inside it; one that nothing opened is text."""
        while self._counts[opener]:
            bracket, start = self.opened.pop()
            self._counts[bracket] -= 1
            if bracket == opener:
                while self.closed and self.closed[-1][0] > start:
                    self.closed.pop()
                self.closed.append((start, end))
                return


def brackets(text: str) -> Brackets:
    """Every bracket of the text; quotes count only inside brackets, where a string without an end ends the search."""
    stack = _Stack()
    at = 0
    while found := _MARK.search(text, at):
        at = found.end()
        mark = found[0]
        if mark in "[{":
            stack.open(mark, found.start())
        elif mark in "]}":
            stack.close(_OPENER[mark], at)
        elif stack.opened:
            string = _STRING.match(text, found.start())
            if string is None:
                break
            at = string.end()
    return Brackets(tuple(stack.closed), tuple(start for _, start in stack.opened))


def end_of(text: str, start: int) -> int | None:
    """Where the bracket that opens at ``start`` ends, exclusive; None when it does not."""
    depth = 0
    at = start
    while found := _MARK.search(text, at):
        at = found.end()
        if found[0] == '"':
            string = _STRING.match(text, found.start())
            if string is None:
                return None
            at = string.end()
        else:
            depth += 1 if found[0] in "[{" else -1
            if depth == 0:
                return at
    return None
