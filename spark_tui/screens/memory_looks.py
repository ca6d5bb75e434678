"""Looking at memories: search, sort, filter, marks, another day, another workspace, injection; none of it writes a memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from engine.memory.workspaces import Workspace
from spark_tui.screens.memory_base import MemoryBase
from spark_tui.screens.memory_filter import Shown
from spark_tui.screens.memory_overview import workspace_name
from spark_tui.screens.memory_search import Asked
from spark_tui.text.i18n import _, ngettext
from spark_tui.widgets.facet_bar import FacetBar
from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.window_list import WindowList

if TYPE_CHECKING:
    from spark_tui.palette import PaletteItem
    from spark_tui.presenters.injection_lines import Preview
    from spark_tui.screens.dialogs.injection_preview import Wish

_OFFERED = 8


class MemoryLooks(MemoryBase):
    """The actions that change what is shown."""

    def can_row(self) -> bool:
        """Whether a memory is listed under the cursor."""
        return bool(self.list.targets())

    def can_search(self) -> bool:
        """Whether a search is on."""
        return bool(self.query_text.strip())

    def do_memory_search(self) -> None:
        """Open the field, with what was searched before."""
        self.leave_page()
        self.filter_box.open()

    def do_memory_reasons(self) -> None:
        """The numbers behind each hit, or the descriptions again."""
        self.with_reasons = not self.with_reasons
        self.show_found()

    def do_memory_sort(self) -> None:
        """The next order; a search is always sorted by relevance."""
        if self.can_search():
            self.say(_("a search is sorted by relevance"), "dim")
            return
        self.show_as(self.shown.sorted_next())

    def do_memory_valid_only(self) -> None:
        """Only what applies, or everything."""
        self.show_as(self.shown.valid_toggled())

    def do_memory_mark(self) -> None:
        """Mark and step down."""
        self.list.toggle_mark()

    def do_memory_mark_all(self) -> None:
        """All that is listed, or nothing."""
        self.list.mark_all()

    def do_memory_range(self) -> None:
        """Begin or end a range."""
        self.list.toggle_range()

    def do_memory_as_of(self) -> None:
        """Ask for the day."""
        self.run_worker(self._choose_day(), exit_on_error=True)

    def do_memory_workspace(self) -> None:
        """Ask for the workspace."""
        self.run_worker(self._choose_workspace(), exit_on_error=True)

    def do_memory_injection(self) -> None:
        """Show the block of this workspace."""
        from engine.memory.layers import BUILT_IN_AGENTS
        from spark_tui.screens.dialogs.injection_preview import InjectionPreview, Wish

        here = workspace_name(self.engine) or _("no workspace")
        known = [layer.ref for layer in self.engine.layers.agents() if layer.ref]
        agents = tuple(dict.fromkeys([*known, *BUILT_IN_AGENTS]))
        wish = Wish(self.shown.agent or (known[0] if known else None), self.shown.day)
        self.app.push_screen(InjectionPreview(here, agents, wish, self.today, self._preview))

    def do_frame_back(self) -> None:
        """One step back: out of the page, the range, the marks, the search, the facets, the day."""
        if not self._stepped_back():
            self.say(_("q leaves"), "dim")

    def do_frame_quit(self) -> None:
        """Out of the page or the facets; from the list out of the program."""
        if not self.leave_page():
            self.host.leave()

    def show_as(self, shown: Shown) -> None:
        """Another filter, order or day."""
        self.shown = shown
        self.refresh_all()

    def leave_page(self) -> bool:
        """Back to the list from a page or the facets in its place; False when the list is in sight and has the focus."""
        was_away = self.has_class("-reading") or self.has_class("-choosing") or not self.list.has_focus
        self.remove_class("-reading", "-choosing")
        self.list.focus()
        if was_away:
            self.show_page()
        return was_away

    def offered(self, typed: str) -> "Sequence[PaletteItem]":
        """Memories whose name or description holds what was typed into the palette."""
        from engine.memory.listing import Filter
        from spark_tui.palette import PaletteItem

        found = self.engine.listing.window(Filter(state=None, text=typed), 0, _OFFERED)
        return [PaletteItem(entry.id, entry.name, entry.description) for entry in found]

    def go_to_offered(self, key: str) -> None:
        """Show a memory that was chosen in the palette, whatever is filtered or searched."""
        self.end_search()
        self.shown = Shown(order=self.shown.order)
        self.wanted_key = key
        self.refresh_all()

    @on(FilterBox.Changed)
    def _typed(self, event: FilterBox.Changed) -> None:
        """Every key asks anew; only the last answer is shown."""
        self.query_text = event.text
        if event.text.strip():
            self.search.ask(Asked(event.text, self.shown))
        else:
            self.refresh_all()
        self.refresh_keys()

    @on(FilterBox.Submitted)
    def _submitted(self) -> None:
        """To the results."""
        self.list.focus()

    @on(FilterBox.Dismissed)
    def _dismissed(self) -> None:
        """The search is over."""
        self.end_search()

    def end_search(self) -> bool:
        """Back to the whole list, on the memory the search led to; False when none was on."""
        if not self.query_text and not self.filter_box.is_open:
            return False
        self.query_text = ""
        self.filter_box.close()
        self.refresh_all()
        self.list.focus()
        self.refresh_keys()
        return True

    @on(FacetBar.Chosen)
    def _facet(self, event: FacetBar.Chosen) -> None:
        """Switch a facet; the project of another folder means going there."""
        kind, _colon, value = event.key.partition(":")
        if kind == "workspace":
            self.run_worker(self._bind(Path(value)), exit_on_error=True)
            return
        self.show_as(self.shown.toggled(event.key))

    @on(WindowList.Chosen)
    def _opened(self, event: WindowList.Chosen) -> None:
        """Read it: beside the list when there is room, in its place when not."""
        self.set_class(not self.is_wide, "-reading")
        self.pane.focus()
        source = self.source
        self.pane.show_memory(event.key, source.reasons(event.key) if source else None)

    @on(WindowList.Marked)
    def _marked(self) -> None:
        """Say how many a verb would now act on."""
        count = len(self.list.marked)  # what the message counted may have been dropped by a verb meanwhile
        if count:
            self.say(ngettext("{n} marked", "{n} marked", count).format(n=count), "accent")

    def do_frame_pane_next(self) -> None:
        """Facets, list, page; on a narrow screen the facets take the place of the list."""
        if self.has_class("-narrow") and not self.has_class("-reading"):
            choosing = not self.has_class("-choosing")
            self.set_class(choosing, "-choosing")
            (self.facet_bar if choosing else self.list).focus()
        else:
            self.focus_next()

    def do_frame_pane_previous(self) -> None:
        """The other way round."""
        if self.has_class("-narrow") and not self.has_class("-reading"):
            self.do_frame_pane_next()
        else:
            self.focus_previous()

    def _stepped_back(self) -> bool:
        if self.leave_page() or self.list.clear_marks() or self.end_search():
            return True
        if self.shown.is_narrowed:
            self.show_as(self.shown.cleared())
        elif self.shown.day is not None:
            self.show_as(self.shown.on_day(None))
        else:
            return False
        return True

    async def _choose_day(self) -> None:
        from spark_tui.screens.dialogs.as_of import as_of_dialog

        answer = await self.app.push_screen_wait(as_of_dialog(self.shown.day, self.today))
        if answer is not None:
            self.show_as(self.shown.on_day(answer.day))

    async def _choose_workspace(self) -> None:
        from spark_tui.screens.dialogs.workspace import ELSEWHERE, FolderDialog, workspace_dialog

        workspace = self.engine.layers.workspace
        here = workspace.root if isinstance(workspace, Workspace) else None
        known = self.engine.layers.known_workspaces()
        chosen = await self.app.push_screen_wait(workspace_dialog(known, here, self.engine.clock.now_ms()))
        if chosen == ELSEWHERE:
            folder = await self.app.push_screen_wait(FolderDialog(self.host.folder))
        else:
            folder = Path(chosen) if chosen else None
        if folder is not None:
            await self._bind(folder)

    async def _bind(self, folder: Path) -> None:
        if not folder.is_dir():
            self.say(_("{folder} is not there any more").format(folder=folder), "error")
            return
        self.shown = self.shown.cleared()
        await self.in_thread(lambda: self.engine.bind(folder))
        self.refresh_all()

    def _preview(self, wish: "Wish") -> "Preview":
        """On a thread: the block as it would be, without counting a hit."""
        from engine.memory.injection import AgentProfile, Request
        from spark_tui.presenters.injection_lines import Preview

        engine = self.engine
        as_of = Shown(day=wish.day).as_of_ms(engine.clock.zone())
        profile = AgentProfile(wish.agent, wish.agent or "")
        injection = engine.inject(Request(profile, as_of_ms=as_of, count_hits=False))
        ids = {*injection.injected, *(each.id for each in injection.dropped)}
        return Preview(
            status=injection.status.value,
            block=injection.block,
            tokens=injection.tokens,
            budget=engine.memory_settings().max_inject_tokens,
            lines=injection.lines,
            dropped=[(each.id, each.reason.value) for each in injection.dropped],
            entries={id_: engine.listing.entry(id_) for id_ in ids},
        )
