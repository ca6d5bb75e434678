"""What every area over the open home has in common: the app, the engine, calls on a thread, words about what went wrong."""

import asyncio
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from textual.screen import Screen

from engine.clock import local_day
from engine.errors import SparkError
from spark_tui.presenters.problems import problem
from spark_tui.screens.host import Host, engine_of, host_of
from spark_tui.text.i18n import _
from spark_tui.text.lines import plain
from spark_tui.text.width import cells
from spark_tui.widgets.action_keys import ActionKeys

if TYPE_CHECKING:
    from engine.runtime import Engine

Answer = TypeVar("Answer")
BESIDE = 14
"""Cells that stand at the right end of the bottom line whatever is said in it."""


class EngineScreen(ActionKeys, Screen[None]):
    """A screen that asks the engine off its own thread; it knows no subject."""

    @property
    def host(self) -> Host:
        """The app."""
        return host_of(self)

    @property
    def engine(self) -> "Engine":
        """The open home."""
        return engine_of(self)

    @property
    def today(self) -> date:
        """The local day."""
        return local_day(self.engine.clock.now_ms(), self.engine.clock.zone())

    def can_writable(self) -> bool:
        """Whether this home may be written from here."""
        return self.host.refusal is None

    async def in_thread(self, action: Callable[[], Answer]) -> Answer | None:
        """The answer of a call that may take time; its typed error is said at the bottom and answers None."""
        try:
            return await asyncio.to_thread(action)
        except SparkError as error:
            self.tell(problem(error))
            return None

    def tell(self, text: str, style: str = "error") -> None:
        """Say what went wrong at the bottom, or in a sheet when it does not fit there: a reason is never cut."""
        from spark_tui.screens.dialogs.text_view import TextViewDialog

        if cells(text) + BESIDE <= self.size.width:
            self.say(text, style)
        else:
            self.app.push_screen(TextViewDialog(_("what happened"), plain(text)))
