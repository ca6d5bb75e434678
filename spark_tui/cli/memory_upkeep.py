"""memory reindex, gate-log, audit: upkeep of the store, and what it can tell about itself."""

import time
from typing import TYPE_CHECKING

import click

from engine.doors.parts import auditor, reindexer
from engine.errors import StoreBroken
from engine.memory.gate_log import GateLog
from engine.memory.reindexing import Reindexed
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Verb
from spark_tui.cli.progress import shown
from spark_tui.cli.upkeep_shapes import drop_json, finding_json
from spark_tui.cli.vectors import fill_shown
from spark_tui.text.i18n import _, ngettext

if TYPE_CHECKING:
    from engine.runtime import Engine


@click.command(cls=Verb)
@click.option("--vectors", is_flag=True, help="Also make every vector anew.")
@click.pass_obj
def reindex(invocation: Invocation, vectors: bool) -> None:
    """Rebuild the index of user, agents and this project from their files; a broken or deleted database is no obstacle."""
    started = time.monotonic()
    try:
        _reindex(invocation, vectors, started)
    except StoreBroken:  # damage met on the way is noted; the next opening sets the database aside and begins anew
        _reindex(invocation, vectors, started)


def _reindex(invocation: Invocation, vectors: bool, started: float) -> None:
    with invocation.engine(refresh=False) as engine:
        service = reindexer(engine)
        total = service.files()
        with shown(invocation.output, lambda: f"{service.rows()} of {total} files"):
            told = service.run()
        if vectors:
            engine.embeddings.rebuild()
            fill_shown(invocation, engine)
        _tell_reindex(invocation, engine, told, round((time.monotonic() - started) * 1000))


def _tell_reindex(invocation: Invocation, engine: "Engine", told: Reindexed, duration_ms: int) -> None:
    state, opening = engine.embeddings.state(), engine.database.opening
    if invocation.as_json:
        invocation.output.document({
            "ok": True,
            "entries": told.entries,
            "adopted": told.adopted,
            "quarantined": told.quarantined,
            "missing": told.missing,
            "created": opening.created,
            "set_aside": opening.set_aside.name if opening.set_aside else None,
            "vectors": {"model": state.model, "done": state.done, "total": state.total},
            "duration_ms": duration_ms,
        })  # fmt: skip
        return
    invocation.speak(engine)
    out, seconds = invocation.output, duration_ms / 1000
    counts = {
        "entries": told.entries,
        "adopted": told.adopted,
        "quarantined": told.quarantined,
        "missing": told.missing,
    }
    out.line(
        _("{entries} entries in the index, {adopted} adopted, in {seconds:.1f} s").format(seconds=seconds, **counts)
    )
    if told.quarantined or told.missing:
        out.line(
            _("{quarantined} quarantined, {missing} missing: spark-tui doctor says which").format(**counts), "warning"
        )
    if state.model and state.done < state.total:
        note = _("{done} of {total} have a vector; searching fills in, reindex --vectors makes all now")
        out.note(note.format(done=state.done, total=state.total))


@click.command("gate-log", cls=Verb)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many lines.")
@click.pass_obj
def gate_log(invocation: Invocation, limit: int) -> None:
    """What was not remembered: name, gate and reason of each, newest first."""
    with invocation.engine() as engine:
        log = GateLog(engine.database)
        drops, total = log.recent(limit), log.count()
        if invocation.as_json:
            invocation.output.document({"entries": [drop_json(each) for each in drops], "total": total})
            return
        from spark_tui.cli.upkeep_rows import gate_rows

        invocation.speak(engine)
        invocation.output.rows(gate_rows(drops, engine.clock.now_ms(), invocation.output.width))
        invocation.output.note(_("{shown} of {total}").format(shown=len(drops), total=total))


@click.command(cls=Verb)
@click.pass_obj
def audit(invocation: Invocation) -> None:
    """Look for duplicates, secrets, wording of the moment, contradictions and what nobody uses; changes nothing."""
    with invocation.engine() as engine:
        told = auditor(engine).run()
        if invocation.as_json:
            findings = [finding_json(each) for each in told.findings]
            invocation.output.document(
                {"ok": True, "findings": findings, "checked": told.checked, "unchecked": list(told.unchecked)}
            )
            return
        from spark_tui.cli.upkeep_rows import finding_rows

        invocation.speak(engine)
        invocation.output.rows(finding_rows(told.findings))
        found = len(told.findings)
        counted = ngettext("{n} finding", "{n} findings", found).format(n=found)
        invocation.output.note(_("{counted} in {total} memories").format(counted=counted, total=told.checked))
        for reason in told.unchecked:
            invocation.output.note(_("not checked: {reason}").format(reason=reason), "warning")
