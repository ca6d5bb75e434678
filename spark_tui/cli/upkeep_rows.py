"""The same findings, drops, exports and imports as lines for people; loaded only where lines are printed."""

from collections.abc import Sequence

from engine.memory.audit import Finding, FindingKind
from engine.memory.gate_log import Drop
from engine.memory.transfer.exporting import Exported
from engine.memory.transfer.importing import Imported
from engine.memory.transfer.verdicts import Outcome
from spark_tui.presenters.tables import laid_out
from spark_tui.presenters.words import scope_word
from spark_tui.text.dates import age
from spark_tui.text.i18n import _
from spark_tui.text.lines import ScreenRow
from spark_tui.text.safe import one_line

_OUTCOME_STYLES = {Outcome.ADDED: "good", Outcome.DROPPED: "warning", Outcome.FAILED: "error"}


def finding_rows(findings: Sequence[Finding]) -> list[ScreenRow]:
    """Three lines for each finding: what, why, and the command."""
    rows: list[ScreenRow] = []
    for each in findings:
        style = "error" if each.kind is FindingKind.SECRET else "warning"
        named = [f"{id_} {one_line(name)}" for id_, name in zip(each.ids, each.names, strict=True)]
        rows.append(((style, each.kind.value), ("accent", "  " + ", ".join(named))))
        rows.append((("text", f"    {each.why}"),))
        rows.append((("dim", f"    {each.fix}"),))
    return rows


def gate_rows(drops: Sequence[Drop], now_ms: int, width: int) -> list[ScreenRow]:
    """One dropped candidate a line."""
    body = [
        [
            ("dim", age(drop.at, now_ms)),
            ("dim", scope_word(drop.scope)),
            ("strong", one_line(drop.name)),
            ("warning", drop.gate.value),
            ("text", one_line(drop.reason.removeprefix(f"{drop.gate.value}: "))),
        ]
        for drop in drops
    ]
    return laid_out([_("age"), _("scope"), _("name"), _("gate"), _("reason")], body, width, 4)


def exported_rows(told: Sequence[Exported]) -> list[ScreenRow]:
    """One file a line, with the reason where it was not written."""
    return [
        (("warning", each.outcome.value), ("text", f"  {one_line(each.file)}"), ("dim", f"  {one_line(each.reason)}"))
        for each in told
    ]


def imported_rows(told: Sequence[Imported]) -> list[ScreenRow]:
    """One item a line: outcome, file, name, and the reason where it was not added."""
    rows: list[ScreenRow] = []
    for each in told:
        why = f"  {each.gate.value if each.gate else ''} {one_line(each.reason)}".rstrip() if each.reason else ""
        rows.append((
            (_OUTCOME_STYLES.get(each.outcome, "dim"), f"{each.outcome.value:8}"),
            ("text", one_line(each.file)),
            ("strong", f"  {one_line(each.name)}"),
            ("dim", why),
        ))  # fmt: skip
    return rows


def setting_rows(told: Sequence[tuple[str, str, bool, str]], width: int) -> list[ScreenRow]:
    """(key, value, whether it is set, meaning) of each setting; what is not the default stands out."""
    body = [
        [
            ("accent", key),
            ("strong" if is_set else "text", one_line(value)),
            ("dim", "*" if is_set else ""),
            ("dim", meaning),
        ]
        for key, value, is_set, meaning in told
    ]
    return laid_out([_("key"), _("value"), "", _("what it does")], body, width, 3)
