"""Puts others' text between tags it cannot forge, so that a model can tell what is data from what it is told."""

import hashlib
from collections.abc import Mapping
from typing import Final

_DIGITS: Final = 8


def seal_of(*texts: str) -> str:
    """Eight digits that occur in none of the texts and that nobody who writes one of them can foresee."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass"))
    while any(digest.hexdigest()[:_DIGITS] in text for text in texts):
        digest.update(b"again")
    return digest.hexdigest()[:_DIGITS]


def fenced(parts: Mapping[str, str], seal: str) -> str:
    """Each part that is not blank between ``<name-seal>`` and ``</name-seal>``; the seal must occur in none of them."""
    return "\n\n".join(f"<{name}-{seal}>\n{text}\n</{name}-{seal}>" for name, text in parts.items() if text.strip())
