"""Strings as YAML on one line, and what this program wrote read back without a YAML parser, whose import is slow.

It must never read a block differently from a YAML parser: whatever is not plainly simple is left to one.
"""

import json
import re

FieldValue = str | list[str]
"""What a field holds: the literal text of a scalar, or those of a flat list."""

# What YAML 1.1 does not print, with space and the byte order mark. The classes are written as what they leave out,
# because compiling one that lists half of Unicode takes milliseconds.
_UNSEEN = "\0- \x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_SEEN = f"[^{_UNSEEN}]"
_INDICATOR = r"[-?:,\[\]{}#&*!|>'\"%@`]"
_BARE = re.compile(rf"(?:-(?={_SEEN})|(?!{_INDICATOR}){_SEEN})(?:[^:{_UNSEEN}]++|:(?={_SEEN})| ++(?=[^#{_UNSEEN}]))*+")
_BARE_IN_BRACKETS = re.compile(r"\w++(?:[ ./@+-]*+\w++)*+")
_BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}")
_PRINTABLE = re.compile(f"(?: |{_SEEN})*+")
_QUOTED = re.compile(rf"""'(?: |[^'{_UNSEEN}]|'')*+'|"(?: |[^"\\{_UNSEEN}]|\\["\\nrtbf])*+\"""")
_ESCAPED_BESIDES_JSON = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LINE = re.compile(rf"(?:(?P<key>{_BARE_KEY.pattern}):|-)(?: (?P<value>.+))?")


def scalar(value: str, *, in_brackets: bool = False) -> str:
    """A string on one line, quoted only where it must be; inside ``[…]`` that is oftener."""
    bare = _BARE_IN_BRACKETS if in_brackets else _BARE
    if bare.fullmatch(value):
        return value
    if not {'"', "\\"}.isdisjoint(value) and _PRINTABLE.fullmatch(value):
        return "'" + value.replace("'", "''") + "'"
    return _double_quoted(value)


def _double_quoted(value: str) -> str:
    # A JSON string is a YAML string once what JSON leaves bare and YAML does not print is escaped too.
    return _ESCAPED_BESIDES_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def inline(value: FieldValue) -> str:
    """A value on one line; a list becomes ``[one, two]``."""
    if isinstance(value, str):
        return scalar(value)
    return "[" + ", ".join(scalar(item, in_brackets=True) for item in value) + "]"


def rows(items: list[str], line_end: str, indent: str = "") -> str:
    """A list as lines of ``- item``: the first one not indented, the last one without its line end."""
    return f"{line_end}{indent}".join(f"- {scalar(item)}" for item in items)


def pair(key: str, value: FieldValue, line_end: str = "\n", indent: str = "") -> str:
    """The line or lines of one field."""
    start = f"{indent}{key if _BARE_KEY.fullmatch(key) else _double_quoted(key)}:"
    if isinstance(value, list) and value:
        return f"{start}{line_end}{indent}{rows(value, line_end, indent)}{line_end}"
    return f"{start} {inline(value)}{line_end}"


def simple_fields(block: str) -> dict[str, FieldValue] | None:
    """The fields of a block of lines as :func:`pair` writes them; None when a YAML parser has to look at it."""
    fields: dict[str, FieldValue] = {}
    key: str | None = None
    items: list[str] | None = None  # those of the key above, as long as it has no other value
    for line in block.replace("\r\n", "\n").split("\n")[:-1]:
        match = _LINE.fullmatch(line)
        value = _simple_value(match["value"]) if match else None
        if match is None or value is None or match["key"] in fields:
            return None
        if match["key"] is not None:
            key, items = match["key"], None if match["value"] else []
            fields[key] = value
        elif key is None or items is None or not match["value"] or isinstance(value, list):
            return None
        else:
            items.append(value)
            fields[key] = items
    return fields


def _simple_value(written: str | None) -> FieldValue | None:
    if written is None or _BARE.fullmatch(written):
        return written or ""
    if written == "[]":
        return []
    if not _QUOTED.fullmatch(written):
        return None
    return written[1:-1].replace("''", "'") if written[0] == "'" else str(json.loads(written))
