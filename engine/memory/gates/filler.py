"""Fills the templates of the labelled sets with synthetic secrets: the sets hold none that a scanner would stop at.

``{{form:arguments}}`` is an alphabet and a length (``{{b62:36}}``) or a number with its check digit
(``{{card:4539:16}}``, ``{{cnid:310104:19780415:331}}``); the same template always gives the same text.
"""

import base64
import random
import re
import string
from typing import Final

_ALPHABETS: Final = {
    "b62": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "up": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "d": string.digits,
}
_CARDS: Final = ("card", "badcard")
_IDENTITIES: Final = ("cnid", "cnid6", "cnid15", "cnidx", "cnidxl")
_SLOT = re.compile(r"\{\{(\w+)(?::([^}]*))?\}\}")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def filled(template: str) -> str:
    """The template with a synthetic value in every slot. Raises ``ValueError`` for a slot of an unknown form."""
    draw = random.Random(template)
    return _SLOT.sub(lambda found: _synthetic(found[1], found[2] or "", draw), template)


def _synthetic(form: str, arguments: str, draw: random.Random) -> str:
    if form in _ALPHABETS:
        return "".join(draw.choices(_ALPHABETS[form], k=int(arguments)))
    if form in ("fw", "fwalnum"):
        return _wide("".join(draw.choices(_ALPHABETS["d" if form == "fw" else "b62"], k=int(arguments))))
    if form in ("lb", "rb"):
        return "{" if form == "lb" else "}"
    if form == "uuid":
        digits = "".join(draw.choices(_ALPHABETS["hex"], k=32))
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    if form == "basic":
        return base64.b64encode(b"svc:" + bytes(draw.choices(string.ascii_letters.encode(), k=12))).decode()
    if form.removeprefix("fw") not in (*_CARDS, *_IDENTITIES):
        raise ValueError("no such form")
    number = _card(arguments, draw, bad=form == "badcard") if "card" in form else _identity(form, arguments, draw)
    return _wide(number) if form.startswith("fw") else number


def _wide(text: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in text)


def _card(arguments: str, draw: random.Random, *, bad: bool) -> str:
    prefix, length, *separator = arguments.split(":")
    body = prefix + "".join(draw.choices(string.digits, k=int(length) - len(prefix) - 1))
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(body))]
    check = -sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10
    number = body + str((check + 3) % 10 if bad else check)
    groups = [number[place : place + 4] for place in range(0, len(number), 4)]
    return separator[0].join(groups) if separator else number


def _identity(form: str, arguments: str, draw: random.Random) -> str:
    area, birthday, tail = arguments.split(":")
    if form == "cnid15":  # the numbers of before 1999: a year of two digits, no check character
        return area + birthday + tail
    while True:
        body = area + birthday + (tail + "".join(draw.choices(string.digits, k=3)))[:3]
        check = "10X98765432"[sum(w * int(d) for w, d in zip(_WEIGHTS, body, strict=True)) % 11]
        if "x" not in form or check == "X":
            break
    number = body + (check.lower() if form == "cnidxl" else check)
    return f"{number[:6]} {number[6:14]} {number[14:]}" if form == "cnid6" else number
