"""memory changes, undo, restore: what happened, and how to take it back."""

import click

from spark_tui.cli.invocation import Invocation
from spark_tui.cli.memory_write import tell_entry
from spark_tui.cli.parser import Verb
from spark_tui.cli.person import person_only
from spark_tui.cli.vectors import embed
from spark_tui.presenters.json_shapes import change_json, entry_json
from spark_tui.text.i18n import N_, _


@click.command(cls=Verb)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many lines.")
@click.pass_obj
def changes(invocation: Invocation, limit: int) -> None:
    """Recent changes, newest first: who changed what, from which version to which."""
    with invocation.engine() as engine:
        found = engine.history.changes(limit)
        if invocation.as_json:
            invocation.output.document({"changes": [change_json(each) for each in found]})
            return
        from spark_tui.presenters.tables import change_table

        invocation.speak(engine)
        invocation.output.rows(change_table(found, engine.clock.now_ms(), invocation.output.width))
        if not found:
            invocation.output.note(_("nothing has changed yet"))


@click.command(cls=Verb)
@click.argument("group")
@click.pass_obj
@person_only
def undo(invocation: Invocation, group: str) -> None:
    """Take a whole group of changes back as new versions; refused when one of them has moved on since."""
    with invocation.engine() as engine:
        entries = engine.history.undo(group)
        embed(invocation, engine, len(entries))
        if invocation.as_json:
            now = engine.clock.now_ms()
            invocation.output.document({"ok": True, "entries": [entry_json(entry, now) for entry in entries]})
            return
        for entry in entries:
            tell_entry(invocation, engine, entry, N_("undone"))


@click.command(cls=Verb)
@click.argument("id_", metavar="ID")
@click.option("--version", type=click.IntRange(min=1), help="Which one; default: the last good one.")
@click.pass_obj
@person_only
def restore(invocation: Invocation, id_: str, version: int | None) -> None:
    """Write an older version as the newest one; brings back a broken or vanished file too."""
    with invocation.engine() as engine:
        entry = engine.history.restore(id_, version)
        embed(invocation, engine)
        tell_entry(invocation, engine, entry, N_("restored"))
