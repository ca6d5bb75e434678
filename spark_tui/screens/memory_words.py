"""The words of the memory screen's top line and of an empty list."""

from dataclasses import dataclass

from engine.memory.retrieval import SearchStatus
from spark_tui.presenters.candidate_words import waiting_words
from spark_tui.presenters.top_words import search_word
from spark_tui.presenters.words import scope_word, state_word, type_word
from spark_tui.screens.memory_filter import Shown
from spark_tui.screens.memory_overview import Overview
from spark_tui.screens.memory_search import Found
from spark_tui.text.dates import day
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.safe import one_line
from spark_tui.widgets.top_line import Word


@dataclass(frozen=True, slots=True)
class Standing:
    """What the top line tells of beside the overview: how many are listed, the filter, the query, why nothing is written."""

    listed: int
    shown: Shown
    query: str
    refusal: str | None
    facets_in_sight: bool


def left_words(overview: Overview, standing: Standing) -> list[Word]:
    """Where one is: the workspace, and how much of what is there is listed."""
    total = overview.total
    if standing.query or standing.listed != total:
        amount = _("{n} of {total}").format(n=standing.listed, total=total)
    else:
        amount = ngettext("{n} memory", "{n} memories", total).format(n=total)
    workspace = overview.workspace
    return [
        Word(one_line(workspace) if workspace else _("no workspace"), "strong" if workspace else "dim", 100),
        Word(amount, "dim", 60),
        *([] if standing.facets_in_sight else filter_words(standing.shown)),
    ]


def right_words(overview: Overview, standing: Standing) -> list[Word]:
    """How things stand: writing refused, another day, candidates that wait, search."""
    words, style = search_word(overview.search)
    found = [
        Word(waiting_words(overview.pending), "accent", 65),
        Word(words, style, 70 if style == "warning" else 50),
    ]
    if standing.shown.day is not None:
        found.insert(0, Word(_("as of {day}").format(day=day(standing.shown.day)), "accent", 90))
    if standing.refusal is not None:
        found.insert(0, Word(_("read-only"), "warning", 95))
    return found


def filter_words(shown: Shown) -> list[Word]:
    """The facets that are on, where their bar is not in sight."""
    words = []
    if shown.agent is not None or shown.scope is not None:
        words.append(one_line(shown.agent) if shown.agent else scope_word(shown.scope) if shown.scope else "")
    if shown.type is not None:
        words.append(type_word(shown.type))
    if shown.state is not None:
        words.append(state_word(shown.state))
    if shown.entity is not None:
        words.append(one_line(shown.entity))
    return [Word(word, "accent", 80) for word in words]


def empty_words(found: Found | None, shown: Shown) -> str:
    """Why nothing is listed."""
    if found is None:
        return _("nothing here: esc shows everything") if shown.is_narrowed else _("nothing applied on that day")
    if found.result.status is SearchStatus.DISABLED:
        return _("memory is switched off, so nothing is searched")
    if found.result.unavailable:
        return _("search does not work right now: 8 tells why")
    return _("no memory matches")
