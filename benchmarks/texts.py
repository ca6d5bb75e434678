"""Made-up memories in Chinese and English, varied like real ones and the same at every run; reads no one's data.

Our own sentences (``script_means.tsv``) with a third of their words replaced by invented ones, common and rare as words
are in any language, so that full text has long and short lists to merge.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from pathlib import Path

from engine.memory.model import MemoryType, slug

TYPES = {MemoryType.FEEDBACK: 15, MemoryType.USER: 25, MemoryType.PROJECT: 35, MemoryType.REFERENCE: 25}
WORDS = 4_000
REPLACED = 0.34
FAR_DAY = date(2099, 12, 31)
_PARTS = re.compile("[\u4e00-\u9fff]{1,2}|[^\u4e00-\u9fff]+")
_STARTS = (*"bdfgklmnprstvz", "br", "dr", "gr", "kl", "pl", "st", "tr")
_MIDDLES = (*"aeiou", "ai", "ea", "io", "ou")


@dataclass(frozen=True, slots=True)
class Text:
    """What one invented memory says."""

    name: str
    description: str
    body: str
    type: MemoryType
    entities: tuple[str, ...]
    valid_until: date | None


class Writer:
    """Writes memories and questions; the same seed writes the same ones."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        rows = [line.split("\t") for line in _sentences().splitlines()]
        self._english = [row[1] for row in rows if row[0] == "statement"]
        self._chinese = [row[2] for row in rows if row[0] == "statement"]
        characters = sorted({c for text in self._chinese for c in text if "\u4e00" <= c <= "\u9fff"})
        self._words = [self._word() for _ in range(WORDS)]
        self._pairs = ["".join(self._random.sample(characters, 2)) for _ in range(WORDS)]
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(WORDS)))  # Zipf

    def memories(self, count: int) -> Iterator[Text]:
        """That many memories with different names."""
        for number in range(count):
            yield self._memory(number)

    def question(self) -> str:
        """What someone would look for: a few of the words that memories are made of."""
        if self._random.random() < 0.5:
            return " ".join(self._in_english().split()[: self._random.randint(3, 8)])
        return self._in_chinese()[: self._random.randint(5, 14)]

    def _memory(self, number: int) -> Text:
        pick = self._random
        words = self._some(self._words, 2) if pick.random() < 0.7 else self._some(self._pairs, 2)
        return Text(
            name=slug(f"{'-'.join(words)}-{number}"),
            description=self._sentence()[:200],
            body="\n\n".join(self._sentence() for _ in range(pick.choice((0, 0, 1, 3, 6)))),
            type=pick.choices(list(TYPES), list(TYPES.values()))[0],
            entities=tuple(dict.fromkeys(self._some(self._words[:300], pick.choice((0, 0, 1, 2))))),
            valid_until=FAR_DAY if pick.random() < 0.05 else None,
        )

    def _sentence(self) -> str:
        return self._in_english() if self._random.random() < 0.5 else self._in_chinese()

    def _in_english(self) -> str:
        return " ".join(self._replaced(self._random.choice(self._english).split(), self._words))

    def _in_chinese(self) -> str:
        return "".join(self._replaced(_PARTS.findall(self._random.choice(self._chinese)), self._pairs))

    def _replaced(self, parts: Sequence[str], others: Sequence[str]) -> Iterator[str]:
        for part in parts:
            yield self._some(others, 1)[0] if self._random.random() < REPLACED else part

    def _some(self, words: Sequence[str], count: int) -> list[str]:
        return self._random.choices(words, cum_weights=self._weights[: len(words)], k=count)

    def _word(self) -> str:
        pick = self._random
        return "".join(pick.choice(_STARTS) + pick.choice(_MIDDLES) for _ in range(pick.choice((2, 2, 3))))


def _sentences() -> str:
    return Path(__file__).with_name("script_means.tsv").read_text("utf-8")
