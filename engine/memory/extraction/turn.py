"""One finished turn as it was handed over, and what makes it the same turn again; it never alters a text."""

import hashlib
import json
from dataclasses import dataclass
from typing import Final

MAIN_AGENT: Final = "main"
USER_MAX: Final = 8_000
"""Most characters of the person's text a model is shown."""
ASSISTANT_MAX: Final = 8_000
"""Most characters of the answer a model is shown."""
CONTEXT_MAX: Final = 3_000
"""Most characters of the conversation before the turn a model is shown; its end is kept (02 §3)."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said: the person's text, the answer, and the tail of the conversation before both.

    ``session`` and ``turn`` are the host's ids, ``ran`` the provider and model that answered, ``said_at`` milliseconds
    since the epoch (0: not known), ``is_member`` whether a team member answered rather than the host.
    """

    user: str
    assistant: str
    context: str = ""
    session: str | None = None
    turn: str | None = None
    agent: str = MAIN_AGENT
    is_member: bool = False
    ran: tuple[str, str] | None = None
    said_at: int = 0

    @property
    def is_blank(self) -> bool:
        """Whether nothing was answered, so that nothing is to be learned (02 §3)."""
        return not self.assistant.strip()


def turn_key(turn: Turn) -> str:
    """Equal for the same turn of the same agent, whatever fires twice: 64 hexadecimal digits.

    Session and turn id say it where both are known; else the texts do, so ask before anything is stripped. Each member
    of a team answers within the host's turn and has a key of its own.
    """
    if turn.session and turn.turn:
        parts = ["ids", turn.session, turn.turn, turn.agent]
    else:
        parts = ["texts", turn.session or "", turn.turn or "", turn.agent, turn.user.strip(), turn.assistant.strip()]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()
