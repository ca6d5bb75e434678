"""Slow questions: one at a time, only the last answer is shown, and one that never comes is given up."""

import threading
import time

from textual.app import App

from engine.errors import NotFound, SparkError, StoreBusy
from spark_tui.screens.latest import Latest


class Asker(App[None]):
    """Keeps what was asked, shown and refused; ``gate`` holds every answer back until it is opened."""

    def __init__(self, timeout_s: float | None = None) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.asked: list[str] = []
        self.shown: list[str] = []
        self.failed: list[SparkError] = []
        self.latest = Latest[str, str](self, self._find, self._show, self._fail, timeout_s)

    def _find(self, question: str) -> str:
        self.asked.append(question)
        self.gate.wait(10)
        if question == "missing":
            raise NotFound("no such thing")
        return question.upper()

    def _show(self, _question: str, answer: str) -> None:
        self.shown.append(answer)

    def _fail(self, _question: str, error: SparkError) -> None:
        self.failed.append(error)


async def until(pilot, holds) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        await pilot.pause(0.01)


async def test_overtaken_questions_are_never_asked_and_only_the_last_answer_is_shown() -> None:
    app = Asker()
    async with app.run_test() as pilot:
        for question in ("p", "po", "pos", "post"):
            app.latest.ask(question)
            await pilot.pause()
        app.gate.set()
        await until(pilot, lambda: app.shown)
        assert (app.asked, app.shown) == (["p", "post"], ["POST"])
        assert not app.latest.is_asking


async def test_a_dropped_question_is_not_shown() -> None:
    app = Asker()
    async with app.run_test() as pilot:
        app.latest.ask("p")
        await pilot.pause()
        app.latest.drop()
        app.gate.set()
        app.latest.ask("q")
        await until(pilot, lambda: app.shown)
        assert app.shown == ["Q"]


async def test_a_typed_error_is_told_instead_of_an_answer() -> None:
    app = Asker()
    async with app.run_test() as pilot:
        app.gate.set()
        app.latest.ask("missing")
        await until(pilot, lambda: app.failed)
        assert isinstance(app.failed[0], NotFound)


async def test_an_answer_that_does_not_come_in_time_is_given_up() -> None:
    app = Asker(timeout_s=0.05)
    async with app.run_test() as pilot:
        app.latest.ask("slow")
        await until(pilot, lambda: app.failed)
        assert isinstance(app.failed[0], StoreBusy)
        app.gate.set()


async def test_it_can_be_asked_again_and_again() -> None:
    app = Asker()
    app.gate.set()
    async with app.run_test() as pilot:
        for number in range(3):
            app.latest.ask(f"q{number}")
            await until(pilot, lambda number=number: len(app.shown) == number + 1)
        assert app.shown == ["Q0", "Q1", "Q2"]
