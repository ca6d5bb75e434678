"""Reads a block of YAML into fields and the places where they stand; it never constructs, expands or recurses.

The parser's events do what its nodes cannot: an alias has a place of its own, and nothing is built from a hostile block.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from engine.storage.yaml_text import FieldValue

if TYPE_CHECKING:
    import yaml

_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")  # YAML 1.1, 5.1
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

DEPTH_MAX = 100
"""How deep lists and mappings may lie in each other."""


class BrokenYaml(Exception):
    """The block cannot be read; ``line`` counts from 1 within it, and ``why`` quotes none of it."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


class Shape(Enum):
    """How a node is laid out, which decides how it can be replaced."""

    EMPTY = auto()
    INLINE = auto()
    LITERAL = auto()
    ROWS = auto()
    NESTED = auto()
    MARKED = auto()  # rows or nested, with an anchor or tag in front


@dataclass(slots=True)
class Node:
    """A top-level key or value: its stretch ``[start, end)`` of the block and what it says (None: a structure)."""

    start: int
    end: int
    shape: Shape
    value: FieldValue | None = None
    anchored: bool = False


@dataclass(slots=True)
class Block:
    """A block and its top-level nodes: key, value, key, value …

    ``column`` is where its lines begin. ``plain`` says that the keys stand on lines of their own with nothing around
    them, ``aliased`` that some alias needs an anchor.
    """

    text: str
    nodes: list[Node] = field(default_factory=list)
    column: int = 0
    plain: bool = True
    aliased: bool = False

    def pairs(self) -> Iterator[tuple[str, Node, Node]]:
        """Each key's text and node with the node of its value, in order."""
        for key, value in zip(self.nodes[::2], self.nodes[1::2], strict=True):
            yield str(key.value), key, value

    def fields(self) -> dict[str, FieldValue]:
        """The values that are strings or flat lists, by key."""
        return {name: value.value for name, _, value in self.pairs() if value.value is not None}


def read_block(text: str) -> Block:
    """The fields of a block and their places. Raises ``BrokenYaml`` for all but one mapping with different plain keys."""
    import yaml

    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        raise BrokenYaml(text.count("\n", 0, forbidden.start()) + 1, "it holds a control character")
    reader = _Reader(text)
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            reader.take(event)
    except yaml.YAMLError as error:
        raise BrokenYaml(_line_of(error, text), _reason(error)) from None
    except (ValueError, OverflowError):  # the parser written in Python, at an escape that names no character
        raise BrokenYaml(1, "it is not valid YAML") from None
    return reader.block


def _line_of(error: "yaml.YAMLError", text: str) -> int:
    context, problem = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    if problem is None:
        return 1
    # What is never closed is noticed at the end, but begins where the person has to look.
    mark = context if context is not None and problem.index >= len(text) else problem
    return int(mark.line) + 1


def _reason(error: "yaml.YAMLError") -> str:
    import yaml

    # Only the sentences of the parser written in C are constant; the other one quotes what it met.
    problem = getattr(error, "problem", None) if yaml.__with_libyaml__ else None
    return f"it is not valid YAML: {problem}" if problem else "it is not valid YAML"


@dataclass(slots=True)
class _Collection:
    """A list or mapping that is still open; ``items`` is None once it cannot be a flat list."""

    anchor: str | None
    flow: bool
    items: list[str] | None


