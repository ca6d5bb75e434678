"""Tells a person's shell from an agent's, so that agents cannot write memory by accident (06 §5); a fence, not a wall."""

import os
from collections.abc import Mapping
from typing import Final

from engine.errors import SparkError

MARKERS: Final = ("CLAUDECODE", "SPARK_AGENT")
PREFIX: Final = "CODEX_"
# A person sets this one in their own shell to say where Codex keeps its files; it does not mean that Codex is running.
NO_MARKERS: Final = frozenset({"CODEX_HOME"})


class PersonRequired(SparkError):
    """An agent called what only a person may do; ``details['marker']`` is the variable that told."""

    code = "PERSON_REQUIRED"


def agent_marker(environ: Mapping[str, str] = os.environ) -> str | None:
    """The variable that shows an agent is running this process, or None."""
    found = (name for name, value in environ.items() if value and (name in MARKERS or name.startswith(PREFIX)))
    return next((name for name in sorted(found) if name not in NO_MARKERS), None)


def require_person(environ: Mapping[str, str] = os.environ) -> None:
    """Raise ``PersonRequired`` inside an agent's environment."""
    marker = agent_marker(environ)
    if marker is not None:
        raise PersonRequired(
            f"only a person may do this, and {marker} says that an agent is running",
            "run it in your own terminal",
            marker=marker,
        )
