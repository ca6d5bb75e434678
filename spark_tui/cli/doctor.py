"""doctor: one row for each thing that can stand in the way, with the evidence and what mends it."""

import click

from engine.doors.checks.row import Row, RowState
from engine.doors.doctor import examine, is_broken
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Verb

_MARKS = {RowState.OK: "good", RowState.WARN: "warning", RowState.FAIL: "error", RowState.INFO: "dim"}


@click.command(cls=Verb)
@click.pass_obj
def doctor(invocation: Invocation) -> int:
    """What works, what does not, and what to do about it; ends with 1 if something is broken."""
    found = examine(invocation.home, lambda: invocation.open(refresh=False))
    broken = is_broken(found)
    if invocation.as_json:
        invocation.output.document({"ok": not broken, "rows": [_told(row) for row in found]})
    else:
        _print(invocation, found)
    return Exit.FAILED if broken else Exit.OK


def _told(row: Row) -> dict[str, str]:
    told = {"id": row.id, "state": row.state.value, "title": row.title, "evidence": row.evidence}
    return told | ({"fix": row.fix} if row.fix else {})


def _print(invocation: Invocation, found: list[Row]) -> None:
    from spark_tui.text.fit import fit
    from spark_tui.text.safe import one_line
    from spark_tui.text.width import cells

    width = max(cells(row.title) for row in found) + 2
    for row in found:
        mark = (_MARKS[row.state], f"{row.state.value:5}")
        invocation.output.rows([(mark, ("strong", fit(one_line(row.title), width)), ("text", one_line(row.evidence)))])
        if row.fix:
            invocation.output.line(" " * (5 + width) + one_line(row.fix), "accent")
