"""Ways to ask for the same thing, best first; remembers which of them a server refused, per model, in memory only."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.providers.reading import items, mapping

COMPLAINING: Final = frozenset({400, 422, 500, 501})
"""Statuses under which servers say that they do not know a field; 500 is llama.cpp's for a schema it cannot compile."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Something a request may ask for, the words by which a refusal names it, and the ways to ask."""

    name: str
    words: tuple[str, ...]
    ways: tuple[str, ...]


class Ways:
    """Where each wish stands on its way down; steps only for requests that were sent the way they now are."""

    def __init__(self, *wishes: Wish) -> None:
        self._wishes: Final = wishes
        self._at = dict.fromkeys((wish.name for wish in wishes), 0)

    def now(self) -> dict[str, str]:
        """The way of every wish at this moment."""
        return {wish.name: wish.ways[self._at[wish.name]] for wish in self._wishes}

    def step(self, sent: Mapping[str, str], used: Collection[str], told: str) -> str | None:
        """Give up the way of the wish a refusal names first; answers its name, or None when there is nothing to change.

        Two requests that were refused at once give up one way together, not two.
        """
        low = told.casefold()
        named = [(at, wish) for wish in self._wishes if wish.name in used and (at := _first(low, wish.words)) >= 0]
        for _at, wish in sorted(named, key=lambda each: each[0]):
            place = wish.ways.index(sent[wish.name]) + 1
            if place < len(wish.ways):
                self._at[wish.name] = max(self._at[wish.name], place)
                return wish.name
        return None


def complaint(status: int, body: object, raw: str) -> str:
    """What a refusal says about the request; without the request itself, which some servers send back beside it."""
    if status not in COMPLAINING:
        return ""
    error = mapping(body).get("error")
    told = error if isinstance(error, dict) else mapping(body)
    said = [told.get("param"), told.get("code"), told.get("message"), error, told.get("detail")]
    for each in items(told.get("detail")):
        said += [*items(mapping(each).get("loc")), mapping(each).get("msg")]
    found = " ".join(each for each in said if isinstance(each, str))
    return found or raw


def _first(low: str, words: Iterable[str]) -> int:
    return min((at for word in words if (at := low.find(word)) >= 0), default=-1)
