"""The rows of a diagnosis in the person's words: a mark and a word for how each thing stands, never a colour alone."""

from collections.abc import Iterable
from dataclasses import dataclass

from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import N_, _, ngettext
from spark_tui.text.lines import Block, Line
from spark_tui.text.safe import one_line

_STYLES = {"ok": "good", "warn": "warning", "fail": "error", "info": "dim"}
_WORDS = {"ok": N_("works"), "warn": N_("limited"), "fail": N_("broken"), "info": N_("fact")}
_TITLES = {
    "version": N_("Versions"),
    "settings": N_("Settings"),
    "locale": N_("Locale"),
    "colour": N_("Colours"),
    "home": N_("Home"),
    "person": N_("Who is asking"),
    "log": N_("Log"),
    "database": N_("Database"),
    "workspace": N_("Workspace"),
    "enabled": N_("Memory switch"),
    "index": N_("Index and files"),
    "deletions": N_("Deletions"),
    "intents": N_("Unfinished writes"),
    "staged": N_("Staged files"),
    "clock": N_("Clock"),
    "full-text": N_("Full text"),
    "sqlite-vec": N_("Vector index"),
    "embedding": N_("Search by meaning"),
    "tokens": N_("Token counts"),
    "injection": N_("Last injection"),
    "extraction-model": N_("Extraction model"),
    "jobs": N_("Queued work"),
    "last-extraction": N_("Last turn learned from"),
    "gates": N_("Dropped by the gates"),
    "candidates": N_("Candidates"),
    "consolidation": N_("Consolidation"),
    "quarantined": N_("Quarantined files"),
    "missing": N_("Missing files"),
}
_ORDER = ("fail", "warn")


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: a stable id, ``ok``, ``warn``, ``fail`` or ``info``, what was looked at, the evidence, what mends it."""

    id: str
    state: str
    title: str
    evidence: str
    fix: str | None


def finding_mark(finding: Finding) -> tuple[str, str]:
    """(mark and word, style)."""
    marks = glyphs()
    mark = {"ok": marks.marked, "warn": marks.missing, "fail": marks.invalid}.get(finding.state, marks.active)
    return f"{mark} {_(_WORDS[finding.state])}", _STYLES[finding.state]


def finding_title(finding: Finding) -> str:
    """What was looked at."""
    if finding.id.startswith("layer:"):
        return _("Layer {name}").format(name=one_line(finding.title.removeprefix("Layer ")))
    return _(_TITLES[finding.id]) if finding.id in _TITLES else one_line(finding.title)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """What is broken, then what is limited, then the rest, each in the order it was looked at."""
    return sorted(findings, key=lambda each: _ORDER.index(each.state) if each.state in _ORDER else len(_ORDER))


def finding_lines(finding: Finding) -> list[Block]:
    """The whole of one row."""
    word, style = finding_mark(finding)
    lines: list[Block] = [
        Line(((style, word), ("strong", "  " + finding_title(finding)))),
        Line((("text", one_line(finding.evidence)),)),
    ]
    if finding.fix:
        lines.append(Line((("accent", one_line(finding.fix)),), first=(("dim", _("what to do") + "  "),)))
    return lines


def summary(findings: list[Finding]) -> tuple[str, str]:
    """(sentence, style) for the top line."""
    broken = sum(each.state == "fail" for each in findings)
    limited = sum(each.state == "warn" for each in findings)
    if broken:
        return ngettext("{n} thing is broken", "{n} things are broken", broken).format(n=broken), "error"
    if limited:
        return ngettext("{n} thing works with a limit", "{n} things work with a limit", limited).format(
            n=limited
        ), "warning"
    return _("everything works"), "good"
