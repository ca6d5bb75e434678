"""Marks the commands that only a person may run; an agent that calls one is refused before anything is opened (06)."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from engine.doors.person import require_person

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def person_only(command: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The command, refusing with ``PERSON_REQUIRED`` inside an agent's environment."""

    @functools.wraps(command)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        require_person()
        return command(*args, **kwargs)

    return guarded
