"""Decides whether the value behind a password or secret word is a real one; it reads values, never the text around."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from engine.memory.sensitive.chinese import is_prose
from engine.memory.sensitive.words import Shape, classes, digits, has_digit_and_letter, has_mark, is_uuid, shape

_NOT_A_VALUE = (Shape.PLACEHOLDER, Shape.CODE, Shape.TECHNICAL)
_TOKEN = re.compile(r"[A-Za-z0-9+/=_.~\-]+")
_UNIT = re.compile(
    r"[ \t]?(?:位|次|个|天|字|年|月|分钟|小时|秒|轮|characters?|chars?|digits?|letters?|days?|hours?|minutes?|seconds?"
    r"|bits?|bytes?|iterations?|rounds?|times|attempts?|tokens?)"
)
_PROSE = re.compile(r" +(?:[A-Za-z]|[+*?&|]{1,2} )")


class Link(Enum):
    """How a value hangs on its word, from the plainest to the loosest: ``=`` or ``:``, a verb, nothing but a space."""

    SIGN = auto()
    IS = auto()
    SPACE = auto()


@dataclass(frozen=True, slots=True)
class Pair:
    """A word, the characters between, and the value with the few characters that follow it."""

    word: str
    link: Link
    separator: str
    value: str
    quoted: bool
    after: str


def is_value(value: str) -> bool:
    """Whether this could be a value at all: no placeholder, no piece of code, no technical term."""
    return shape(value) not in _NOT_A_VALUE


def is_password(pair: Pair) -> bool:
    """Weak passwords count as much as strong ones; rules, types and references do not."""
    kind = shape(pair.value)
    if kind in _NOT_A_VALUE:
        return False
    if pair.link is Link.SPACE:
        return _stands_out(pair, kind)
    if kind is Shape.DIGITS:
        return len(pair.value) >= (4 if pair.link is Link.SIGN else 6) and not _UNIT.match(pair.after)
    if pair.link is Link.IS:
        return _is_stated(pair, kind)
    if len(pair.value) < 4:
        return False
    if kind is Shape.MIXED or has_digit_and_letter(pair.value):
        return classes(pair.value) > 1 or not has_mark(pair.value)
    return _is_word_password(pair, kind)


def is_secret(pair: Pair) -> bool:
    """A token or key: random-looking, and the longer the looser it hangs on its word."""
    if is_uuid(pair.value):
        return pair.link is Link.SIGN
    if shape(pair.value) is not Shape.MIXED or not has_digit_and_letter(pair.value):
        return False
    if pair.link is Link.SIGN:
        return len(pair.value) >= 12 or (len(pair.value) >= 8 and classes(pair.value) >= 3)
    return len(pair.value) >= (16 if pair.link is Link.IS else 20) and _TOKEN.fullmatch(pair.value) is not None


def is_joined_password(value: str, *, tight: bool) -> bool:
    """Whether this is what stands behind an e-mail address and ``:`` or ``|`` (``tight``) or ``/``."""
    if "/" in value or len(value) < 6 or shape(value) is not Shape.MIXED or not has_digit_and_letter(value):
        return False
    return tight or has_mark(value) or digits(value) >= 2


def is_login_password(value: str, *, tight: bool) -> bool:
    """Whether this is what stands behind a user's name and ``/``; tight, it could be a path and needs a mark."""
    if "/" in value or len(value) < 8 or shape(value) is not Shape.MIXED or not has_digit_and_letter(value):
        return False
    return has_mark(value) or (not tight and classes(value) >= 3 and "." not in value)


def _is_stated(pair: Pair, kind: Shape) -> bool:
    if pair.quoted:
        return len(pair.value) >= 4 and not is_prose(pair.value)
    return len(pair.value) >= 5 and kind is Shape.MIXED and (has_digit_and_letter(pair.value) or has_mark(pair.value))


def _is_word_password(pair: Pair, kind: Shape) -> bool:
    """A password of letters only: told from prose by what follows, from code by the spaces around ``=``."""
    if pair.quoted:
        return not is_prose(pair.value)
    if kind is Shape.NAME and len(re.split(r"[-_./:]", pair.value)) < 4:
        return False
    if "=" in pair.separator:
        return pair.separator.strip() == pair.separator and not pair.after.startswith((")", "(", "."))
    return not _PROSE.match(pair.after)


def _stands_out(pair: Pair, kind: Shape) -> bool:
    value, chinese = pair.value, not pair.word.isascii()
    if kind is Shape.DIGITS:
        return chinese and len(value) >= 6 and not _UNIT.match(pair.after)
    if kind is not Shape.MIXED or not has_digit_and_letter(value):
        return False
    if pair.quoted:
        return len(value) >= 4
    if chinese and len(value) >= 6 and (digits(value) >= 2 or (len(value) >= 8 and classes(value) >= 3)):
        return True
    return len(value) >= 6 and has_mark(value)
