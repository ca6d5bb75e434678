"""Runs the model server by hand: prints its base URL on a line of its own and serves until interrupted."""

import argparse
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

from spark_tui.cli.output import Output
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.script_file import ScriptError, options_of

BAD_SCRIPT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; 2 when the script or the port cannot be used."""
    given, output = _parser().parse_args(arguments), Output()
    try:
        options = options_of(given.script.read_text("utf-8")) if given.script else {}
        server = ModelServer(**options | ({} if given.port is None else {"port": given.port}))
    except (ScriptError, OSError, ValueError, OverflowError) as error:
        output.note(f"model server: {error}", "error")
        return BAD_SCRIPT
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with server:
        output.text(server.base_url)
        output.finish()
        ended.wait()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_tui.demo.model_server", description=__doc__)
    parser.add_argument("--script", type=Path, metavar="FILE", help="JSON; without it every answer is an empty array")
    parser.add_argument("--port", type=int, help="instead of any free one")
    return parser
