"""Tells a value that could be a secret from a name, a placeholder or a piece of code; it never looks for one itself."""

import re
from enum import Enum, auto


class Shape(Enum):
    """What a value looks like."""

    PLACEHOLDER = auto()
    CODE = auto()
    TECHNICAL = auto()
    NAME = auto()
    DIGITS = auto()
    LETTERS = auto()
    MIXED = auto()


_MASK = re.compile(r"[xX]{4,}|[*•●]{2,}|\.{3,}|…|_{4,}|-{6,}|[#?]{4,}")
_PLACEHOLDER_LIST = (
    "your yours example placeholder here replace insert redacted dummy changeme change todo fixme removed hidden "
    "masked omitted sample xxx"
)
_PLACEHOLDER_WORDS = frozenset(_PLACEHOLDER_LIST.split())
_REFERENCE = re.compile(r"\$[A-Za-z_{(]|%[sd(]|%\w+%$|[<{\[(]|:[a-z_]+$|@[A-Za-z_]+$|\?$|\\\(|#\{")
_CALL = re.compile(r"[A-Za-z_][\w.:]*[(\[]")
_DOTTED = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+$|(?:os|process|self|this|config|settings|env|import)\.[\w.]+$")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)*$")
_SNAKE = re.compile(r"[a-z]+(?:_[a-z]+)+$")
_NAMED_AFTER = re.compile(r"(?i)[a-z_]*(?:password|passwd|pwd|secret|token|credential|apikey|api_key)s?\d?$")
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:\\|[a-z][a-z0-9+.-]{1,20}://")
_WORD_LIST = (
    "required optional string str text char varchar bytes number int integer bool boolean any object unknown undefined "
    "null nil none true false yes no on off empty blank missing invalid valid wrong incorrect correct expired hashed "
    "encrypted encoded salted secret password passwd token value key input output prompt hash salt never always must "
    "should minimum maximum min max length default unset set enabled disabled supported deprecated allowed forbidden "
    "confirm confirmation reset forgot forgotten strength policy rules ignored stored rotated generated automatic auto "
    "manual bearer basic digest oauth oauth2 oidc saml ldap kerberos jwt jwe hmac otp totp mfa sso argon2 argon2i "
    "argon2id bcrypt scrypt pbkdf2 md5 rsa ecdsa ed25519 x25519 aes des base64 hex ascii utf8 utf16 json yaml xml toml "
    "1password lastpass bitwarden keepass keepassxc keychain vault keyring dashlane credential credentials async await "
    "new return function var let const export readonly private public protected static see ask todo tbd na same "
    "unchanged option options flag flags argument parameter field fields secretstr secretbytes"
)
_WORDS = frozenset(_WORD_LIST.split())
_TECHNICAL = re.compile(
    r"(?i)(?:sha|aes|hs|rs|es|ps|utf|rfc|iso|sm|gb|rsa|crc|base|oauth|hmac-?sha|tls|ssl|md)[-_v]?\d[\w.-]{0,12}$"
    r"|pbkdf2[\w-]*$|v?\d+(?:\.\d+)+\w{0,3}$|[<>=≥≤~]+\s?\d+$|\d{1,3}[-~+]\d{0,4}$|\d{4}[-/]\d{1,2}[-/]\d{1,2}[T\d:.Z]*$"
    r"|\d{1,2}:\d{2}(?::\d{2})?$|\d{1,6}(?:ms|s|m|h|d|w|min|k|kb|mb|gb|px|%|x)$"
)
_NAME_PART = re.compile(r"[A-Za-z]{1,15}$|[A-Za-z]{1,12}\d{1,3}$|\d{1,4}[A-Za-z]{0,3}$|$")
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+$")
_LOWER = re.compile(r"[a-z]")
_UPPER = re.compile(r"[A-Z]")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[^\W\d_]")
_MARK = re.compile(r"[^\w\-./:]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")


def shape(value: str) -> Shape:
    """The first of the shapes, in the order of the enumeration, that fits; ``MIXED`` is what a secret looks like."""
    if is_placeholder(value):
        return Shape.PLACEHOLDER
    if _is_code(value):
        return Shape.CODE
    if value.lower() in _WORDS or _TECHNICAL.match(value) or _EMAIL.match(value):
        return Shape.TECHNICAL
    if value.isascii() and value.isdecimal():
        return Shape.DIGITS
    if value.isalpha():
        return Shape.LETTERS
    return Shape.NAME if is_name(value) else Shape.MIXED


def is_placeholder(value: str) -> bool:
    """Whether the value stands for another one: ``<your-key>``, ``${TOKEN}``, ``****``, ``your-api-key-here``."""
    if _REFERENCE.match(value) or _MASK.search(value):
        return True
    return any(word in _PLACEHOLDER_WORDS for word in re.split(r"[-_.\s]+", value.lower()))


def is_name(value: str) -> bool:
    """Whether the value is made of two or more words and small numbers: ``my-app-secret-2``, ``docs/keys.md``."""
    parts = re.split(r"[-_./:]", value)
    return len(parts) > 1 and all(_NAME_PART.match(part) for part in parts)


def is_uuid(value: str) -> bool:
    """Whether the value has the form of a UUID."""
    return _UUID.match(value) is not None


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and marks occur, 0–4; joints of names (``-_./:``) are no marks."""
    return sum(pattern.search(value) is not None for pattern in (_LOWER, _UPPER, _DIGIT, _MARK))


def digits(value: str) -> int:
    """How many ASCII digits occur."""
    return len(_DIGIT.findall(value))


def has_mark(value: str) -> bool:
    """Whether a character occurs that names do not have: ``!``, ``@``, ``#`` …"""
    return _MARK.search(value) is not None


def has_digit_and_letter(value: str) -> bool:
    """Whether both a digit and a letter occur."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def _is_code(value: str) -> bool:
    patterns = (_CALL, _DOTTED, _CONSTANT, _SNAKE, _NAMED_AFTER, _PATH)
    return any(pattern.match(value) for pattern in patterns)
