"""Markdown files with YAML frontmatter, read, written and changed so that no text is ever taken for anything but itself.

A field is the literal string its YAML holds, a body is kept byte for byte, and no message quotes the file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import SparkError, ValidationFailed
from engine.storage import yaml_text
from engine.storage.yaml_block import BrokenYaml, read_block
from engine.storage.yaml_edit import changed_block
from engine.storage.yaml_text import FieldValue

if TYPE_CHECKING:
    from frontmatter.default_handlers import YAMLHandler

__all__ = ["Document", "FieldValue", "FrontmatterError", "markdown_handler", "patch", "read", "write"]

KEY_MAX = 200
"""Most characters of a key; YAML knows a limit of about 1,000 in front of a colon."""

_OPENING = re.compile("\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile("^---[ \t]*\r?(?:\n|\\Z)", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?:[ \r\n]|\Z)", re.MULTILINE)
_CONFLICT_BEGINS = re.compile("^<{7} ", re.MULTILINE)
_CONFLICT_ENDS = re.compile("^>{7} ", re.MULTILINE)
_CONFLICTS = "it holds unresolved conflict markers"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class FrontmatterError(SparkError):
    """The file cannot be read as fields and a body; ``details['line']`` is where, counted from 1."""

    code = "FRONTMATTER_BROKEN"

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}", "correct the file by hand; it was left as it is", line=line)


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says: fields in file order (structures are kept in the file but are none), and the body."""

    fields: dict[str, FieldValue]
    body: str


class _Parts(NamedTuple):
    """A file's text in four stretches: the opening fence, the YAML, the closing fence, the body."""

    opening: str
    block: str
    closing: str
    body: str


def read(data: bytes) -> Document:
    """The fields and body of a file. Raises ``FrontmatterError`` for anything that is not clearly both."""
    parts = _parts(_decoded(data))
    return Document(_fields(parts.block), parts.body)


def write(fields: Mapping[str, FieldValue], body: str) -> bytes:
    """A new file with the fields in the order given and the body as it is.

    Raises ``ValidationFailed`` for what :func:`read` would not give back: NUL in a field, lone surrogates, and conflict
    markers in the body.
    """
    import frontmatter

    post = frontmatter.Post(_checked_body(body), markdown_handler())
    post.metadata.update(fields)
    return frontmatter.dumps(post).encode()


def patch(data: bytes, changes: Mapping[str, FieldValue | None], body: str | None = None) -> bytes:
    """A file with some fields set or, by None, removed, and the body replaced if one is given.

    Every byte that says something else stays: comments, order, unknown keys, line ends. Raises ``FrontmatterError``
    when the file cannot be read, ``ValidationFailed`` as :func:`write` does.
    """
    parts = _parts(_decoded(data))
    line_end = "\r\n" if parts.opening.endswith("\r\n") else "\n"
    for name, value in changes.items():
        _check_field(name, "" if value is None else value)
    try:
        block = changed_block(parts.block, changes, line_end)
    except BrokenYaml as broken:
        raise _in_file(broken) from None
    closing, kept = parts.closing, parts.body
    if body is not None:
        kept = _checked_body(body)
        closing = closing if closing.endswith("\n") or not body else closing.rstrip("\r") + line_end
    changed = f"{parts.opening}{block}{closing}{kept}".encode()
    _check_promise(_fields(parts.block), changes, kept, changed)
    return changed


@cache
def markdown_handler() -> "YAMLHandler":
    """The handler that gives python-frontmatter these rules, for ``frontmatter.dumps`` and its like.

    ``frontmatter.loads`` strips a text before any handler sees it: use :func:`read`.
    """
    from frontmatter import Post
    from frontmatter.default_handlers import YAMLHandler

    class LiteralHandler(YAMLHandler):
        def split(self, text: str) -> tuple[str, str]:
            parts = _parts(text)
            return parts.block, parts.body

        def load(self, fm: str, **_: object) -> dict[str, FieldValue]:
            return _parsed(fm)

        def export(self, metadata: dict[str, object], **_: object) -> str:
            return "".join(yaml_text.pair(name, _check_field(name, value)) for name, value in metadata.items())

        def format(self, post: Post, **_: object) -> str:
            return f"---\n{self.export(post.metadata)}---\n{post.content}"

    return LiteralHandler()


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FrontmatterError(data.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from None


def _parts(text: str) -> _Parts:
    opening = _OPENING.match(text)
    if opening is None:
        marked = _CONFLICT.match(text)
        raise FrontmatterError(1, _CONFLICTS if marked else "there is no frontmatter: the first line is not ---")
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise FrontmatterError(1, "the frontmatter has no closing --- line")
    marker = _CONFLICT.search(text, opening.end(), closing.start()) or _conflict_in(text, closing.end())
    if marker is not None:
        raise FrontmatterError(text.count("\n", 0, marker.start()) + 1, _CONFLICTS)
    return _Parts(opening[0], text[opening.end() : closing.start()], closing[0], text[closing.end() :])


def _conflict_in(text: str, start: int = 0) -> re.Match[str] | None:
    """Where a body holds an unresolved conflict: one marker alone may be a heading or an example."""
    begins = _CONFLICT_BEGINS.search(text, start) if "<<<<<<< " in text else None
    return begins if begins and _CONFLICT_ENDS.search(text, begins.end()) else None


def _fields(block: str) -> dict[str, FieldValue]:
    simple = yaml_text.simple_fields(block)
    return markdown_handler().load(block) if simple is None else simple


def _parsed(block: str) -> dict[str, FieldValue]:
    try:
        return read_block(block).fields()
    except BrokenYaml as broken:
        raise _in_file(broken) from None


def _in_file(broken: BrokenYaml) -> FrontmatterError:
    return FrontmatterError(broken.line + 1, broken.why)  # the opening fence is line 1


def _check_field(name: str, value: object) -> FieldValue:
    if len(name) > KEY_MAX:
        raise ValidationFailed(f"a field's name has {len(name)} characters, {KEY_MAX} are allowed")
    texts = value if isinstance(value, list) else [value]
    for text in (name, *texts):
        if not isinstance(text, str):
            raise ValidationFailed("a field holds something that is neither text nor a list of texts")
        if _UNSTORABLE.search(text):
            raise ValidationFailed("a field holds a character that cannot be stored")
    return value if isinstance(value, str) else [str(text) for text in texts]


def _checked_body(body: str) -> str:
    if _LONE_SURROGATE.search(body):
        raise ValidationFailed("the body holds a character that cannot be stored")
    if _conflict_in(body):
        raise ValidationFailed("the body holds conflict markers at the start of a line", "indent them by a space")
    return body


def _check_promise(
    fields: dict[str, FieldValue], changes: Mapping[str, FieldValue | None], body: str, changed: bytes
) -> None:
    """Refuse to hand out a changed file that does not say what it should; YAML has more corners than tests."""
    wanted = {name: value for name, value in (fields | dict(changes)).items() if value is not None}
    if read(changed) != Document(wanted, body):
        raise FrontmatterError(1, "its frontmatter is written in a way that cannot be changed safely")
