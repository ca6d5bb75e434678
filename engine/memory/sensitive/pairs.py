"""Finds secrets by the word before them: ``password=…``, ``密码：…``, ``api_key: …``, e-mail address and password."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.memory.sensitive import chinese
from engine.memory.sensitive.verdicts import (
    Link,
    Pair,
    is_joined_password,
    is_login_password,
    is_password,
    is_secret,
    is_value,
)

Span = tuple[int, int]

_STRONG = (
    r"password|passwd|passphrase|passcode|pwd|密码|口令|密碼|通行碼|パスワード|비밀번호|пароль|passwort|contraseña"
)
_WEAK = (
    r"(?:api|access|secret|private|encryption|signing|master|account|auth|license|storage|service)[ _\-]?key"
    r"|(?:access|refresh|session|auth|api|bot)token|(?-i:(?<![a-z])t|T)oken|(?-i:(?<![a-z])s|S)ecret"
    r"|令牌|密钥|秘钥|密鑰|私钥|授权码|(?<![A-Za-z])pass|(?<![A-Za-z])pw"
)
PASSWORD_SIGNS = tuple(_STRONG.split("|"))
SECRET_SIGNS = ("token", "secret", "key", "pass", "pw", "令牌", "密钥", "秘钥", "密鑰", "私钥", "授权码")
_PASSWORD_WORD = re.compile(rf"(?i){_STRONG}")
_SECRET_WORD = re.compile(rf"(?i){_WEAK}")
_CHINESE_IS = (
    r"(?:已经?|统一|默认|都|就|现在|目前|一律|仍然?|还|初始|临时){0,3}"
    r"(?:改|设置?|设定|重置|更新|换)?(?:成了?|为|是|到|為|成為)"
)
_FOR = r"(?:\s(?:for|of|on)\s[\w.\-]{1,30})?"
_ENGLISH_IS = (
    r"(?:'s|\s(?:is|was|are|were)(?:\snow)?(?:\s(?:re)?set\sto|\schanged\sto)?|\s(?:re)?set\sto|\schanged\sto|\s-)"
)
_SEPARATOR = re.compile(
    r"(?i)(?:\s?\([^()\n]{1,20}\))?"
    rf"(?:{_FOR}[\"'`*_?\]]{{0,3}}(?P<sign>\s{{0,3}}(?:::?=|=>|->|→|={{1,3}}|:|\|)(?:[*_]{{2}})?\s{{0,3}})"
    rf"|(?P<verb>{_FOR}{_ENGLISH_IS}\s{{1,2}}|\s?{_CHINESE_IS}\s?:?\s?)"
    r"|[\"'`*\]]{0,3}\s{1,3}|(?<=[^\x00-\x7f])(?=[0-9A-Za-z“「]))"
)
_QUOTED = re.compile(
    r"[*_]{0,2}(?:\"([^\"\n]{1,256})\"|'([^'\n]{1,256})'|`([^`\n]{1,256})`|“([^”\n]{1,256})”|「([^」\n]{1,256})」)"
)
_BARE = re.compile(r"[*_]{0,2}([!-~\u00a1-\u024f]{1,256})")
_BARE_ENDS = re.compile(r"[\"'`<;,&|]|[*_]{2}")
_OPTION = re.compile(r"--?$")
_LABEL = r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"
_DOMAIN = re.compile(rf"(?<=[A-Za-z0-9._%+\-])@{_LABEL}(?:\.{_LABEL})+")
_ELEMENT = re.compile(rf"(?i)<(?:[\w.\-]{{0,30}}[.:\-])?(?:{_STRONG})>([^<\s]{{3,256}})</")
_EMAIL_JOINT = re.compile(r"(?P<tight>:|\|| \| |-{3,})|\s?/\s?|\s:\s")
_LOGIN = re.compile(
    r"(?i)(?:log-?in|account|credentials?|sign-?in|账号|帐号|账户|登录|登陆)[^\n/]{0,30}?(?<![\w.@\-])[\w.@\-]{2,40}"
    r"(?P<tight>\s?)/\s?"
)
_TAIL = ".,;:!?)]}>。，；、！？）"
# A word inside a longer value is judged with it; otherwise a row of words would be read again from each of them.
_JUDGED_WHOLE = 64


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    start: int
    end: int
    quoted: bool
    after: str


def passwords(text: str) -> Iterator[Span]:
    """Values of password words: ``password=…``, ``密码是 …``, ``--password …``, ``<password>…</password>``."""
    yield from _pairs(text, _PASSWORD_WORD, is_password)
    yield from _chinese_passwords(text)
    for element in _ELEMENT.finditer(text):
        if is_value(element[1]):
            yield element.span(1)


def secrets(text: str) -> Iterator[Span]:
    """Values of token, secret and key words that look random; settings and names do not."""
    return _pairs(text, _SECRET_WORD, is_secret)


def email_passwords(text: str) -> Iterator[Span]:
    """The password joined to an e-mail address: ``a@b.cn:Passw0rd``, ``a@b.cn / Passw0rd!``."""
    seen = 0
    for domain in _DOMAIN.finditer(text):
        joint = _EMAIL_JOINT.match(text, domain.end()) if domain.start() >= seen else None
        value = _value(text, joint.end()) if joint else None
        if joint is None or value is None:
            continue
        seen = value.end if len(value.text) > _JUDGED_WHOLE else seen
        if is_joined_password(value.text, tight=joint["tight"] is not None):
            yield value.start, value.end


def login_passwords(text: str) -> Iterator[Span]:
    """The password joined to a user's name behind a word for a login: ``login: deploy / Kx92mQ7tLp``."""
    for login in _LOGIN.finditer(text):
        value = _value(text, login.end())
        if value is not None and is_login_password(value.text, tight=not login["tight"]):
            yield value.start, value.end


