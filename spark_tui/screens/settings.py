"""The Settings screen: every setting with its value, what it does and may be; one is changed at a time, checked by the engine."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from engine.errors import SparkError
from engine.events import CandidatesChanged, EmbeddingProgress, Fact, SettingsChanged
from spark_tui import actions
from spark_tui.presenters.candidate_words import waiting_words
from spark_tui.presenters.paths import short_path
from spark_tui.presenters.problems import problem
from spark_tui.presenters.settings_lines import SettingView, setting_lines, value_word
from spark_tui.presenters.top_words import search_word
from spark_tui.screens.dialogs.confirm import ConfirmDialog
from spark_tui.screens.dialogs.setting_value import setting_dialog
from spark_tui.screens.host import Host, engine_of, host_of
from spark_tui.screens.memory_overview import search_state
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank, pair
from spark_tui.widgets.action_keys import ActionKeys
from spark_tui.widgets.divider import Divider
from spark_tui.widgets.key_bar import KeyBar
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.rows import Cell, Column, ListSource, Row
from spark_tui.widgets.top_line import TopLine, Word
from spark_tui.widgets.window_list import WindowList

if TYPE_CHECKING:
    from engine.runtime import Engine

REBUILD = "rebuild-vectors"


class SettingsScreen(ActionKeys, Screen[None]):
    """Area 7."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.MOVE, actions.FRAME)
    CSS_PATH = "settings.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 – as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 – as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self.top_line = TopLine()
        self.list = WindowList(
            (
                Column("group", "", 8, priority=20),
                Column("name", _("setting"), 16, flex=3, most=26),
                Column("value", _("value"), 10, flex=4, most=40),
            ),
            id="settings",
        )
        self.page = LineView(id="setting")
        self._settings: dict[str, SettingView] = {}

    def compose(self) -> ComposeResult:
        """Top line, list, page, key bar."""
        yield self.top_line
        yield Container(self.list, Divider(), self.page, id="panes")
        yield KeyBar()

    @property
    def host(self) -> Host:
        """The app."""
        return host_of(self)

    @property
    def engine(self) -> "Engine":
        """The open home."""
        return engine_of(self)

    def on_mount(self) -> None:
        """List the settings and hear of changes."""
        self.list.focus()
        self.show_all()
        self.host.follow(self.hear)

    def hear(self, facts: Sequence[Fact]) -> None:
        """A setting changed somewhere, or vectors are being made."""
        if any(isinstance(fact, SettingsChanged | EmbeddingProgress | CandidatesChanged) for fact in facts):
            self.show_all()

    def show_all(self) -> None:
        """Read every setting again."""
        settings = self.engine.settings
        self._settings = {
            each.key: SettingView(
                each.key,
                value_word(value),
                value_word(each.default),
                each.allowed,
                each.meaning,
                settings.is_set(each.key),
            )
            for each, value in settings.items()
        }
        self.list.set_source(ListSource(list(self._rows())))
        self._show_page()
        words = [Word(_("settings"), "strong", 100), Word(short_path(self.engine.home.config), "dim", 40)]
        count = len(settings.problems)
        wrong = [Word(_("{n} wrong in the file").format(n=count), "error", 95)] if count else []
        refused = [Word(_("read-only"), "warning", 90)] if self.host.refusal else []
        waiting = Word(waiting_words(self.engine.candidates.count()), "accent", 65)
        self.top_line.show(words, [*wrong, waiting, *refused])

    def _rows(self) -> Iterable[Row]:
        group = ""
        for each in self._settings.values():
            head = each.group if each.group != group else ""
            group = each.group
            style = "accent" if each.is_set else "text"
            yield Row(each.key, (Cell(head, "dim"), Cell(each.name), Cell(each.value, style)))
        words, style = search_word(search_state(self.engine))
        yield Row(REBUILD, (Cell(_("index"), "dim"), Cell(_("rebuild vectors")), Cell(words, style)))

    @on(WindowList.Highlighted)
    def _show_page(self) -> None:
        key = self.list.cursor_key
        if key == REBUILD:
            self.page.show(self._rebuild_page())
        elif key in self._settings:
            self.page.show(setting_lines(self._settings[key], self.engine.settings.problems))

    def _rebuild_page(self) -> list[Block]:
        state = search_state(self.engine)
        return [
            Line((("strong", _("rebuild vectors")),)),
            Line(
                (("text", _("Make every vector again with the model that is set. Search finds by words meanwhile.")),)
            ),
            blank(),
            pair(_("model"), state.model or "-"),
            pair(_("vectors"), f"{state.done}/{state.total}"),
            *([Line((("warning", state.reason),))] if state.reason else []),
        ]

    @on(WindowList.Chosen)
    def _chosen(self, event: WindowList.Chosen) -> None:
        """Change one, or rebuild."""
        if self.host.refusal is not None:
            self.say(self.host.refusal, "warning")
        elif event.key == REBUILD:
            self.run_worker(self._rebuild(), exit_on_error=True)
        else:
            self.run_worker(self._change(event.key), exit_on_error=True)

    async def _change(self, key: str) -> None:
        setting = next(each for each, _value in self.engine.settings.items() if each.key == key)
        view = self._settings[key]

        def store(text: str | None) -> None:
            if text is None:
                self.engine.settings.unset(key)
            else:
                self.engine.settings.set(key, text)
            self.engine.memory_settings()  # notices the new value and tells everybody

        kind, choices = setting.kind.value, setting.choices
        if await self.app.push_screen_wait(
            setting_dialog(view, kind, choices, str(self.engine.settings.get(key)), store)
        ):
            self.show_all()
            self.say(_("{key} is {value} now").format(key=key, value=self._settings[key].value), "good")

    async def _rebuild(self) -> None:
        lines = [_("Search by meaning comes back entry by entry while they are made.")]
        if not await self.app.push_screen_wait(ConfirmDialog(_("rebuild all vectors?"), lines, _("rebuild"), "r")):
            return
        try:
            await asyncio.to_thread(self.engine.embeddings.rebuild)
            self.show_all()
            done, total = await asyncio.to_thread(self.engine.embeddings.fill)
        except SparkError as error:
            self.say(problem(error), "error")
            return
        self.show_all()
        self.say(_("{done} of {total} vectors made").format(done=done, total=total), "good")
