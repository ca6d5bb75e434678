"""Says whether a text carries a secret or a private number (02 §4.3); it answers with positions, never text.

Vendors' formats come from classifinder-engine; passwords in two languages, private numbers and disguises are ours.
Every rule takes time linear in the text, whatever the text is.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from engine.memory.sensitive import numbers, pairs, tokens
from engine.memory.sensitive.fold import fold
from engine.memory.sensitive.vendors import vendor_tokens


class SecretKind(StrEnum):
    """What was found, in words a screen translates; the earlier names an overlap."""

    PRIVATE_KEY = "private-key"
    API_KEY = "api-key"
    JWT = "jwt"
    URL_CREDENTIALS = "url-credentials"
    BEARER = "bearer"
    EMAIL_PASSWORD = "email-password"
    PASSWORD = "password"
    SECRET = "secret"
    ID_NUMBER = "id-number"
    BANK_CARD = "bank-card"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret is: half-open offsets, in characters of the text it was found in, and its kind; never the text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """A kind, how to find it, and a cheap sign without which it cannot be there: words in lower case, or a pattern."""

    kind: SecretKind
    find: Callable[[str], Iterator[tuple[int, int]]]
    sign: tuple[str, ...] | re.Pattern[str]

    def concerns(self, text: str, lowered: str) -> bool:
        if isinstance(self.sign, tuple):
            return any(word in lowered for word in self.sign)
        return self.sign.search(text) is not None


_LONG_TOKEN = re.compile(r"[A-Za-z0-9_\-]{16}")
_LONG_NUMBER = re.compile(r"[0-9](?:[ .()\-]{0,2}[0-9]){10}")
_RULES = (
    _Rule(SecretKind.PRIVATE_KEY, tokens.private_keys, ("private key", "putty-user-key-file")),
    _Rule(SecretKind.API_KEY, tokens.prefixed, _LONG_TOKEN),
    _Rule(SecretKind.API_KEY, vendor_tokens, _LONG_TOKEN),
    _Rule(SecretKind.API_KEY, tokens.webhooks, ("hook/", "webhook")),
    _Rule(SecretKind.JWT, tokens.json_web_tokens, ("eyj",)),
    _Rule(SecretKind.URL_CREDENTIALS, tokens.url_credentials, ("://",)),
    _Rule(SecretKind.BEARER, tokens.authorization, ("bearer", "authorization")),
    _Rule(SecretKind.EMAIL_PASSWORD, pairs.email_passwords, ("@",)),
    _Rule(SecretKind.PASSWORD, pairs.passwords, pairs.PASSWORD_SIGNS),
    _Rule(SecretKind.PASSWORD, pairs.login_passwords, ("/",)),
    _Rule(SecretKind.PASSWORD, tokens.command_passwords, (" -u", "-user", "mysql", "sshpass")),
    _Rule(SecretKind.SECRET, pairs.secrets, pairs.SECRET_SIGNS),
    _Rule(SecretKind.ID_NUMBER, numbers.identity_numbers, _LONG_NUMBER),
    _Rule(SecretKind.BANK_CARD, numbers.bank_cards, _LONG_NUMBER),
    _Rule(SecretKind.PHONE, numbers.phones, _LONG_NUMBER),
)


def findings(text: str) -> list[Finding]:
    """Every secret of a text in order; those that overlap are joined under the more telling kind."""
    folded = fold(text)
    lowered = folded.text.lower()
    concerned = [rule for rule in _RULES if rule.concerns(folded.text, lowered)]
    return _joined(
        [Finding(rule.kind, *folded.span(start, end)) for rule in concerned for start, end in rule.find(folded.text)]
    )


def find_sensitive(*texts: str) -> Finding | None:
    """The first secret in any of the texts, or None; a text ending in a label (``db-password``) tells of the next."""
    for index, text in enumerate(texts):
        found = findings(text)
        if found:
            return found[0]
        if index + 1 < len(texts) and (labelled := _labelled(text, texts[index + 1])):
            return labelled
    return None


def redact(text: str) -> str:
    """The text with ``[redacted:kind]`` in place of each secret; for logs and for job text before it is stored."""
    pieces: list[str] = []
    position = 0
    for found in findings(text):
        pieces += [text[position : found.start], f"[redacted:{found.kind}]"]
        position = found.end
    return "".join((*pieces, text[position:]))


def _labelled(label: str, text: str) -> Finding | None:
    if not pairs.ends_in_label(fold(label).text):
        return None
    shift = len(label) + 2
    for found in findings(f"{label}: {text[:300]}"):
        if found.start >= shift:
            return Finding(found.kind, found.start - shift, found.end - shift)
    return None


def _joined(found: list[Finding]) -> list[Finding]:
    ranks = {kind.value: rank for rank, kind in enumerate(SecretKind)}
    result: list[Finding] = []
    for each in sorted(found, key=lambda one: (one.start, -one.end)):
        if result and each.start < result[-1].end:
            last = result.pop()
            kind = min(last.kind, each.kind, key=ranks.__getitem__)
            each = Finding(kind, last.start, max(last.end, each.end))
        result.append(each)
    return result
