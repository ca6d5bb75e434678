"""The sections a confirmation or a merge appends to a body, in the person's language, and how they come off again."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from engine.memory.candidates.model import Proposal
from engine.memory.model import Entry, slug
from engine.memory.sensitive.scan import redact
from engine.memory.transfer.sources import shortened

ELEVATED: Final = ("## Elevated from", "## 升华来源")
MERGED: Final = ("## Merged: {name}", "## 已合并：{name}")
_SOURCES = re.compile(rf"(?:\A|\n)\s*(?:{'|'.join(ELEVATED)})[ \t]*(?:\n+(?:[ \t]*\n|- .*(?:\n|\Z))*)?\Z")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_LETTER = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u04ff]")
# A Chinese character says about as much as three letters; names of libraries do not make a text English.
_LETTERS_PER_HAN = 3


def speaks_chinese(language: str, text: str) -> bool:
    """Whether a heading in a body is written in Chinese: as ``ui.language`` says, with ``auto`` as the text is."""
    if language != "auto":
        return language == "zh"
    han = len(_HAN.findall(text))
    return han > 0 and not _KANA.search(text) and han * _LETTERS_PER_HAN >= len(_LETTER.findall(text))


def with_sources(body: str, sources: Iterable[Entry], *, chinese: bool) -> str:
    """A body that ends with where it was elevated from (02 §8); as it is when nothing of that is left."""
    listed = "\n".join(f"- [{each.name}]({each.file}) — {each.description}" for each in sources)
    heading = ELEVATED[chinese]
    if not listed:
        return body
    return f"{body}\n\n{heading}\n\n{listed}\n" if body else f"{heading}\n\n{listed}\n"


def without_sources(body: str) -> str:
    """The body as it was before ``with_sources``."""
    return _SOURCES.sub("", body, count=1).strip()


def with_merged(body: str, other: Entry, other_body: str, *, chinese: bool) -> str:
    """A body with all that another entry said, under a heading of its own."""
    heading = MERGED[chinese].format(name=other.name)
    said = "\n\n".join(filter(None, (other.description, other_body.strip())))
    return "\n\n".join(filter(None, (body.rstrip(), heading, said))) + "\n"


def tidied(proposal: Proposal) -> Proposal:
    """A proposal in the form a memory has: a slug for a name, one line of at most 200 characters, no blank edges."""
    line = " ".join("".join(c if c.isprintable() else " " for c in proposal.description).split())
    return replace(
        proposal,
        name=slug(redact(proposal.name)),
        description=shortened(line) if line else "",
        body=proposal.body.strip(),
    )
