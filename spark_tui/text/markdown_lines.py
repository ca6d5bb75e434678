"""Markdown → prepared lines, in one pass; for reading (detail, preview, help), so it never fails on odd input."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Block, Line, Piece, Rule, blank
from spark_tui.text.safe import many_lines
from spark_tui.text.table import Table, TableCell
from spark_tui.text.width import cells

if TYPE_CHECKING:
    from markdown_it.token import Token


def markdown_lines(markdown: str) -> list[Block]:
    """The text as blocks for a ``LineView``; hostile characters are made visible first, raw HTML is shown as text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 40}).enable(["table", "strikethrough"])
    writer = _Writer(parser.parse("\n".join(many_lines(markdown))))
    return writer.write()


class _Writer:
    """Walks the parser's tokens once and writes blocks."""

    def __init__(self, tokens: "list[Token]") -> None:
        self.tokens = iter(tokens)
        self.blocks: list[Block] = []
        self.lead: list[Piece] = []  # opens every row: quote bars and list indents
        self.first: tuple[Piece, ...] = ()  # opens the next line only: a bullet or number
        self.numbers: list[int | None] = []

    def write(self) -> list[Block]:
        """The blocks of the whole document."""
        for token in self.tokens:
            handler = getattr(self, "_" + token.type, None)
            if handler is not None:
                handler(token)
        while self.blocks and self.blocks[-1] == blank():
            self.blocks.pop()
        return self.blocks

    def _emit(self, pieces: tuple[Piece, ...], verbatim: bool = False) -> None:
        self.blocks.append(Line(pieces, tuple(self.lead), self.first, verbatim))
        if self.first:
            self.first = (("text", " " * sum(cells(text) for _style, text in self.first)),)

    def _gap(self) -> None:
        """One blank row, the quote bars kept."""
        bars = tuple(piece for piece in self.lead if piece[1].strip())
        if self.blocks and self.blocks[-1] not in (blank(), Line((), bars)):
            self.blocks.append(Line((), bars))

    def _inline(self, token: "Token") -> None:
        for pieces in _inline_lines(token, "text"):
            self._emit(pieces)

    def _paragraph_close(self, token: "Token") -> None:
        if not token.hidden:
            self._gap()

    def _heading_open(self, token: "Token") -> None:
        level = int(token.tag[1])
        style = "heading" if level < 3 else "strong"
        for pieces in _inline_lines(next(self.tokens), style):
            self._emit((("faint", "#" * level + " "), *pieces))

    def _heading_close(self, token: "Token") -> None:
        self._gap()

    def _fence(self, token: "Token") -> None:
        self.lead.append(("text", "  "))
        for line in token.content.removesuffix("\n").split("\n"):
            self._emit((("code", line),), verbatim=True)
        self.lead.pop()
        self._gap()

    _code_block = _fence

    def _html_block(self, token: "Token") -> None:
        for line in token.content.rstrip("\n").split("\n"):
            self._emit((("dim", line),))
        self._gap()

    def _hr(self, token: "Token") -> None:
        self.blocks.append(Rule())
        self._gap()

    def _blockquote_open(self, token: "Token") -> None:
        self.lead.append(("faint", glyphs().bar + " "))

    def _blockquote_close(self, token: "Token") -> None:
        self._drop_gap()
        self.lead.pop()
        self._gap()

    def _bullet_list_open(self, token: "Token") -> None:
        self.numbers.append(None)

    def _ordered_list_open(self, token: "Token") -> None:
        self.numbers.append(int(token.attrs.get("start", 1)))

    def _list_item_open(self, token: "Token") -> None:
        number = self.numbers[-1]
        mark = f"{glyphs().bullet} " if number is None else f"{number}. "
        if number is not None:
            self.numbers[-1] = number + 1
        if self.first:
            # An item inside an item starts below its parent's mark, so that mark becomes an indent of every row.
            self.lead.append(("text", " " * sum(cells(text) for _style, text in self.first)))
        else:
            self.lead.append(("text", ""))
        self.first = (("dim", mark),)

    def _list_item_close(self, token: "Token") -> None:
        indent = self.lead.pop()[1]
        self.first = (("text", indent),) if indent else ()

    def _list_close(self, token: "Token") -> None:
        self.numbers.pop()
        if not self.numbers:
            self._gap()

    _bullet_list_close = _ordered_list_close = _list_close

    def _drop_gap(self) -> None:
        bars = tuple(piece for piece in self.lead if piece[1].strip())
        if self.blocks and self.blocks[-1] in (blank(), Line((), bars)):
            self.blocks.pop()

    def _table_open(self, token: "Token") -> None:
        rows: list[list[TableCell]] = []
        for inner in self.tokens:
            if inner.type == "table_close":
                break
            if inner.type == "tr_open":
                rows.append([])
            elif inner.type == "inline":
                style = "strong" if len(rows) == 1 else "text"
                rows[-1].append(tuple(piece for line in _inline_lines(inner, style) for piece in line))
        self.blocks.append(Table(tuple(rows[0]), tuple(tuple(row) for row in rows[1:])))
        self._gap()


def _inline_lines(token: "Token", base: str) -> list[tuple[Piece, ...]]:
    """The pieces of an inline token, one tuple per hard line."""
    lines: list[list[Piece]] = [[]]
    for piece in _inline_pieces(token.children or [], base):
        if piece is None:
            lines.append([])
        else:
            lines[-1].append(piece)
    return [tuple(line) for line in lines]


_OPENED = {"strong_open": "strong", "em_open": "emphasis", "link_open": "link", "s_open": "dim"}


def _inline_pieces(children: "list[Token]", base: str) -> Iterator[Piece | None]:
    """Pieces in order; None is a hard line break."""
    styles = [base]
    targets: list[str] = []
    shown = ""
    for at, child in enumerate(children):
        if child.type in _OPENED:
            styles.append(_OPENED[child.type] if base == "text" or child.type == "link_open" else base)
            targets.append(str(child.attrs.get("href", "")))
            shown = ""
        elif child.type.endswith("_close") and targets:
            styles.pop()
            target = targets.pop()
            if target and target != shown and target != f"mailto:{shown}":
                yield "faint" if base == "faint" else "dim", f" ({target})"
        elif child.type == "softbreak":
            yield from _soft(children, at, styles[-1])
        elif child.type == "hardbreak":
            yield None
        elif child.type == "image":
            yield "link", f"[{child.content}]"
            yield "dim", f" ({child.attrs.get('src', '')})"
        elif child.content:
            shown += child.content
            yield ("code" if child.type == "code_inline" else styles[-1]), child.content


def _soft(children: "list[Token]", at: int, style: str) -> Iterator[Piece]:
    """A line break of the source is a space, except between two wide characters: Chinese has none there."""
    before = next((c.content for c in reversed(children[:at]) if c.content), "")[-1:]
    after = next((c.content for c in children[at + 1 :] if c.content), "")[:1]
    if not (before and after and cells(before) == 2 and cells(after) == 2):
        yield style, " "
