"""The gate log for people: what was not remembered, by which gate, when; by name only, never by its text."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.memory.model import Scope
from spark_tui.presenters.candidate_words import reason_word
from spark_tui.presenters.words import scope_word
from spark_tui.text.dates import age, moment
from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import N_, _
from spark_tui.text.lines import Block, Line, Rule, blank, pair
from spark_tui.text.safe import one_line

_GATES = {
    "transient": N_("passing"),
    "confidence": N_("unsure"),
    "sensitive": N_("sensitive"),
    "duplicate": N_("duplicate"),
    "quota": N_("layer full"),
    "no_workspace": N_("no workspace"),
    "invalid": N_("unreadable"),
}
_MEANINGS = {
    "transient": N_("It reads like something that holds for the moment only, not like a lasting fact."),
    "confidence": N_("The model did not say that it is at least 60% sure."),
    "sensitive": N_("It looks like a secret or private number. Written by hand it meets the same gate."),
    "duplicate": N_("It repeats something else of the same turn, or something that was asked or is known already."),
    "quota": N_("Its layer holds as many memories as the settings allow. Archive some, or raise the quota."),
    "no_workspace": N_("It is about a project, but the session stood in no workspace."),
    "invalid": N_("What the model wrote cannot be a memory."),
}
_BY_RULE = ("transient", "sensitive")


@dataclass(frozen=True, slots=True)
class DropView:
    """One row of the gate log under a key of its own; ``at`` in ms."""

    key: str
    at: int
    scope: Scope
    name: str
    gate: str
    reason: str
    session: str | None


def gate_word(gate: str) -> str:
    """The gate in one word or two."""
    return _(_GATES[gate]) if gate in _GATES else one_line(gate)


def why_dropped(gate: str, reason: str) -> str:
    """The gate with its rule or code where that says more."""
    code = reason.removeprefix(f"{gate}:").strip()
    if not code or code == gate or gate == "confidence":
        return gate_word(gate)
    return f"{gate_word(gate)}: {code.replace('_', ' ') if gate in _BY_RULE else reason_word(code)}"


def gate_counts(drops: Iterable[DropView]) -> list[tuple[str, int]]:
    """(gate, how many it dropped), the busiest first."""
    return Counter(drop.gate for drop in drops).most_common()


def drop_cells(drop: DropView, now_ms: int) -> Sequence[tuple[str, str]]:
    """(text, style) for gate, name, scope and age."""
    return (
        (gate_word(drop.gate), "text"),
        (one_line(drop.name) or _("(no name)"), "strong" if drop.name else "dim"),
        (scope_word(drop.scope), "dim"),
        (age(drop.at, now_ms), "dim"),
    )


def drop_lines(drop: DropView, counts: Sequence[tuple[str, int]], now_ms: int, zone: tzinfo) -> list[Block]:
    """The page about one: why, when, and how much each gate dropped in all."""
    separator = f" {glyphs().separator} "
    code = drop.reason.removeprefix(f"{drop.gate}:").strip()
    lines: list[Block] = [
        Line((("strong", one_line(drop.name) or _("(no name)")),)),
        Line((("warning", _("not remembered") + separator + gate_word(drop.gate)),)),
        blank(),
        Line((("text", _(_MEANINGS[drop.gate])),)) if drop.gate in _MEANINGS else blank(),
        Line((("dim", _("Its text was not kept. a opens the form with this name, if you want it all the same.")),)),
        blank(),
        pair(_("when"), f"{moment(drop.at, zone)} ({age(drop.at, now_ms)})"),
        pair(_("scope"), scope_word(drop.scope)),
    ]
    if code and drop.gate in _BY_RULE:
        lines.append(pair(_("rule"), code.replace("_", " ")))
    elif code not in ("", drop.gate) and drop.gate != "confidence":
        lines.append(pair(_("reason"), reason_word(code)))
    if drop.session:
        lines.append(pair(_("session"), drop.session))
    return [*lines, blank(), Rule(), *count_lines(counts)]


def count_lines(counts: Sequence[tuple[str, int]]) -> Iterable[Block]:
    """What each gate dropped in all."""
    yield Line((("dim", _("dropped in all")),))
    width = max((len(str(count)) for _gate, count in counts), default=1)
    for gate, count in counts:
        yield Line((("text", gate_word(gate)),), first=(("dim", f"{count:>{width}}  "),))
