"""The columns of the memory list, and entries and hits as rows of it."""

from collections.abc import Sequence

from engine.memory.listing import Order
from engine.memory.model import Entry
from spark_tui.presenters.memory_rows import Reasons, Words, age_width, memory_cells, reason_cells
from spark_tui.text.i18n import _
from spark_tui.widgets.rows import Cell, Column, Row, Span

_SORTED = {Order.UPDATED: "age", Order.CREATED: "age", Order.NAME: "name", Order.HITS: "hits", Order.TYPE: "type"}


def columns(order: Order | None, reasons: bool = False, described: bool = True) -> list[Column]:
    """Mark, type, name, description, age, hits; with ``reasons`` the six numbers of a hit instead of the last three.

    ``order`` None means sorted by relevance; ``described`` False leaves the description to the page beside the list.
    """
    by = _SORTED[order] if order is not None else ""
    age = _("made") if order is Order.CREATED else _("age")
    head = [
        Column("mark", "", 1),
        Column("type", _("type"), 9, priority=20, sorted="ascending" if by == "type" else ""),
        Column("name", _("name"), 14 if described else 20, flex=2, most=30, sorted="ascending" if by == "name" else ""),
    ]
    if reasons:
        return head + _reason_columns()
    return [
        *head,
        Column("description", _("description"), 26 if described else 400, flex=5, priority=25 if described else 1),
        Column("age", age, max(4, age_width()), priority=30, align="right", sorted="descending" if by == "age" else ""),
        Column("hits", _("hits"), 4, priority=10, align="right", sorted="descending" if by == "hits" else ""),
    ]


def _reason_columns() -> list[Column]:
    return [
        Column("fts", _("words"), 7, priority=35, align="right"),
        Column("vector", _("vector"), 7, priority=34, align="right"),
        Column("rrf", "rrf", 6, priority=25, align="right"),
        Column("decay", _("decay"), 5, priority=24, align="right"),
        Column("confidence", _("conf"), 4, priority=23, align="right"),
        Column("final", _("final"), 7, priority=60, align="right"),
    ]


def row_of(entry: Entry, now_ms: int, by_creation: bool = False) -> Row:
    """An entry of a plain list."""
    return Row(entry.id, _cells(memory_cells(entry, now_ms, by_creation=by_creation)))


def hit_row(entry: Entry, now_ms: int, searched: Sequence[str], why: Reasons | str, with_reasons: bool) -> Row:
    """A search hit with its numbers, or an entry that is listed for the reason of one word; matches are marked."""
    cells = memory_cells(entry, now_ms, searched)
    return Row(entry.id, _cells((*cells[:3], *reason_cells(why)) if with_reasons else cells))


def _cells(words: Sequence[Words]) -> tuple[Cell, ...]:
    return tuple(
        Cell(each.text, each.style, tuple(Span(start, end, "match") for start, end in each.matches)) for each in words
    )
