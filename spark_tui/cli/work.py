"""work: the background workers in the foreground, for machines on which no TUI is open."""

import signal
import threading
from types import FrameType

import click

from engine.jobs import WAITING, JobState
from spark_tui.cli.exits import Exit
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Verb
from spark_tui.text.i18n import _


@click.command(cls=Verb)
@click.option("--once", is_flag=True, help="Do everything that is queued, then end.")
@click.pass_obj
def work(invocation: Invocation, once: bool) -> int:
    """Learn from queued turns, consolidate, follow hand edits and fill in vectors, until interrupted."""
    with invocation.engine() as engine:
        if once:
            done = 0
            while (taken := engine.learning.drain()) or engine.learning.wait_for_due():
                done += taken
            engine.fill_vectors(10_000)
            queued, waiting = engine.jobs.count(JobState.QUEUED), engine.jobs.count(*WAITING)
            if invocation.as_json:
                invocation.output.document({"ok": True, "done": done, "queued": queued, "waiting": waiting})
            else:
                invocation.speak(engine)
                told = _("{done} jobs done, {queued} still queued, {waiting} wait for a person")
                invocation.output.line(told.format(done=done, queued=queued, waiting=waiting))
            return Exit.OK
        ended = threading.Event()

        received: list[int] = []

        def end(number: int, _frame: FrameType | None) -> None:
            received.append(number)
            ended.set()

        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, end)
        engine.workers.start()
        invocation.speak(engine)
        invocation.output.note(_("working; ctrl+c ends it"))
        ended.wait()
        if invocation.as_json:
            invocation.output.document({"ok": True})
        return Exit.INTERRUPTED if signal.SIGINT in received else Exit.OK
