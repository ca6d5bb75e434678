"""What commands print for people: engine objects as aligned lines of safe text, cut to the width they are given."""

from collections.abc import Iterable, Sequence

from engine.memory.model import Change, Entry, ItemResult, State
from spark_tui.presenters.json_shapes import Found, Reasoned
from spark_tui.presenters.memory_rows import Reasons, reason_cells
from spark_tui.presenters.words import action_word, author_word, place_word, state_style, state_word, type_word
from spark_tui.text.dates import age
from spark_tui.text.fit import fit, truncate
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.lines import Piece, ScreenRow
from spark_tui.text.safe import one_line
from spark_tui.text.width import cells

GAP = 2
FLEX_MIN = 12


def laid_out(titles: Sequence[str], body: Sequence[Sequence[Piece]], width: int, flex: int) -> list[ScreenRow]:
    """Columns as wide as their widest cell under a dim header; column ``flex`` gives way so that rows fit ``width``."""
    if not body:
        return []
    widths = [max(cells(text) for text in column) for column in _columns(titles, body)]
    others = sum(widths) - widths[flex] + GAP * (len(widths) - 1)
    widths[flex] = min(widths[flex], max(width - others, FLEX_MIN))
    header = [("dim", title) for title in titles]
    return [_row(row, widths, width) for row in (header, *body)]


def memory_table(entries: Sequence[Entry], now_ms: int, project: str, width: int) -> list[ScreenRow]:
    """One memory a line; the state is a column of its own only where one is not active."""
    odd = any(entry.state(now_ms) is not State.ACTIVE for entry in entries)
    titles = [_("id"), _("scope"), _("type"), _("name"), *([_("state")] if odd else []), _("description"), _("age")]
    body = [
        [
            ("accent", entry.id),
            ("dim", one_line(place_word(entry, project))),
            ("dim", type_word(entry.type)),
            ("strong", one_line(entry.name)),
            *([_state(entry, now_ms)] if odd else []),
            ("text", one_line(entry.description)),
            ("dim", age(entry.updated_at, now_ms)),
        ]
        for entry in entries
    ]
    return laid_out(titles, body, width, len(titles) - 2)


def list_summary(shown: int, total: int) -> str:
    """The line under a list."""
    if not total:
        return _("no memory matches")
    counted = ngettext("{n} memory", "{n} memories", total).format(n=total)
    return counted if shown == total else _("{shown} of {counted}").format(shown=shown, counted=counted)


def search_table(found: Found, explain: bool, width: int) -> list[ScreenRow]:
    """Hits best first; with ``explain`` every rank and factor that made the order."""
    titles = [_("id"), _("type"), _("name"), _("description")]
    if explain:
        titles += [_("words"), _("meaning"), "rrf", _("decay"), _("confidence"), _("score")]
    body = [[*_hit(hit.entry), *(_reasons(hit) if explain else ())] for hit in found.hits]
    return laid_out(titles, body, width, 3)


def related_table(entries: Sequence[Entry], width: int) -> list[ScreenRow]:
    """Memories that share an entity with the best hits."""
    return laid_out([_("related"), _("type"), _("name"), _("description")], [_hit(each) for each in entries], width, 3)


def change_table(changes: Sequence[Change], now_ms: int, width: int) -> list[ScreenRow]:
    """The recent changes, newest first, with the group that ``memory undo`` takes."""
    titles = [_("group"), _("age"), _("change"), _("id"), _("name"), _("version"), _("by"), _("fields")]
    body = [
        [
            ("accent", change.group),
            ("dim", age(change.at, now_ms)),
            ("dim" if change.undone else "text", _undone(change)),
            ("text", change.id),
            ("strong", one_line(change.name)),
            ("dim", f"{change.before or '-'}>{change.after or '-'}"),
            ("dim", author_word(change.author)),
            ("dim", one_line(", ".join(change.fields))),
        ]
        for change in changes
    ]
    return laid_out(titles, body, width, 7)


def result_rows(results: Iterable[ItemResult]) -> list[ScreenRow]:
    """What became of each id of a bulk verb."""
    return [
        (
            ("accent", result.id),
            ("good" if result.ok else "error", f"  {result.outcome}"),
            ("text", f"  {one_line(result.message)}" if result.message else ""),
        )
        for result in results
    ]


def _hit(entry: Entry) -> list[Piece]:
    return [
        ("accent", entry.id),
        ("dim", type_word(entry.type)),
        ("strong", one_line(entry.name)),
        ("text", one_line(entry.description)),
    ]


def _reasons(hit: Reasoned) -> list[Piece]:
    reasons = Reasons(hit.fts_rank, hit.vector_rank, hit.rrf, hit.decay, hit.entry.confidence, hit.score)
    return [(cell.style, cell.text) for cell in reason_cells(reasons)]


def _state(entry: Entry, now_ms: int) -> Piece:
    state = entry.state(now_ms)
    return state_style(state), state_word(state)


def _undone(change: Change) -> str:
    word = action_word(change.action)
    return _("{action} (undone)").format(action=word) if change.undone else word


def _columns(titles: Sequence[str], body: Sequence[Sequence[Piece]]) -> list[list[str]]:
    return [[title, *(row[at][1] for row in body)] for at, title in enumerate(titles)]


def _row(row: Sequence[Piece], widths: Sequence[int], width: int) -> ScreenRow:
    pieces: list[Piece] = []
    left = width
    for at, ((style, text), size) in enumerate(zip(row, widths, strict=True)):
        last = at + 1 == len(widths)
        shown = (
            truncate(text, min(size, left))
            if last
            else fit(text, min(size, left)) + " " * min(GAP, left - min(size, left))
        )
        pieces.append((style, shown))
        left -= cells(shown)
    return tuple(pieces)
