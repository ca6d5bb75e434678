"""Slow questions off the screen's thread: one at a time, and only the answer to the last one asked is ever shown."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from textual.dom import DOMNode

from engine.errors import SparkError, StoreBusy

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Latest(Generic[Question, Answer]):
    """Asks ``find`` on a thread; questions that were overtaken while it ran are never asked.

    ``show`` gets each answer that is still wanted, ``fail`` the typed error instead of it, ``StoreBusy`` after
    ``timeout_s`` without an answer.
    """

    def __init__(
        self,
        owner: DOMNode,
        find: Callable[[Question], Answer],
        show: Callable[[Question, Answer], None],
        fail: Callable[[Question, SparkError], None],
        timeout_s: float | None = None,
    ) -> None:
        self._owner = owner
        self._find = find
        self._show = show
        self._fail = fail
        self._timeout_s = timeout_s
        self._wanted: list[Question] = []
        self._running = False

    def ask(self, question: Question) -> None:
        """Ask this, and forget whatever was asked before."""
        self._wanted = [question]
        if not self._running:
            self._running = True
            self._owner.run_worker(self._pursue(), exit_on_error=True)

    def drop(self) -> None:
        """Want no answer any more."""
        self._wanted = []

    @property
    def is_asking(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._wanted)

    async def _pursue(self) -> None:
        try:
            while self._wanted:
                question = self._wanted[0]
                outcome = await self._outcome(question)
                if self._wanted and self._wanted[0] is question:
                    self._wanted = []
                    self._tell(question, outcome)
        finally:
            self._running = False

    async def _outcome(self, question: Question) -> "Answer | SparkError":
        try:
            return await asyncio.wait_for(asyncio.to_thread(self._find, question), self._timeout_s)
        except SparkError as error:
            return error
        except TimeoutError:
            return StoreBusy(f"no answer within {self._timeout_s:g} s", "another process may hold the store")

    def _tell(self, question: Question, outcome: "Answer | SparkError") -> None:
        if isinstance(outcome, SparkError):
            self._fail(question, outcome)
        else:
            self._show(question, outcome)
