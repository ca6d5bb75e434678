"""Takes finished turns in: what may be shown to a model is queued, once for each turn of a session; never blocks one."""

import logging
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from engine.config import MemorySettings
from engine.identity import Ids
from engine.jobs import Job, Jobs, Json
from engine.memory.extraction.stripping import prepared
from engine.memory.extraction.turn import Turn, turn_key
from engine.memory.layers import Layers
from engine.memory.model import checked_agent
from engine.memory.workspaces import Workspace

KIND: Final = "extraction"
TRIGGERED: Final = "memory extraction triggered"
_TOOL_MARKS: Final = re.compile(r"\[tool (?:call|output)\]")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Taken:
    """The job of a turn, or why there is none: ``disabled``, or ``blank`` when the assistant said nothing."""

    job: Job | None
    reason: str | None = None


class Intake:
    """Queues turns that end where this engine stands."""

    def __init__(self, jobs: Jobs, layers: Layers, settings: Callable[[], MemorySettings], ids: Ids) -> None:
        self._jobs = jobs
        self._layers = layers
        self._settings = settings
        self._ids = ids

    def submit(self, turn: Turn) -> Taken:
        """Queue a turn; the same turn of the same session is the job that is there already.

        Its text is stripped and its secrets taken out before it is stored (02 §3). Raises ``ValidationFailed`` for an
        agent id that is no safe path component.
        """
        checked_agent(turn.agent)
        if not self._settings().enabled:
            return Taken(None, "disabled")
        if turn.is_blank:
            return Taken(None, "blank")
        shown = prepared(turn)
        if not _TOOL_MARKS.sub("", shown.assistant).strip():  # tool calls and nothing else
            return Taken(None, "blank")
        # Who names no session says nothing about two turns being one, even if they read the same.
        key = turn_key(turn) if turn.session else self._ids.make("turn")
        workspace = self._layers.workspace
        folder = workspace.root if isinstance(workspace, Workspace) else None
        project = workspace.id if isinstance(workspace, Workspace) else None
        known = self._jobs.known(KIND, key)
        if known is not None:
            return Taken(known)
        shown = replace(shown, turn=turn.turn or key[:16])
        payload = {**turn_json(shown), "workspace": project}
        job = self._jobs.put(KIND, key, payload, folder=folder, session=turn.session, turn=shown.turn)
        _log.info(TRIGGERED)
        return Taken(job)


def turn_json(turn: Turn) -> Json:
    """A turn as a job keeps it."""
    return asdict(turn)


def turn_from(kept: Json) -> Turn:
    """A turn as a job kept it."""
    values: dict[str, Any] = {key: value for key, value in kept.items() if key != "workspace"}
    ran = values.get("ran")
    return Turn(**values | {"ran": (str(ran[0]), str(ran[1])) if ran else None})
