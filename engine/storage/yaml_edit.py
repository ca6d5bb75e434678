"""Changes some fields of a YAML block and leaves every other byte of it as it was, comments and unknown keys included."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from engine.storage import yaml_text
from engine.storage.yaml_block import Block, Node, Shape, read_block
from engine.storage.yaml_text import FieldValue

if TYPE_CHECKING:
    import yaml

Edit = tuple[int, int, str]
"""Start and end of a stretch, and what takes its place."""

_COLON = re.compile(r"[ \t]*:")
_LITERAL_HEADER = re.compile(r"(?:[&!]\S*\s+)*[|>][-+0-9]*")
_ODD_LINE_END = re.compile("\r(?!\n)|[\x85\u2028\u2029]")


def changed_block(text: str, changes: Mapping[str, FieldValue | None], line_end: str) -> str:
    """The block with fields set or, by None, removed; new ones come last. Raises ``BrokenYaml``.

    Where a stretch cannot be cut out (an alias needs its anchor, everything stands in braces), the block is written
    anew from its nodes: that keeps every key and value, but no comment.
    """
    block = read_block(text)
    nodes = {name: value for name, _, value in block.pairs()}
    due = {name: value for name, value in changes.items() if _differs(nodes.get(name), value)}
    if not due:
        return text
    edits = _edits(block, due, line_end)
    return _rewritten(text, due, line_end) if edits is None else _applied(text, edits)


def _differs(node: Node | None, value: FieldValue | None) -> bool:
    return value is not None if node is None else value is None or value != node.value


def _applied(text: str, edits: Iterable[Edit]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        parts += text[done:start], new
        done = end
    return "".join(parts) + text[done:]


def _edits(block: Block, due: Mapping[str, FieldValue | None], line_end: str) -> list[Edit] | None:
    """What to cut and put where; None when that cannot be done."""
    if not block.plain or _ODD_LINE_END.search(block.text):
        return None
    found = {name: (key, node) for name, key, node in block.pairs()}
    edits: list[Edit] = []
    for name, value in due.items():
        if name in found:
            key, node = found[name]
            if not _stands_alone(block, key, node):
                return None
            edits += (
                [_removal(block.text, key, node)]
                if value is None
                else _replacement(block.text, key, node, value, line_end)
            )
        elif value is not None:
            indent = " " * _column(block.text, block.nodes[0].start) if block.nodes else ""
            edits.append((len(block.text), len(block.text), yaml_text.pair(name, value, line_end, indent)))
    return edits


def _stands_alone(block: Block, key: Node, node: Node) -> bool:
    """Whether the pair begins its own line as ``key:``, and nothing elsewhere or in front of it hangs on its value."""
    needed = block.aliased and (key.anchored or node.anchored)
    before = block.text[_line_start(block.text, key.start) : key.start]
    on_a_later_line = "\n" in block.text[key.end : node.start]
    lies_below = node.shape not in (Shape.ROWS, Shape.NESTED) or on_a_later_line
    return (
        not needed
        and not before.strip(" ")
        and _COLON.match(block.text, key.end) is not None
        and node.shape is not Shape.MARKED
        and lies_below
    )


def _removal(text: str, key: Node, node: Node) -> Edit:
    return _line_start(text, key.start), _next_line(text, node.end), ""


def _replacement(text: str, key: Node, node: Node, value: FieldValue, line_end: str) -> list[Edit]:
    if node.shape is Shape.INLINE:
        return [_put(text, node.start, node.end, yaml_text.inline(value))]
    if node.shape is Shape.LITERAL:
        header = _LITERAL_HEADER.match(text, node.start)
        header_end = header.end() if header else node.end
        below = _next_line(text, header_end)
        return [_put(text, node.start, header_end, yaml_text.inline(value)), (below, max(below, node.end), "")]
    if node.shape is Shape.ROWS and isinstance(value, list) and value:
        rows = yaml_text.rows(value, line_end, " " * _column(text, node.start))
        return [_put(text, node.start, node.end, rows + (line_end if text[node.end - 1] == "\n" else ""))]
    colon = _COLON.match(text, key.end)
    after = colon.end() if colon else key.end
    cut = [] if node.shape is Shape.EMPTY else [(_line_start(text, node.start), _next_line(text, node.end), "")]
    return [(after, after, " " + yaml_text.inline(value)), *cut]


def _put(text: str, start: int, end: int, new: str) -> Edit:
    # A comment may touch a quoted value, but would become part of a bare one.
    return start, end, new + (" " if text[end : end + 1] == "#" and not new.endswith("\n") else "")


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _next_line(text: str, at: int) -> int:
    return at if text[at - 1 : at] == "\n" else text.find("\n", at) + 1


def _column(text: str, at: int) -> int:
    return at - _line_start(text, at)


def _rewritten(text: str, due: Mapping[str, FieldValue | None], line_end: str) -> str:
    """The block from its nodes, which anchors hold together whatever is taken out."""
    import yaml

    root = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    old = {key.value for key, _ in root.value}
    root.value = [
        (key, _node(due.get(key.value)) or value) for key, value in root.value if due.get(key.value, "") is not None
    ]
    root.value += [(_node(name), _node(value)) for name, value in due.items() if name not in old and value is not None]
    root.flow_style = False
    dumper = {"Dumper": yaml.BaseDumper, "allow_unicode": True, "width": float("inf"), "line_break": line_end}
    return str(yaml.serialize(root, **dumper)) if root.value else ""


def _node(value: FieldValue | None) -> "yaml.Node | None":
    import yaml

    if isinstance(value, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [_node(item) for item in value], flow_style=False)
    # Folding and breaking of other styles is where YAML writers differ; this one keeps any text on one line.
    style = None if value is None or value.isprintable() else '"'
    return None if value is None else yaml.ScalarNode("tag:yaml.org,2002:str", value, style=style)
