"""Finds private numbers: Chinese identity numbers, bank cards, mobile phones; never a part of a longer run."""

import re
from collections.abc import Iterator
from datetime import date

Span = tuple[int, int]

_LEFT = r"(?<![0-9A-Za-z_])(?<![0-9A-Fa-f][.\-])"
_RIGHT = r"(?![0-9A-Za-z_])(?![.\-][0-9])"

_IDENTITY = re.compile(rf"{_LEFT}([1-8][0-9]{{5}})([ -]?)([12][0-9]{{7}})\2([0-9]{{3}}[0-9Xx]){_RIGHT}")
_IDENTITY_OLD = re.compile(rf"{_LEFT}([1-8][0-9]{{5}})([0-9]{{6}})[0-9]{{3}}{_RIGHT}")
_IDENTITY_WORD = re.compile(r"(?i)身份证|证件|一代证|身份號|identity|\bid[ _-]?(?:card|number|no\b)")
_IDENTITY_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_PROVINCES = frozenset([*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66)])
_PROVINCES_OVERSEAS = frozenset([71, 81, 82, 83, 91])

_CARD_SOLID = re.compile(rf"{_LEFT}([0-9]{{13,19}}){_RIGHT}")
# A look-ahead, because a card may begin inside a row of groups whose first group is another number.
_CARD_GROUPED = re.compile(
    rf"{_LEFT}(?=((?:[0-9]{{4}}([ -])[0-9]{{4}}\2[0-9]{{4}}\2[0-9]{{1,4}}|[0-9]{{4}}([ -])[0-9]{{6}}\3[0-9]{{4,5}}"
    rf"|[0-9]{{6}}([ -])[0-9]{{10,13}}){_RIGHT}))"
)
_CARD_GROUPED_LONG = re.compile(rf"{_LEFT}(?=([0-9]{{4}}([ -])(?:[0-9]{{4}}\2){{3}}[0-9]{{1,3}}{_RIGHT}))")
# Leading digits and lengths the card networks give out; without them one long number in ten would pass for a card.
_CARD_NETWORKS = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9]|5[2-8])[0-9]{11,16}|(?:5[06-9]|6[0-9])[0-9]{11,17}|9558[0-9]{12,15}"
)

_PHONE = re.compile(
    rf"{_LEFT}(?<!#)(?:\(?(?:\+|00)?86\)?[ .\-]?)?1[3-9][0-9](?:[ .\-]?[0-9]{{4}}){{2}}(?![0-9A-Za-z_])(?![.\-][0-9])"
    r"(?![ \t]?(?:bytes?\b|[KMGT]i?B\b|kB\b|B\b|[mnuµμ]?s\b|tokens?\b|rows?\b|requests?\b|字节|毫秒|微秒|纳秒))"
)
_MEASURE = re.compile(r"(?i)(?:bytes?|size|free|used|total|count|memory|offset|length|time|rss)[\"']?[ \t]?[=:][ \t]?$")
_PHONE_ABROAD = re.compile(
    r"(?i:phone|mobile|\bcell\b|\btel\b|whatsapp|\bcall\b|手机|电话|号码)[^\n+]{0,20}"
    r"(\+[1-9][0-9]{0,2}(?:[ .()\-]{0,2}[0-9]){7,13})(?![0-9A-Za-z_])"
)


def identity_numbers(text: str) -> Iterator[Span]:
    """18-character identity numbers with a real province, a real birthday and the right check character (GB 11643).

    Those of before 1999 have 15 digits and no check character: they count only behind a word that says so.
    """
    for found in _IDENTITY.finditer(text):
        if _is_identity(found[1] + found[3] + found[4]):
            yield found.span()
    for found in _IDENTITY_OLD.finditer(text):
        if _IDENTITY_WORD.search(text, max(0, found.start() - 30), found.start()) and _is_old_identity(*found.groups()):
            yield found.span()


def bank_cards(text: str) -> Iterator[Span]:
    """13–19 digits, solid or in a card's groups, that begin as a card does and pass the Luhn check (ISO/IEC 7812)."""
    for pattern in (_CARD_SOLID, _CARD_GROUPED, _CARD_GROUPED_LONG):
        for found in pattern.finditer(text):
            digits = found[1].replace(" ", "").replace("-", "")
            if _CARD_NETWORKS.fullmatch(digits) and passes_luhn(digits):
                yield found.span(1)


def phones(text: str) -> Iterator[Span]:
    """Chinese mobile numbers, also with +86 and separators; others only in ``+…`` form behind a word that says so."""
    for found in _PHONE.finditer(text):
        if not _MEASURE.search(text, max(0, found.start() - 24), found.start()):
            yield found.span()
    for found in _PHONE_ABROAD.finditer(text):
        yield found.span(1)


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit of the others."""
    odd = sum(map(int, digits[-1::-2]))
    even = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (odd + even) % 10 == 0


def _is_old_identity(area: str, birthday: str) -> bool:
    return int(area[:2]) in _PROVINCES and _day(f"19{birthday}") is not None


def _day(digits: str) -> date | None:
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return None


def _is_identity(number: str) -> bool:
    birthday = _day(number[6:14])
    if birthday is None or int(number[:2]) not in _PROVINCES | _PROVINCES_OVERSEAS:
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_IDENTITY_WEIGHTS, number, strict=False))
    return birthday.year >= 1850 and "10X98765432"[total % 11] == number[17].upper()
