"""Finds secrets that show themselves: vendor prefixes, private keys, JWTs, authorization headers, URL credentials."""

import base64
import binascii
import re
from collections.abc import Iterator

from engine.memory.sensitive.words import Shape, classes, has_digit_and_letter, is_name, is_placeholder, shape

Span = tuple[int, int]

# A prefix and 16 characters are enough (02 §4.3): vendors change lengths, and half a token is still a leak.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<words>sk-(?:ant-|proj-|svcacct-|admin-|or-v1-)?+|xox[a-z]-|xapp-|glpat-|gl[a-z]{2,6}-|github_pat_|whsec_|tskey-)(?P<body>[A-Za-z0-9_\-]{16,})"
    r"|(?<![_+/\-])(?:gh[oprsu]_|[sr]k_(?:live|test)_|hf_|npm_|gsk_|r8_|dop_v1_|shp[a-z]{2}_|lin_api_|dckr_pat_|xai-|hvs\.)"
    r"(?P<solid>[A-Za-z0-9]{16,})"
    r"|(?:AIza|AKIA|LTAI|AKID|ya29\.|pypi-AgE|AGE-SECRET-KEY-1)(?P<url>[A-Za-z0-9_\-]{16,}(?:\.[A-Za-z0-9_\-]+)?)"
    r"|SG\.(?P<parts>[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,})"
    r"|A(?:SIA|BIA|CCA)(?P<upper>[A-Z0-9]{16,})"
    r")"
)
_PEM = re.compile(r"-{2,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|PuTTY-User-Key-File-[0-9]")
_PEM_END = re.compile(r"-{2,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s,:.\-]|\\[nr])*")
_PEM_LONGEST = 20_000
_JWT = re.compile(
    r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.(?:eyJ[A-Za-z0-9_\-]{8,}|[A-Za-z0-9_\-]{8,}(?=\.[A-Za-z0-9_\-]{8}))"
    r"(?:\.[A-Za-z0-9_\-]*){0,3}"
)
_BEARER = re.compile(r"(?i)\bbearer[ \t:=]{1,3}[\"']?([A-Za-z0-9._~+/\-]{16,}={0,2})")
_AUTHORIZATION = re.compile(
    r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(basic)|token|apikey|digest)\s{1,3}([A-Za-z0-9._~+/\-]{8,}={0,2})"
)
_URL = re.compile(r"://([^\s/:@\[\]\"'<>`]{0,200}):([^\s/\"'<>`]+)@(?=[\w\[$])")
_URL_TOKEN = re.compile(r"://([A-Za-z0-9_\-]{16,})@")
# Addresses that let whoever knows them post to a team's chat; the vendors' patterns know only the western ones.
_WEBHOOK = re.compile(r"/(?:open-apis/bot/(?:v2/)?hook/|cgi-bin/webhook/send\?key=)([A-Za-z0-9\-]{16,})")
_CURL_USER = re.compile(
    r"\b(?:curl|wget|https?|xh)\b[^\n]{0,160}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'@/]{1,64}:([^\s\"']{3,})"
)
_COMMAND = re.compile(r"\b(?:mysql(?:dump|admin)?\b[^\n]{0,80}?\s-p|sshpass\s+-p\s*)[\"']?([^\s\"'\-][^\s\"']{3,})")
_GENERIC_USERS = frozenset(["user", "username", "usr", "name", "login", "foo", "me", "you", "u", "id", "account"])
_GENERIC_PASSWORDS = frozenset(["pass", "password", "passwd", "pwd", "pw", "p"])


def prefixed(text: str) -> Iterator[Span]:
    """Tokens with a listed vendor prefix and at least 16 token characters, unless they spell out words."""
    for found in _PREFIXED.finditer(text):
        body = next(filter(None, found.groups()[1:]), "") if found["words"] else next(filter(None, found.groups()), "")
        if is_placeholder(body) or (found["words"] and is_name(body)):
            continue
        yield found.span()


def private_keys(text: str) -> Iterator[Span]:
    """Every kind of private key from its BEGIN line; the line alone is enough, the span takes in the body."""
    position = 0
    while begin := _PEM.search(text, position):
        limit = begin.end() + _PEM_LONGEST
        end = _PEM_END.search(text, begin.end(), limit) or _PEM_BODY.match(text, begin.end(), limit)
        position = end.end() if end else begin.end()
        yield begin.start(), position


def json_web_tokens(text: str) -> Iterator[Span]:
    """Signed or encrypted JSON web tokens (RFC 7519), told by their encoded ``{"``."""
    for found in _JWT.finditer(text):
        yield found.span()


def authorization(text: str) -> Iterator[Span]:
    """The credential of a ``Bearer`` or ``Authorization:`` header."""
    for found in _BEARER.finditer(text):
        if _is_credential(found[1]):
            yield found.span(1)
    for found in _AUTHORIZATION.finditer(text):
        if _is_user_and_password(found[2]) if found[1] else _is_credential(found[2]):
            yield found.span(2)


def url_credentials(text: str) -> Iterator[Span]:
    """The password of ``scheme://user:password@host``, or a token in its place; not of documentation examples."""
    for found in _URL.finditer(text):
        if not _is_example(found[1], found[2]):
            yield found.span(2)
    for found in _URL_TOKEN.finditer(text):
        if _is_credential(found[1]):
            yield found.span(1)


def webhooks(text: str) -> Iterator[Span]:
    """The token in the address of a chat robot (Feishu, Lark, WeCom)."""
    for found in _WEBHOOK.finditer(text):
        if not is_placeholder(found[1]):
            yield found.span(1)


def command_passwords(text: str) -> Iterator[Span]:
    """Passwords given to ``curl -u``, ``mysql -p`` and ``sshpass -p``."""
    for pattern in (_CURL_USER, _COMMAND):
        for found in pattern.finditer(text):
            if shape(found[1]) not in (Shape.PLACEHOLDER, Shape.CODE) and found[1].lower() not in _GENERIC_PASSWORDS:
                yield found.span(1)


def _is_credential(value: str) -> bool:
    if is_placeholder(value) or is_name(value):
        return False
    return has_digit_and_letter(value) or classes(value) > 1 or len(value) >= 24


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False


def _is_example(user: str, password: str) -> bool:
    if is_placeholder(password):
        return True
    generic = password.lower() in _GENERIC_PASSWORDS
    return generic and (not user or user.lower() in _GENERIC_USERS or is_placeholder(user))