def ends_in_label(text: str) -> bool:
    """Whether the text ends with a word whose value would follow, like a memory named ``staging-db-password``."""
    tail = text[-40:]
    return any(found.end() == len(tail) for word in (_PASSWORD_WORD, _SECRET_WORD) for found in word.finditer(tail))


def _pairs(text: str, words: re.Pattern[str], is_real: Callable[[Pair], bool]) -> Iterator[Span]:
    seen = 0
    for word in words.finditer(text):
        separator = _SEPARATOR.match(text, word.end()) if word.start() >= seen else None
        value = _value(text, separator.end()) if separator else None
        if separator is None or value is None:
            continue
        seen = value.end if len(value.text) > _JUDGED_WHOLE else seen
        link = _link(text, word.start(), separator)
        if is_real(Pair(word[0], link, separator[0], value.text, value.quoted, value.after)):
            yield value.start, value.end


def _chinese_passwords(text: str) -> Iterator[Span]:
    """Values of Chinese characters alone, which only a sign or a verb can hang on their word."""
    for word in _PASSWORD_WORD.finditer(text):
        separator = _SEPARATOR.match(text, word.end())
        if separator is None or _link(text, word.start(), separator) is Link.SPACE:
            continue
        value = chinese.VALUE.match(text, separator.end())
        if value is not None and not chinese.is_prose(value[0]):
            yield value.span()


def _link(text: str, start: int, separator: re.Match[str]) -> Link:
    if separator["sign"] is not None:
        return Link.SIGN
    if separator["verb"] is not None:
        return Link.IS
    return Link.SIGN if _OPTION.search(text, max(0, start - 2), start) else Link.SPACE


def _value(text: str, position: int) -> _Value | None:
    """The value at a position; a bare one is judged up to the first comma or quote, but its span takes in the rest."""
    if quoted := _QUOTED.match(text, position):
        group = quoted.lastindex or 1
        return _Value(quoted[group], *quoted.span(group), quoted=True, after="")
    bare = _BARE.match(text, position)
    if bare is None:
        return None
    cut = _BARE_ENDS.search(bare[1])
    judged = bare[1][: cut.start()] if cut else bare[1]
    judged = judged.rstrip(_TAIL) or judged
    start = bare.start(1)
    whole = len(re.split(r"[\"'`<]", bare[1], maxsplit=1)[0].rstrip(_TAIL))
    after = start + len(judged)
    return _Value(judged, start, start + max(len(judged), whole), quoted=False, after=text[after : after + 16])
