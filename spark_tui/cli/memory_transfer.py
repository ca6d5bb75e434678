"""memory export and import: memories leave as plain markdown and come in from other places, one outcome each."""

from pathlib import Path

import click

from engine.doors.parts import exporter, importer
from engine.memory.model import Scope
from engine.memory.transfer.exporting import Exported, ExportOutcome
from engine.memory.transfer.importing import Imported
from engine.memory.transfer.sources import read_sources
from engine.memory.transfer.verdicts import Outcome, Wish
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Text, Verb, words
from spark_tui.cli.person import person_only
from spark_tui.cli.upkeep_shapes import counted, exported_json, imported_json, spoken
from spark_tui.cli.vectors import embed
from spark_tui.text.i18n import _


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.pass_obj
def export(invocation: Invocation, folder: Path) -> int:
    """Write every memory seen here into FOLDER: our own files, one folder for each scope, and an INDEX.md.

    A file that is there and was not written by an export is never overwritten.
    """
    with invocation.engine() as engine:
        told = exporter(engine).export(folder.absolute())
        failed = any(each.outcome in (ExportOutcome.FAILED, ExportOutcome.KEPT) for each in told)
        if invocation.as_json:
            results = [exported_json(each) for each in told]
            invocation.output.document({"ok": not failed, "folder": str(folder.absolute()), "results": results})
        else:
            invocation.speak(engine)
            _tell_export(invocation, told, folder)
        return Exit.FAILED if failed else Exit.OK


def _tell_export(invocation: Invocation, told: list[Exported], folder: Path) -> None:
    from spark_tui.cli.upkeep_rows import exported_rows

    invocation.output.rows(exported_rows([each for each in told if not each.ok]))
    written = sum(each.outcome is ExportOutcome.WRITTEN for each in told)
    told_ = _("{folder}: {written} files written, {unchanged} unchanged")
    unchanged = sum(each.ok for each in told) - written
    invocation.output.line(told_.format(folder=folder, written=written, unchanged=unchanged))


@click.command("import", cls=Verb)
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would happen; write nothing.")
@click.option(
    "--scope", type=words(Scope), help="Where notes go (default: project memories to the project, others to user)."
)
@click.option("--agent", type=Text(), metavar="ID", help="Whose memories they become (scope agent).")
@click.pass_obj
@person_only
def import_(invocation: Invocation, folder: Path, dry_run: bool, scope: str | None, agent: str | None) -> int:
    """Read memories from FOLDER: our own files, Claude Code's memory folder, or markdown notes.

    Everything passes the sensitive and the quota gate; frontmatter of others is kept. The rules of CLAUDE.md and
    AGENTS.md become candidates, which wait for a decision: candidates list.
    """
    if (agent is not None) != (scope == Scope.AGENT):
        raise click.UsageError("--agent goes with --scope agent")
    with invocation.engine() as engine:
        wish = Wish(Scope(scope) if scope else None, agent, dry_run)
        told: list[Imported] = []
        for each in importer(engine).run(read_sources(folder), wish):
            told.append(each)
            invocation.output.progress(f"{len(told)} read")
        invocation.output.progress("")
        added = sum(each.outcome is Outcome.ADDED for each in told)
        if added and not dry_run:
            embed(invocation, engine, added)
        invocation.speak(engine)
        return _tell_import(invocation, told, dry_run)


def _tell_import(invocation: Invocation, told: list[Imported], dry_run: bool) -> int:
    ok = all(each.ok for each in told)
    counts = counted(each.outcome.value for each in told)
    if invocation.as_json:
        items = [imported_json(each) for each in told]
        invocation.output.document({"ok": ok, "dry_run": dry_run, "items": items, "counts": counts})
    else:
        from spark_tui.cli.upkeep_rows import imported_rows

        invocation.output.rows(imported_rows(told))
        invocation.output.note(_("would be: {counts}").format(counts=spoken(counts)) if dry_run else spoken(counts))
    return Exit.OK if ok else Exit.FAILED
