"""How background work asks a model: one call at a time from its own thread, told before each what it is about to cost."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.loop import EngineLoop
from engine.providers.chat import ChatModel, ChatReply, ChatRequest


@dataclass(frozen=True, slots=True)
class Ask:
    """A model that can be called like a function; ``window`` is how many tokens question and answer may have.

    ``before`` runs ahead of every call and every minute of one: whoever holds a job says that it is alive, or raises to
    stop.
    """

    chat: ChatModel
    loop: EngineLoop
    window: int
    before: Callable[[], None] = lambda: None

    def __call__(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises ``ModelFailed``, or ``EngineClosing`` when the program ends meanwhile."""
        self.before()
        return self.loop.run(self.chat.complete(request), self.before)