class _Reader:
    """Takes the parser's events one by one and notes what stands at the top level."""

    def __init__(self, text: str) -> None:
        self.block = Block(text)
        self._open: list[_Collection] = []
        self._anchors: dict[str, FieldValue | None] = {}
        self._keys: set[str] = set()
        self._documents = 0
        self._takers: dict[str, Callable[..., None]] = {
            "DocumentStartEvent": self._document_start,
            "DocumentEndEvent": self._document_end,
            "ScalarEvent": self._scalar,
            "AliasEvent": self._alias,
            "SequenceStartEvent": self._start,
            "MappingStartEvent": self._start,
            "SequenceEndEvent": self._end,
            "MappingEndEvent": self._end,
        }

    def take(self, event: "yaml.Event") -> None:
        """Handle the next event; those without a taker say nothing about the fields."""
        taker = self._takers.get(type(event).__name__)
        if taker is not None:
            taker(event)

    def _document_start(self, event: "yaml.DocumentStartEvent") -> None:
        self._documents += 1
        if self._documents > 1:
            raise BrokenYaml(_line(event), "it holds more than one document")
        self.block.plain &= not event.explicit

    def _document_end(self, event: "yaml.DocumentEndEvent") -> None:
        self.block.plain &= not event.explicit

    def _scalar(self, event: "yaml.ScalarEvent") -> None:
        if _HALF_CHARACTER.search(event.value):
            raise BrokenYaml(_line(event), "it holds half a character")
        start, end = _span(event)
        empty = not event.style and start == end
        shape = Shape.EMPTY if empty else Shape.LITERAL if event.style in ("|", ">") else Shape.INLINE
        self._begin(event, shape)
        self._anchor(event, event.value)
        self._finish(event, event.value)

    def _alias(self, event: "yaml.AliasEvent") -> None:
        if event.anchor not in self._anchors:
            raise BrokenYaml(_line(event), "an alias has no anchor before it")
        self.block.aliased = True
        self._begin(event, Shape.INLINE)
        self._finish(event, self._anchors[event.anchor])

    def _start(self, event: "yaml.CollectionStartEvent") -> None:
        listed = type(event).__name__ == "SequenceStartEvent"
        flow = bool(event.flow_style)
        if len(self._open) > DEPTH_MAX:
            raise BrokenYaml(_line(event), f"it is nested deeper than {DEPTH_MAX} levels")
        if not self._open and not listed:
            self.block.plain &= not flow and event.anchor is None and event.tag is None
            self.block.column = event.start_mark.column if event.start_mark else 0
        else:
            self._begin(event, self._shape(event, listed, flow))
        self._anchor(event, None)
        self._open.append(_Collection(event.anchor, flow, [] if listed else None))

    def _shape(self, event: "yaml.CollectionStartEvent", listed: bool, flow: bool) -> Shape:
        if flow:
            return Shape.INLINE
        marked = self.block.text[_span(event)[0]] in "&!"
        return Shape.MARKED if marked else Shape.ROWS if listed else Shape.NESTED

    def _end(self, event: "yaml.CollectionEndEvent") -> None:
        ended = self._open.pop()
        if ended.anchor is not None:
            self._anchors[ended.anchor] = ended.items
        if self._open:
            # The end of a block list or mapping is only noticed at what comes next; its last leaf is where it ends.
            self._finish(event if ended.flow else None, ended.items)

    def _begin(self, event: "yaml.NodeEvent", shape: Shape) -> None:
        """Note a node when it stands at the top level."""
        if not self._open:
            raise BrokenYaml(_line(event), "it is not a mapping of keys to values")
        if len(self._open) == 1:
            self.block.nodes.append(Node(*_span(event), shape))

    def _anchor(self, event: "yaml.NodeEvent", value: FieldValue | None) -> None:
        if event.anchor is None:
            return
        if event.anchor in self._anchors:
            raise BrokenYaml(_line(event), "an anchor is given twice")
        self._anchors[event.anchor] = value
        if self.block.nodes:
            self.block.nodes[-1].anchored = True

    def _finish(self, event: "yaml.Event | None", value: FieldValue | None) -> None:
        """Hand a finished value to what it lies in, and move the end of the top-level node it belongs to."""
        node, parent = self.block.nodes[-1], self._open[-1]
        if event is not None:
            node.end = _span(event)[1]
        if len(self._open) == 1:
            node.value = list(value) if isinstance(value, list) else value
            self._check_key(node)
        elif parent.items is not None and isinstance(value, str):
            parent.items.append(value)
        else:
            parent.items = None

    def _check_key(self, node: Node) -> None:
        if len(self.block.nodes) % 2 == 0:
            return
        line = self.block.text.count("\n", 0, node.start) + 1
        if not isinstance(node.value, str):
            raise BrokenYaml(line, "a key is not plain text")
        if node.value in self._keys:
            raise BrokenYaml(line, "a key is given twice")
        self._keys.add(node.value)


def _span(event: "yaml.Event") -> tuple[int, int]:
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)


def _line(event: "yaml.Event") -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
