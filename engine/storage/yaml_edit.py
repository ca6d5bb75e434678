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
    edits: list[Edit] = []
    open_at = -1  # where lines that follow would be read as part of the literal above
    for name, key, node in block.pairs():
        if name not in due:
            open_at = node.end if block.text[node.end - 1] == "\n" else -1
            continue
        if not _stands_alone(block, key, node):
            return None
        value = due[name]
        if value is not None:
            edits += _replacement(block.text, key, node, value, line_end)
            open_at = -1
            continue
        start, end = _line_start(block.text, key.start), _end(block.text, node)
        fence = f"#{line_end}" if start == open_at and block.text[end : end + 1] in (" ", "\r", "\n") else ""
        edits.append((start, end, fence))
        open_at = end if start == open_at and not fence else -1
    return edits + _additions(block, due, line_end)


def _additions(block: Block, due: Mapping[str, FieldValue | None], line_end: str) -> list[Edit]:
    names = {name for name, _, _ in block.pairs()}
    end = len(block.text)
    new = ((name, value) for name, value in due.items() if name not in names and value is not None)
    return [(end, end, yaml_text.pair(name, value, line_end, " " * block.column)) for name, value in new]


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


def _replacement(text: str, key: Node, node: Node, value: FieldValue, line_end: str) -> list[Edit]:
    if node.shape is Shape.INLINE:
        return [_put(text, node.start, node.end, yaml_text.inline(value))]
    if node.shape is Shape.LITERAL:
        header = _LITERAL_HEADER.match(text, node.start)
        header_end = header.end() if header else node.end
        return [
            _put(text, node.start, header_end, yaml_text.inline(value)),
            (_next_line(text, header_end), _end(text, node), ""),
        ]
    if node.shape is Shape.ROWS and isinstance(value, list) and value:
        rows = yaml_text.rows(value, line_end, " " * _column(text, node.start))
        ends_in_literal = text[node.end - 1] == "\n"
        return [
            _put(text, node.start, _end(text, node) if ends_in_literal else node.end, rows + line_end * ends_in_literal)
        ]
    colon = _COLON.match(text, key.end)
    after = colon.end() if colon else key.end
    cut = [] if node.shape is Shape.EMPTY else [(_line_start(text, node.start), _end(text, node), "")]
    return [(after, after, " " + yaml_text.inline(value)), *cut]


def _end(text: str, node: Node) -> int:
    """Where the line after the node begins; the blank lines below a literal are left out."""
    at = node.end
    while text[at - 1] in " \t\r\n" and at > node.start:
        at -= 1
    return text.find("\n", at) + 1


def _put(text: str, start: int, end: int, new: str) -> Edit:
    # A comment may touch a quoted value, but would become part of a bare one.
    return start, end, new + (" " if text[end : end + 1] == "#" and not new.endswith("\n") else "")


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1


def _column(text: str, at: int) -> int:
    return at - _line_start(text, at)


def _rewritten(text: str, due: Mapping[str, FieldValue | None], line_end: str) -> str:
    """The block from its nodes, which anchors hold together whatever is taken out."""
    import yaml

    root = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    old = root.value if isinstance(root, yaml.MappingNode) else []
    texts = {name: value for name, value in due.items() if value is not None}
    kept = [(key, value) for key, value in old if key.value in texts or key.value not in due]
    new = [(key, _node(texts[key.value]) if key.value in texts else value) for key, value in kept]
    names = {key.value for key, _ in kept}
    new += [(_node(name), _node(value)) for name, value in texts.items() if name not in names]
    if not new:
        return ""
    root = root if isinstance(root, yaml.MappingNode) else yaml.MappingNode("tag:yaml.org,2002:map", [])
    root.value, root.flow_style = new, False  # in place: an alias may mean the whole of it
    return yaml.serialize(root, Dumper=yaml.BaseDumper, allow_unicode=True, width=float("inf"), line_break=line_end)


def _node(value: FieldValue) -> "yaml.Node":
    import yaml

    if isinstance(value, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [_node(item) for item in value], flow_style=False)
    # Breaking lines in the other styles is where YAML writers err; this one keeps any text on one line.
    style = None if value.isprintable() else '"'
    return yaml.ScalarNode("tag:yaml.org,2002:str", value, style=style)
