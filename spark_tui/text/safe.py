"""Makes text nobody vouches for printable: what would steer the terminal or hide from a reader is shown, not sent."""

import re

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SHOWN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u180e\u200e\u200f\u202a-\u202e\u2061-\u206f\ufff0-\ufffb"
    "\ud800-\udfff\U000e0080-\U000e00ff\U000e01f0-\U000e0fff\ufdd0-\ufdef\ufffe\uffff]"
)
# Invisible and harmless, but terminals disagree on their width: joiners, selectors, soft hyphen, byte order mark.
_DROPPED = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b-\u200d\u2060\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
_MOVES = re.compile("[\v\f\x85\u2028\u2029]")
_STAND_IN = "\u2370"  # a boxed question mark, one cell everywhere
_SPACES = re.compile("[\t\n\r\v\f\x85\u2028\u2029\u00a0\u2000-\u200a\u202f\u205f]")
_BREAKS = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_ORDINARY = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u3000-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff5e]*"
)


def one_line(text: str) -> str:
    """The text on one line: breaks and tabs become spaces, controls ``^[``, overrides and surrogates ``<202E>``."""
    if _ORDINARY.fullmatch(text):
        return text
    return _harmless(_SPACES.sub(" ", text))


def many_lines(text: str, tab: int = 4) -> list[str]:
    """The text's lines, each made safe; tabs move to the next multiple of ``tab`` characters."""
    return [_harmless(_SPACES.sub(" ", line.expandtabs(tab))) for line in _BREAKS.split(text)]


def same_length(text: str) -> str:
    """The text with every unsafe character replaced by one visible stand-in, so that offsets hold (for editors)."""
    return _MOVES.sub(_STAND_IN, _SHOWN.sub(_picture, _TAGS.sub(lambda run: _STAND_IN * len(run[0]), text)))


def _harmless(text: str) -> str:
    if _ORDINARY.fullmatch(text):
        return text
    return _SHOWN.sub(_shown, _DROPPED.sub("", _TAGS.sub(_spelled, text)))


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20 or code == 0x7F:
        return "^" + chr(code ^ 0x40)
    return f"<{code:04X}>"


def _spelled(run: re.Match[str]) -> str:
    """Tag characters spell ASCII that no screen shows and every model reads: say what they spell."""
    spelled = "".join(chr(ord(c) - 0xE0000) for c in run[0])
    return f"<tags:{''.join(c if c.isprintable() else '?' for c in spelled)}>"


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else _STAND_IN
