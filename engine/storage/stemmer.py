"""The stem SQLite's ``porter`` gives an English word, to judge and highlight hits in Python; the index never uses it.

Source: M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), with the two later rules FTS5 follows
(``bli`` → ``ble``, ``logi`` → ``log``).
"""

from functools import lru_cache

_LONGEST = 64  # FTS5 leaves longer tokens alone
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "logi": "log", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = {
    "al": "", "ance": "", "ence": "", "er": "", "ic": "", "able": "", "ible": "", "ant": "", "ement": "", "ment": "",
    "ent": "", "ion": "", "ou": "", "ism": "", "ate": "", "iti": "", "ous": "", "ive": "", "ize": "",
}  # fmt: skip
_STEPS = tuple(
    (sorted(step, key=len, reverse=True), step, least) for step, least in ((_STEP_2, 1), (_STEP_3, 1), (_STEP_4, 2))
)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a folded word; a token with anything but ``a``–``z`` in it is returned as it is."""
    if not 2 < len(word) <= _LONGEST or not (word.isascii() and word.isalpha()):
        return word
    word = _ending_y(_past_and_progressive(_plural(word)))
    for suffixes, step, least in _STEPS:
        word = _derived(word, suffixes, step, least)
    return _final_e_and_l(word)


def _shape(word: str) -> str:
    """``v`` and ``c`` for each letter; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape[-1:] == "c") else "c"
    return shape


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _short(word: str) -> bool:
    """Ends consonant, vowel, consonant other than w, x, y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")) and word not in ("sses", "ies"):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed") and word != "eed":
        return word[:-1] if _measure(word[:-3]) else word
    root = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if "v" not in _shape(root):
        return word
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if root[-1:] == root[-2:-1] and root[-1] not in "aeioulsz":
        return root[:-1]
    return root + "e" if _measure(root) == 1 and _short(root) else root


def _ending_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _derived(word: str, suffixes: list[str], step: dict[str, str], least: int) -> str:
    suffix = next((one for one in suffixes if word.endswith(one)), None)
    if suffix is None:
        return word
    root = word[: -len(suffix)]
    if _measure(root) < least or (suffix == "ion" and root[-1:] not in ("s", "t")):
        return word
    return root + step[suffix]


def _final_e_and_l(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        if _measure(root) > 1 or (_measure(root) == 1 and not _short(root)):
            word = root
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
