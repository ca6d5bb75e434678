"""Finds the token formats of some sixty vendors with classifinder-engine; only formats that show themselves.

Measured on harmless text, the library's prompt-injection, entropy and keyword patterns are noise for a memory, and
those that skip over any text between two words take quadratic time; our own rules cover what they are for.
"""

import re
from collections.abc import Iterator
from functools import cache

from engine.memory.sensitive.words import is_placeholder

_SLOW_OR_WORDY = (".*", r"[\s]*", r"[\s\S]", r"[^\"]", "(?:decode|")
_OURS_OR_NOISE = (
    "openai_api_key aws_access_key credit_card_number jwt_token password_in_url postgres_connection_string "
    "mysql_connection_string mongodb_connection_string redis_connection_string stripe_live_publishable_key "
    "mailgun_api_key twilio_account_sid"
)
_MIN_CONFIDENCE = 0.5


def vendor_tokens(text: str) -> Iterator[tuple[int, int]]:
    """Spans of vendor tokens, also of those inside a base64 segment (then the whole segment)."""
    from classifinder_engine import scan

    for found in scan(text, types=_types(), min_confidence=_MIN_CONFIDENCE, include_context=False):
        start, end = found.span_start, found.span_end
        if found.encoding is None and (_is_inside_word(text, start) or is_placeholder(text[start:end])):
            continue
        yield start, end


def _is_inside_word(text: str, start: int) -> bool:
    return start > 0 and re.match(r"[A-Za-z0-9_+/\-]", text[start - 1]) is not None


@cache
def _types() -> list[str]:
    from classifinder_engine import PATTERN_REGISTRY

    return [
        pattern.id
        for pattern in PATTERN_REGISTRY
        if pattern.provider != "prompt_injection"
        and pattern.id not in _OURS_OR_NOISE.split()
        and not any(part in pattern.regex.pattern for part in _SLOW_OR_WORDY)
    ]
