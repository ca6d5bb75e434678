"""Candidates as lines for people; loaded only where lines are printed."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from engine.memory.candidates.model import Candidate, CandidateState, Shown
from spark_tui.presenters.candidate_words import action_word, origin_word, state_word, target_words
from spark_tui.presenters.tables import laid_out
from spark_tui.presenters.words import scope_word, type_word
from spark_tui.text.dates import age, moment
from spark_tui.text.i18n import _, ngettext
from spark_tui.text.lines import ScreenRow
from spark_tui.text.safe import many_lines, one_line

LABEL = 12


def candidate_table(found: Sequence[Shown], now_ms: int, width: int) -> list[ScreenRow]:
    """One candidate a line, with a mark where something it rests on has changed."""
    body = [
        [
            ("accent", each.candidate.id),
            ("dim", age(each.candidate.created_at, now_ms)),
            ("text", action_word(each.candidate.action)),
            ("dim", state_word(each.candidate.state)),
            ("dim", scope_word(each.candidate.scope)),
            ("strong", one_line(each.candidate.name)),
            ("text", one_line(each.candidate.description)),
            ("warning", _("changed") if _has_changed(each) else ""),
        ]
        for each in found
    ]
    titles = [_("id"), _("age"), _("action"), _("state"), _("scope"), _("name"), _("description"), ""]
    return laid_out(titles, body, width, 6)


def summary(shown: int, total: int) -> str:
    """The line under a list."""
    if not total:
        return _("no candidate matches")
    counted = ngettext("{n} candidate", "{n} candidates", total).format(n=total)
    return counted if shown == total else _("{shown} of {counted}").format(shown=shown, counted=counted)


def candidate_page(shown: Shown, zone: tzinfo) -> list[ScreenRow]:
    """Everything a decision needs: what would happen, the text, what it rests on, and the digest that binds it."""
    each = shown.candidate
    rows: list[ScreenRow] = [(("strong", one_line(each.name)), ("dim", f"  {type_word(each.type)}"))]
    if each.description:
        rows.append((("text", one_line(each.description)),))
    if each.body:
        rows += [(), *((("text", line),) for line in many_lines(each.body))]
    rows.append(())
    rows += [(("dim", f"{label:{LABEL}}"), ("text", one_line(value))) for label, value in _facts(each, zone) if value]
    if target_words(shown):
        rows.append((("warning", target_words(shown)),))
    return rows + list(_source_rows(shown))


def _facts(each: Candidate, zone: tzinfo) -> Iterator[tuple[str, str]]:
    yield _("action"), f"{action_word(each.action)} ({origin_word(each.origin)})"
    yield _("state"), state_word(each.state)
    yield _("scope"), " ".join(filter(None, (scope_word(each.scope), each.scope_ref)))
    yield _("target"), each.target.id if each.target else ""
    yield _("became"), each.result_id or ""
    yield _("reason"), each.reason
    yield _("evidence"), each.evidence or ""
    yield _("expires"), moment(each.expires_at, zone) if each.state is CandidateState.PENDING else ""
    yield "id", each.id
    yield "digest", each.digest


def _source_rows(shown: Shown) -> Iterator[ScreenRow]:
    for source in shown.sources:
        mark = f"  {_('changed since')}" if source.changed else ""
        yield (("dim", f"{_('rests on'):{LABEL}}"), ("accent", source.id), ("text", f" {one_line(source.name)}"),
               ("warning", mark))  # fmt: skip


def _has_changed(each: Shown) -> bool:
    waits = each.candidate.state is CandidateState.PENDING
    return waits and (each.target_changed or any(source.changed for source in each.sources))
