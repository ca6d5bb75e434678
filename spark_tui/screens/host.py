"""What a screen may expect of the app it runs in; the app itself is never imported from here."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from textual.screen import Screen

from engine.events import Fact
from spark_tui.drafts import Drafts

if TYPE_CHECKING:
    from engine.runtime import Engine
    from spark_tui.palette import PaletteItem


class Host(Protocol):
    """The app as screens see it."""

    engine: "Engine | None"
    """The open home; there is one whenever an area is shown."""
    drafts: Drafts
    """Unsaved text of forms, on disk."""
    folder: Path
    """Where the program was started."""
    asked_to_commit: set[Path]
    """Projects whose people were asked in this run whether their memories are committed."""

    @property
    def refusal(self) -> str | None:
        """Why nothing may be written, in the person's language; None when writing is allowed."""
        ...

    def leave(self) -> None:
        """Back to the first area, or out of the program from there."""
        ...

    def go_to(self, area: str) -> None:
        """Show an area by its name."""
        ...

    def show_memory(self, key: str) -> None:
        """Go to the memories with the cursor on this one, whatever is filtered there."""
        ...

    def shown(self) -> None:
        """To be called when the first area shows what there is."""
        ...

    def follow(self, follower: Callable[[Sequence[Fact]], None]) -> Callable[[], None]:
        """Be told of the engine's facts; the answer stops it."""
        ...


@runtime_checkable
class Offers(Protocol):
    """A screen that has things of its own for the palette."""

    def offered(self, typed: str) -> "Sequence[PaletteItem]":
        """What fits to the typed text, within a few milliseconds."""
        ...

    def go_to_offered(self, key: str) -> None:
        """Show one of them."""
        ...


def host_of(screen: Screen[object]) -> Host:
    """The app of a screen."""
    return cast(Host, screen.app)


def engine_of(screen: Screen[object]) -> "Engine":
    """The open engine; a screen asks only for what can happen after it was opened."""
    engine = host_of(screen).engine
    if engine is None:
        raise RuntimeError("the home is not open yet")
    return engine
