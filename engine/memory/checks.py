"""Says whether the content of a memory may be stored as it is; every door asks here, and nothing is altered."""

import math
import re
from typing import Final

from engine.errors import SensitiveContent, ValidationFailed
from engine.memory.model import BODY_MAX, Draft, Entry

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def check_content(content: Draft | Entry, body: str) -> None:
    """Raises ``ValidationFailed`` for what no file can hold, ``SensitiveContent`` for what no file may hold."""
    check_storable(content, body)
    kind = secret_in(content, body)
    if kind is not None:
        raise SensitiveContent(
            f"the text holds something secret or private ({kind}); it was not stored",
            "keep secrets in a password manager and remember where they are",
            kind=kind,
        )


def check_storable(content: Draft | Entry, body: str) -> None:
    """Raises ``ValidationFailed`` for what neither file nor row can hold."""
    if not math.isfinite(content.confidence) or not 0 <= content.confidence <= 1:
        raise ValidationFailed("confidence must be a number from 0 to 1")
    if len(body) > BODY_MAX:
        raise ValidationFailed(f"the body has {len(body)} characters, {BODY_MAX} are allowed")
    origin = (content.source_session_id, content.source_turn_id, content.extraction_model)
    if any(_UNSTORABLE.search(text) for text in (*_texts(content, body), *filter(None, origin))):
        raise ValidationFailed("the text holds a character that cannot be stored")


def secret_in(content: Draft | Entry, body: str, *others: str) -> str | None:
    """The kind of secret or private number in a memory's texts (02 §4.3); None when there is none."""
    # Here, because a command that only reads never needs its 120 patterns.
    from engine.memory.sensitive.scan import find_sensitive

    finding = find_sensitive(*_texts(content, body), *others)
    return finding.kind if finding else None


def _texts(content: Draft | Entry, body: str) -> tuple[str, ...]:
    """In the order in which a label at the end of one (``the password is``) tells of the next."""
    beside = (content.evidence,) if content.evidence else ()
    return (content.name, content.description, body, *content.entities, *content.links, *beside)
