"""A person at the screens: the real app over a real home, without workers, on a clock moved by hand."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from textual.events import Paste
from textual.pilot import Pilot
from textual.screen import Screen

from engine.memory.listing import Filter
from engine.memory.model import Draft, Entry, MemoryType, Scope
from engine.runtime import Engine
from spark_tui.app import SparkApp
from spark_tui.screens.memory import MemoryScreen
from spark_tui.widgets.form_field import FormField
from spark_tui.widgets.key_bar import KeyBar
from tests.support import Place

PATIENCE_S = 10.0
Shown = TypeVar("Shown", bound=Screen)


class Desk:
    """What a test does and sees: keys, the text of the screen, the store behind it."""

    def __init__(self, place: Place, engine: Engine, app: SparkApp, pilot: "Pilot[None]") -> None:
        self.place = place
        self.engine = engine
        self.app = app
        self.pilot = pilot
        self._memory: MemoryScreen | None = None

    @property
    def memory(self) -> MemoryScreen:
        """The Memory screen, also while something else is in front of it."""
        assert self._memory is not None
        return self._memory

    @property
    def text(self) -> str:
        """Everything that can be read."""
        return "\n".join(self.lines)

    @property
    def said(self) -> str:
        """The bottom line."""
        return self.lines[-1].strip()

    @property
    def lines(self) -> list[str]:
        """The text of the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until what they set off has been seen through."""
        await self.pilot.press(*keys)
        await self.settled()

    async def write(self, text: str) -> None:
        """Type a text into the field that has the focus, key by key."""
        await self.pilot.press(*["space" if char == " " else char for char in text])

    async def paste(self, text: str) -> None:
        """Paste a text into the field that has the focus: one event, as a terminal with bracketed paste sends it."""
        focused = self.app.screen.focused
        assert focused is not None
        focused.post_message(Paste(text))
        await self.pilot.pause()

    async def see(self, *words: str) -> None:
        """Wait until all the words can be read; fails with the screen when they do not come."""
        await self.until(lambda: all(word in self.text for word in words), " ".join(words))

    async def settled(self) -> None:
        """Wait until the home is shown and no question is out any more."""
        if self.app._exit:
            return
        await self.until(lambda: self.app.engine is not None and self.app.screen.query(KeyBar), "the home")
        if self._memory is None and isinstance(self.app.screen, MemoryScreen):
            self._memory = self.app.screen
        await self.until(lambda: not self.memory.is_asking, "answers")
        await self.until(lambda: not getattr(self.app.screen, "is_asking", False), "answers of this area")
        await self.pilot.pause()

    async def until(self, holds: Callable[[], object], what: str = "it") -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"waited in vain for {what}:\n{self.text}"
            await self.pilot.pause(0.01)

    async def sheet(self, kind: type[Shown]) -> Shown:
        """Wait for a sheet of a kind."""
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted, kind.__name__)
        await self.pilot.pause()
        screen = self.app.screen
        assert isinstance(screen, kind)
        return screen

    async def fill(self, field: str, text: str) -> None:
        """Replace what a form's field of one line holds."""
        self.app.screen.query_one(f"#field-{field}", FormField).focus_control()
        await self.pilot.press("end", "ctrl+u")
        await self.paste(text)

    async def put_cursor_on(self, name: str) -> None:
        """Move down the list to the memory of a name."""
        entry = self.entry(name)
        self.memory.list.move_to(entry.id)
        await self.pilot.pause()

    @property
    def cursor(self) -> str | None:
        """The name under the cursor."""
        key = self.memory.list.cursor_key
        return self.engine.listing.entry(key).name if key else None

    def entry(self, name: str) -> Entry:
        """The stored memory of a name; the newest when there are several."""
        found = [each for each in self.engine.listing.window(Filter(state=None)) if each.name == name]
        assert found, f"no memory named {name}"
        return found[0]

    def names(self, *, state: str | None = None) -> set[str]:
        """The names of what is stored."""
        now = self.engine.clock.now_ms()
        return {
            each.name
            for each in self.engine.listing.window(Filter(state=None))
            if state is None or each.state(now).value == state
        }


class Seat(SparkApp):
    """The app without a terminal: there is none that could be handed to an editor."""

    home_engine: Engine

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Step aside from nothing."""
        yield


def take_seat(place: Place, *, look: str = "spark-dark", read_only: bool = False) -> Seat:
    """The app over a place, its engine open but not yet shown."""
    engine = place.open()
    seat = Seat(lambda: engine, place.home, place.project, look, read_only=read_only, with_workers=False)
    seat.home_engine = engine
    return seat


@asynccontextmanager
async def seated(
    place: Place, *, size: tuple[int, int] = (80, 24), read_only: bool = False, look: str = "spark-dark"
) -> AsyncIterator[Desk]:
    """The screens open on a place."""
    app = take_seat(place, look=look, read_only=read_only)
    try:
        async with app.run_test(size=size) as pilot:
            desk = Desk(place, app.home_engine, app, pilot)
            await desk.settled()
            yield desk
    finally:
        app.close()


def remember(engine: Engine, name: str, description: str = "", body: str = "", **fields: object) -> Entry:
    """Store one memory of the user, as the command line would."""
    values: dict[str, object] = {"scope": Scope.USER, "type": MemoryType.FEEDBACK, **fields}
    return engine.store.add(Draft(name=name, description=description or f"about {name}", body=body, **values))  # type: ignore[arg-type]


def furnish(place: Place, *names: str) -> None:
    """A home with some memories, the first one the oldest."""
    with place.open() as engine:
        for name in names:
            place.clock.advance(days=1)
            remember(engine, name)
        place.clock.advance(days=1)
