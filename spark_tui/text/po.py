"""Reads a .po catalogue and packs it for the standard gettext, so that no compiled file can go stale beside it."""

import re
import struct
from collections.abc import Iterator

_LINE = re.compile(r'(?:(msgid|msgid_plural|msgstr(?:\[(\d+)\])?)\s+)?"((?:[^"\\]|\\.)*)"\s*')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def read_po(source: str) -> dict[str, str]:
    """Message id → translation; plural ids and forms are joined by NUL as in a .mo. ``ValueError`` names a bad line."""
    messages: dict[str, str] = {}
    for entry in _entries(source):
        if "msgid_plural" in entry:
            forms = [text for field, text in sorted(entry.items()) if field.startswith("msgstr")]
            messages[entry["msgid"] + "\0" + entry["msgid_plural"]] = "\0".join(forms)
        else:
            messages[entry["msgid"]] = entry["msgstr"]
    return messages


def _entries(source: str) -> Iterator[dict[str, str]]:
    """The fields of each entry, one after another."""
    entry: dict[str, str] = {}
    field = ""
    for number, line in enumerate(source.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None or not (found[1] or field):
            raise ValueError(f"line {number} of the catalogue is neither a message nor a comment")
        if found[1] == "msgid" and entry:
            yield entry
            entry = {}
        field = found[1] or field
        entry[field] = entry.get(field, "") + _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), found[3])
    if entry:
        yield entry


def pack_mo(messages: dict[str, str]) -> bytes:
    """The messages as a GNU .mo file; untranslated ones are left out so that gettext falls back to the id."""
    pairs = [(key.encode(), text.encode()) for key, text in sorted(messages.items()) if text.strip("\0")]
    header = 7 * 4
    offset = header + 16 * len(pairs)
    tables: list[list[tuple[int, int]]] = [[], []]
    body = b""
    for side in (0, 1):
        for pair in pairs:
            tables[side].append((len(pair[side]), offset + len(body)))
            body += pair[side] + b"\0"
    index = b"".join(struct.pack("<II", *cell) for table in tables for cell in table)
    start = struct.pack("<7I", 0x950412DE, 0, len(pairs), header, header + 8 * len(pairs), 0, 0)
    return start + index + body
