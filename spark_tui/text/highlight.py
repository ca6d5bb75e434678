"""Where searched words occur in a text as it is shown; decides nothing about what matches (that is the engine's)."""

from collections.abc import Iterable

from spark_tui.text.safe import one_line


def occurrences(text: str, words: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Ascending, merged (start, end) offsets of every word in ``text``, ignoring case; empty words match nothing."""
    folded, origin = _folded(text)
    found: list[tuple[int, int]] = []
    for word in words:
        needle = one_line(word).casefold()
        at = folded.find(needle) if needle else -1
        while at >= 0:
            found.append((origin[at], origin[at + len(needle) - 1] + 1))
            at = folded.find(needle, at + len(needle))
    return _merged(sorted(found))


def _folded(text: str) -> tuple[str, list[int]]:
    """The case-folded text and, for each of its characters, the offset it came from (``ß`` folds to two)."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded, list(range(len(text)))
    parts = [char.casefold() for char in text]
    return "".join(parts), [index for index, part in enumerate(parts) for _char in part]


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
