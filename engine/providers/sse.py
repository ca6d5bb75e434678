"""Reads server-sent events out of bytes as they arrive; tolerates what servers get wrong, and keeps nothing twice.

Ours, because the library for it refuses a stream whose content type is another, drops an event whose last blank line
is missing, trusts the declared charset, and grows without bound on a line that never ends.
"""

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LINE_MAX: Final = 8_000_000


class LineTooLong(ValueError):
    """A line that does not end within 8,000,000 characters."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (mostly empty) and its data, lines joined by a newline."""

    name: str
    data: str


class EventReader:
    """Turns chunks of bytes, cut anywhere, into events; comments, which keep a connection alive, are skipped."""

    def __init__(self) -> None:
        # Always UTF-8 (HTML living standard, 9.2.5), with or without a byte order mark; all three ends of a line.
        utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
        self._line: list[str] = []
        self._length = 0
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that are whole with this chunk. Raises ``LineTooLong``."""
        yield from self._read(self._decoder.decode(chunk))

    def end(self) -> Iterator[Event]:
        """The event that the end of the stream leaves without its blank line, if there is one."""
        yield from self._read(self._decoder.decode(b"", final=True) + "\n\n")

    def _read(self, text: str) -> Iterator[Event]:
        *ended, rest = text.split("\n")
        for part in ended:
            line = "".join([*self._line, part])
            self._line, self._length = [], 0
            yield from self._take(line)
        if rest:
            self._line.append(rest)
            self._length += len(rest)
        if self._length > LINE_MAX:
            raise LineTooLong

    def _take(self, line: str) -> Iterator[Event]:
        if not line:
            if self._data:
                yield Event(self._name, "\n".join(self._data))
            self._name, self._data = "", []
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
