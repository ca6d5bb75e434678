"""A memory block as a page: what an agent would get, what each line costs, what is not in it and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.memory.model import Entry
from spark_tui.presenters.words import drop_word
from spark_tui.text.i18n import N_, _, ngettext
from spark_tui.text.lines import Block, Line, Rule, blank
from spark_tui.text.safe import many_lines, one_line
from spark_tui.text.table import Table

_STATUS = {
    "empty": N_("Nothing to inject: no active memory is in these scopes."),
    "disabled": N_("Memory is switched off, so there is no block and no tool."),
    "expired": N_("Nothing to inject: what there was has expired."),
}


@dataclass(frozen=True, slots=True)
class Preview:
    """An injection as it would happen: ``lines`` are (id, tokens), ``dropped`` (id, reason code)."""

    status: str
    block: str
    tokens: int
    budget: int
    lines: Sequence[tuple[str, int]]
    dropped: Sequence[tuple[str, str]]
    entries: Mapping[str, Entry]


def injection_lines(preview: Preview) -> list[Block]:
    """The page: a sentence, the exact block, tokens per entry, what was left out."""
    return [*_summary(preview), *_block(preview), *_costs(preview), *_left_out(preview)]


def _summary(preview: Preview) -> Iterable[Block]:
    if preview.status in _STATUS:
        yield Line((("warning", _(_STATUS[preview.status])),))
        return
    count = len(preview.lines)
    words = ngettext("{n} entry", "{n} entries", count).format(n=count)
    tokens = _("{used} of {budget} tokens").format(used=preview.tokens, budget=preview.budget)
    left = _("{n} left out").format(n=len(preview.dropped)) if preview.dropped else _("nothing left out")
    yield Line((("strong", tokens), ("dim", f", {words}, {left}")))


def _block(preview: Preview) -> Iterable[Block]:
    if not preview.block:
        return
    yield Rule()
    for line in many_lines(preview.block.removesuffix("\n")):
        yield _block_line(line)
    yield Rule()


def _block_line(line: str) -> Line:
    """One line of the block; an entry that wraps hangs below its own text."""
    if line.startswith("- "):
        return Line((("text", line[2:]),), first=(("dim", line[:2]),))
    return Line((("accent" if line.startswith("<") else "dim", line),))


def _costs(preview: Preview) -> Iterable[Block]:
    if not preview.lines:
        return
    yield blank()
    yield _heading(_("Tokens per entry"))
    fixed = preview.tokens - sum(tokens for _id, tokens in preview.lines)
    body = [(_number(tokens), _names(preview, entry_id)[0]) for entry_id, tokens in preview.lines]
    body.append((_number(fixed), (("dim", _("the fixed text")),)))
    yield Table(_header(_("tokens"))[:2], tuple(body))


def _left_out(preview: Preview) -> Iterable[Block]:
    if not preview.dropped:
        return
    yield blank()
    yield _heading(_("Left out"))
    body = [((("dim", drop_word(reason)),), *_names(preview, entry_id)) for entry_id, reason in preview.dropped]
    yield Table(_header(_("reason")), tuple(body))


def _header(first: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    return ((("dim", first),), (("dim", _("name")),), (("dim", _("description")),))


def _names(preview: Preview, entry_id: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    entry = preview.entries.get(entry_id)
    if entry is None:
        return (("text", entry_id),), ()
    return (("text", one_line(entry.name)),), (("dim", one_line(entry.description)),)


def _number(tokens: int) -> tuple[tuple[str, str], ...]:
    return (("text", str(tokens).rjust(4)),)


def _heading(text: str) -> Line:
    return Line((("heading", text),))
