"""The house's style names in the sixteen colours every terminal knows; commands set no colours of their own."""

_CODES = {
    "strong": "1",
    "dim": "2",
    "faint": "2",
    "heading": "1",
    "accent": "36",
    "good": "32",
    "added": "32",
    "warning": "33",
    "error": "31",
    "removed": "31",
    "match": "1;33",
    "key": "36",
    "code": "36",
    "link": "4",
}


def painted(style: str, text: str) -> str:
    """The text between the escape sequences of its style; as it is for a style without colours."""
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text
