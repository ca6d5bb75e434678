"""A memory that is there already, as a model is told of it; no more of it than the model needs."""

from dataclasses import dataclass

from engine.memory.model import Scope


@dataclass(frozen=True, slots=True)
class Known:
    """An active entry; ``body`` is only shown where one item is judged against it."""

    id: str
    scope: Scope
    name: str
    description: str
    body: str = ""
