"""Memories in the person's own editor: out as one buffer, back one by one; text outlives every failure."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.errors import SparkError, VersionConflict
from engine.memory.model import Entry, ItemResult, State
from spark_tui.drafts import FormDraft
from spark_tui.editor import EditorFailed, edited, open_file
from spark_tui.presenters.editor_text import BufferBroken, Section, read_buffer, written_buffer
from spark_tui.presenters.form_values import FormProblem, all_changes, changes_of, values_of
from spark_tui.presenters.problems import problem
from spark_tui.screens.dialogs.conflict import ConflictDialog, Resolution
from spark_tui.screens.memory_form_flow import FormFlow
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from spark_tui.screens.memory_verbs import MemoryVerbs

Values = Mapping[str, str]


class EditorFlow:
    """Edits some memories of one Memory screen."""

    def __init__(self, screen: "MemoryVerbs") -> None:
        self._screen = screen
        self._engine = screen.engine

    async def edit(self, entries: Sequence[Entry]) -> None:
        """Out, back, stored; says what became of each. A file that is no memory any more is mended where it lies."""
        screen = self._screen
        if len(entries) == 1 and entries[0].file_state is State.QUARANTINED:
            await self._mend(entries[0])
            return
        sections = await screen.in_thread(lambda: self._sections(entries))
        if not sections:
            return
        name = f"{sections[0].id}.md" if len(sections) == 1 else "memories.md"
        text = written_buffer(sections)
        try:
            changed = await edited(screen.app, text, screen.host.drafts.folder, name)
        except EditorFailed as error:
            where = " " + _("(your text: {path})").format(path=error.path) if error.path else ""
            screen.tell(error.reason + where)
            return
        if changed == text:
            screen.say(_("nothing changed"), "dim")
        else:
            await self._store(changed, sections, entries)

    async def _mend(self, entry: Entry) -> None:
        screen = self._screen
        layer = self._engine.listing.layer(entry.id)
        try:
            await open_file(screen.app, layer.folder / entry.file)
        except EditorFailed as error:
            screen.tell(error.reason)
        await screen.in_thread(lambda: self._engine.refresh([layer]))
        screen.show_stored(entry.id)
        mended = await screen.in_thread(lambda: self._engine.listing.entry(entry.id))
        if mended is not None and mended.file_state is None:
            screen.say(_("the file is a memory again"), "good")
        elif mended is not None:
            screen.tell(_("still quarantined: {reason}").format(reason=mended.file_reason))

    def _sections(self, entries: Sequence[Entry]) -> list[Section]:
        return [Section(each.id, values_of(each, self._engine.listing.body(each.id))) for each in entries]

    async def _store(self, changed: str, before: Sequence[Section], entries: Sequence[Entry]) -> None:
        try:
            after = {each.id: each.values for each in read_buffer(changed, before)}
        except BufferBroken as error:
            path = await asyncio.to_thread(self._screen.host.drafts.keep_text, "editor.md", changed)
            self._screen.tell(_("{reason}; your text: {path}").format(reason=error.reason, path=path))
            return
        results = []
        for entry, section in zip(entries, before, strict=True):
            values = after.get(entry.id, section.values)
            if values != section.values:
                results.append(await self._store_one(entry, section.values["body"], values))
        await self._screen.report("edit", results, entries)

    async def _store_one(self, entry: Entry, body: str, values: Values) -> ItemResult:
        """One memory of the buffer; what is refused becomes its draft, so that ``e`` goes on with it."""
        try:
            changes = changes_of(values, entry, body, self._screen.today)
            after = await asyncio.to_thread(self._engine.store.edit, entry.id, changes, entry.version)
        except VersionConflict as error:
            return await self._settled(entry, values, error)
        except FormProblem as error:
            return self._kept(entry, values, entry.version, error.error)
        except SparkError as error:
            return self._kept(entry, values, entry.version, error)
        return ItemResult(entry.id, "done", version=after.version)

    async def _settled(self, entry: Entry, values: Values, error: VersionConflict) -> ItemResult:
        """Somebody else was faster: the person decides, and until then the text is a draft."""
        screen = self._screen
        refused = self._kept(entry, values, entry.version, error)
        versions = await screen.in_thread(lambda: FormFlow(screen).versions(entry.id, values, entry.version))
        if versions is None:
            return refused
        current = versions.current.version
        match await screen.app.push_screen_wait(ConflictDialog(versions)):
            case Resolution.THEIRS:
                screen.host.drafts.drop(entry.id)
                return ItemResult(entry.id, "unchanged", version=current)
            case Resolution.MINE:
                return await self._stored_over(entry, values, current)
            case Resolution.EDIT:
                return self._kept(entry, values, current, error)
            case _:
                return refused

    async def _stored_over(self, entry: Entry, values: Values, version: int) -> ItemResult:
        changes = all_changes(values, self._screen.today)
        try:
            after = await asyncio.to_thread(self._engine.store.edit, entry.id, changes, version)
        except SparkError as error:
            return self._kept(entry, values, version, error)
        self._screen.host.drafts.drop(entry.id)
        return ItemResult(entry.id, "done", version=after.version)

    def _kept(self, entry: Entry, values: Values, version: int, error: SparkError) -> ItemResult:
        self._screen.host.drafts.keep(entry.id, FormDraft(values, version))
        return ItemResult(entry.id, error.code, _("{reason}; e goes on with your text").format(reason=problem(error)))
