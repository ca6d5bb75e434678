"""Prints one memory or one search answer for people; kept apart so that JSON commands never load the drawing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.errors import NotFound
from engine.memory.model import Entry, Revision
from spark_tui.cli.invocation import Invocation
from spark_tui.presenters.json_shapes import Found
from spark_tui.presenters.tables import related_table, search_table
from spark_tui.presenters.words import author_word
from spark_tui.text.dates import moment
from spark_tui.text.i18n import _
from spark_tui.text.lines import Rule, ScreenRow
from spark_tui.text.safe import many_lines, one_line

if TYPE_CHECKING:
    from engine.runtime import Engine

PAGE_WIDTH = 100


def print_memory(
    invocation: Invocation, engine: "Engine", entry: Entry, body: str, revisions: Sequence[Revision]
) -> None:
    """The page of one memory, and its earlier versions where they were asked for."""
    from spark_tui.presenters.memory_detail import Detail, detail_lines  # a search prints no markdown

    invocation.speak(engine)
    layer = engine.listing.layer(entry.id)
    derivations = engine.history.derivations(entry.id)
    others = {each for edge in derivations for each in (edge.from_id, edge.to_id)} | {entry.superseded_by or entry.id}
    detail = Detail(
        entry, body, invocation.project(engine), layer.folder / entry.file, len(engine.history.revisions(entry.id)),
        derivations, {each: name for each in others if (name := _name(engine, each))},
    )  # fmt: skip
    for block in detail_lines(detail, engine.clock.now_ms(), engine.clock.zone()):
        # A pipe gets whole lines, so that paths and sentences can be searched; only the rule has no length of its own.
        limit = PAGE_WIDTH if invocation.output.on_terminal or isinstance(block, Rule) else invocation.output.width
        invocation.output.rows(block.rows(min(invocation.output.width, limit)))
    for revision in revisions:
        invocation.output.rows([(), *_version(revision, engine)])


def print_found(invocation: Invocation, engine: "Engine", found: Found, explain: bool) -> None:
    """Hits, what is related to them, and one sentence where the answer is less than it looks."""
    invocation.speak(engine)
    invocation.output.rows(search_table(found, explain, invocation.output.width))
    if found.related:
        invocation.output.line()
        invocation.output.rows(related_table(found.related, invocation.output.width))
    sentence = _sentence(found)
    if sentence:
        invocation.output.note(sentence, "warning")


def _sentence(found: Found) -> str:
    if found.status == "disabled":
        return _("memory is switched off, so nothing was searched")
    if found.status == "degraded":
        return _("the search was not complete: {reason}").format(reason=found.reason or _("a channel failed"))
    return "" if found.hits else _("nothing found")


def _version(revision: Revision, engine: "Engine") -> list[ScreenRow]:
    entry, zone = revision.entry, engine.clock.zone()
    head = _("version {n}, {when}, by {author}").format(
        n=entry.version, when=moment(entry.updated_at, zone), author=author_word(entry.author_role)
    )
    lines: list[ScreenRow] = [
        (("heading", head),),
        (("text", f"{one_line(entry.name)}: {one_line(entry.description)}"),),
    ]
    return lines + [(("dim", line),) for line in many_lines(revision.body)] if revision.body else lines


def _name(engine: "Engine", entry_id: str) -> str | None:
    try:
        return engine.listing.entry(entry_id).name
    except NotFound:
        return None
