"""The app frame: opens the home behind the first picture, holds the areas, restores the terminal; knows no subject."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from engine.errors import SparkError
from engine.events import Fact, SettingsChanged
from engine.paths import Home
from spark_tui import theme
from spark_tui.bridge import Bridge, FactsWaiting
from spark_tui.drafts import Drafts
from spark_tui.preferences import prepared, unusable_terminal, uses_mouse
from spark_tui.presenters.problems import problem
from spark_tui.text.i18n import _
from spark_tui.widgets.action_keys import ActionKeys

if TYPE_CHECKING:
    from engine.runtime import Engine

UNUSABLE = 2
FAILED = 1
FIRST_AREA = "memory"
OPENING = "opening"


def _opening() -> Screen[None]:
    from spark_tui.screens.opening import OpeningScreen

    return OpeningScreen()


def _memory() -> Screen[None]:
    from spark_tui.screens.memory import MemoryScreen

    return MemoryScreen()


def _candidates() -> Screen[None]:
    from spark_tui.screens.candidates import CandidatesScreen

    return CandidatesScreen()


def _dropped() -> Screen[None]:
    from spark_tui.screens.candidates_dropped import DroppedScreen

    return DroppedScreen()


def _learning() -> Screen[None]:
    from spark_tui.screens.candidates_learning import LearningScreen

    return LearningScreen()


def _changes() -> Screen[None]:
    from spark_tui.screens.candidates_changes import ChangesScreen

    return ChangesScreen()


def _settings() -> Screen[None]:
    from spark_tui.screens.settings import SettingsScreen

    return SettingsScreen()


def _doctor() -> Screen[None]:
    from spark_tui.screens.doctor import DoctorScreen

    return DoctorScreen()


class SparkApp(App[None], inherit_bindings=False):
    """One person's screens over one home; ``opener`` opens it, on a thread, after the first picture is out."""

    TITLE = "spark-tui"
    ENABLE_COMMAND_PALETTE = False
    MODES: ClassVar[dict[str, str | Callable[[], Screen]]] = {
        OPENING: _opening,
        FIRST_AREA: _memory,
        "candidates": _candidates,
        "dropped": _dropped,
        "learning": _learning,
        "changes": _changes,
        "settings": _settings,
        "doctor": _doctor,
    }
    DEFAULT_MODE = OPENING
    # The two keys every terminal program answers to; all others are in the action table.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", show=False),
        Binding("ctrl+z", "suspend_process", show=False),
    ]

    def __init__(
        self, opener: "Callable[[], Engine]", home: Home, folder: Path, theme_name: str, *, read_only: bool = False,
        with_workers: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(ansi_color=theme.look(theme_name).ansi)
        theme.install(self, theme_name)
        self.animation_level = "none"
        self.engine: Engine | None = None
        self.drafts = Drafts(home.root / "drafts")
        self.folder = folder
        self.asked_to_commit: set[Path] = set()
        self.problem: str | None = None
        self._opener = opener
        self._read_only = read_only
        self._with_workers = with_workers
        self._bridge = Bridge(self)
        self._first_shown = asyncio.Event()

    @property
    def refusal(self) -> str | None:
        """Why nothing may be written; None when writing is allowed."""
        if self._read_only:
            return _("started with --read-only")
        opening = self.engine.database.opening if self.engine else None
        return problem(opening.read_only) if opening and opening.read_only else None

    def on_mount(self) -> None:
        """The first picture goes out before the home is opened."""
        self.call_after_refresh(lambda: self.run_worker(self._open(), exit_on_error=True))

    def shown(self) -> None:
        """The first area shows what there is; work that can wait for that may begin."""
        self._first_shown.set()

    def follow(self, follower: Callable[[Sequence[Fact]], None]) -> Callable[[], None]:
        """Be told of the engine's facts; the answer stops it."""
        return self._bridge.follow(follower)

    def on_facts_waiting(self, event: FactsWaiting) -> None:
        """Facts arrived on some thread; tell them here."""
        self._bridge.deliver()

    def leave(self) -> None:
        """Back to the first area, or out of the program from there."""
        if self.current_mode in (FIRST_AREA, OPENING):
            self.exit()
        else:
            self.go_to(FIRST_AREA)

    def go_to(self, area: str) -> None:
        """Show an area; before the home is open there is none."""
        if self.engine is not None:
            self.switch_mode(area)

    def show_memory(self, key: str) -> None:
        """Go to the memories with the cursor on this one, whatever is filtered there."""
        from spark_tui.screens.host import Offers

        self.go_to(FIRST_AREA)
        if isinstance(self.screen, Offers):
            self.screen.go_to_offered(key)

    def do_area_memory(self) -> None:
        """Area 1."""
        self.go_to(FIRST_AREA)

    def do_area_candidates(self) -> None:
        """Area 2."""
        self.go_to("candidates")

    def do_area_settings(self) -> None:
        """Area 7."""
        self.go_to("settings")

    def do_area_doctor(self) -> None:
        """Area 8."""
        self.go_to("doctor")

    def do_frame_help(self) -> None:
        """What works on the present screen, and the guidance."""
        from spark_tui.screens.help import help_for

        if isinstance(self.screen, ActionKeys):
            self.push_screen(help_for(self.screen))

    def do_frame_palette(self) -> None:
        """Every action by name, and what the screen offers of its own."""
        from spark_tui.palette import open_palette
        from spark_tui.screens.host import Offers

        screen = self.screen
        if isinstance(screen, ActionKeys) and isinstance(screen, Offers):
            open_palette(screen, [screen.offered], lambda item: screen.go_to_offered(item.key))
        elif isinstance(screen, ActionKeys):
            open_palette(screen)

    do_typing_palette = do_frame_palette

    def do_frame_back(self) -> None:
        """Esc on a screen that has nothing to close: to the first area."""
        self.go_to(FIRST_AREA)

    def do_frame_quit(self) -> None:
        """Q on a screen that has nothing to close."""
        self.leave()

    async def _open(self) -> None:
        """Open, show, then adopt what changed on disk since the last time; the screens never wait for that."""
        try:
            engine = await asyncio.to_thread(_opened, self._opener)
        except SparkError as error:
            self.problem = problem(error)
            self.exit(return_code=FAILED)
            return
        self.engine = engine
        self._bridge.open(engine.bus)
        self._bridge.follow(self._heed)
        self.go_to(FIRST_AREA)
        await self._first_shown.wait()
        aside = engine.database.opening.set_aside
        if aside is not None and isinstance(self.screen, ActionKeys):
            said = _("the database was damaged; it is kept as {name} and made anew from the files").format(
                name=aside.name
            )
            self.screen.say(said, "warning")
        if self._with_workers:
            await asyncio.to_thread(_caught_up, engine)

    def _heed(self, facts: Sequence[Fact]) -> None:
        """A theme that was set, here or by another process, holds at once."""
        if self.engine is not None and any(isinstance(fact, SettingsChanged) for fact in facts):
            wanted = theme.chosen_theme(str(self.engine.settings.get("ui.theme")), os.environ)
            if wanted != self.theme:
                self.theme = wanted

    def close(self) -> None:
        """Close the home; called when the screen is gone."""
        self._bridge.close()
        if self.engine is not None:
            self.engine.close()
            self.engine = None


def _opened(opener: "Callable[[], Engine]") -> "Engine":
    """On a thread: open the home, and read the code of the first area meanwhile."""
    from spark_tui.screens import memory  # noqa: F401

    return opener()


def _caught_up(engine: "Engine") -> None:
    """On a thread: adopt hand edits, then let the workers follow."""
    engine.refresh()
    engine.workers.start()


def run(home: Home, folder: Path, read_only: bool = False) -> int:
    """Show the screens until the person leaves; answers the exit code: 2 without a usable terminal, 1 for a home that
    cannot be opened."""
    refusal = unusable_terminal(os.environ)
    if refusal is not None:
        sys.stderr.write(refusal + "\n")
        return UNUSABLE
    from engine.config import Settings

    try:
        settings = Settings.load(home.config)
    except SparkError as error:
        sys.stderr.write(problem(error) + "\n")
        return FAILED
    theme_name = prepared(settings, os.environ)
    app = SparkApp(lambda: _home(home, folder), home, folder, theme_name, read_only=read_only)
    try:
        app.run(mouse=uses_mouse(settings, os.environ))
    finally:
        app.close()
    if app.problem:
        sys.stderr.write(app.problem + "\n")
    return app.return_code or 0


def _home(home: Home, folder: Path) -> "Engine":
    from engine.runtime import open_engine

    return open_engine(home, folder, refresh=False)
