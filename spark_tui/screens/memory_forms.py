"""Writing memories: the form that adds and edits, and many memories in the person's own editor; text outlives every failure."""

import asyncio
from collections.abc import Mapping, Sequence

from engine.errors import SparkError, VersionConflict
from engine.memory.layers import BUILT_IN_AGENTS
from engine.memory.model import Entry, ItemResult, MemoryType, Scope
from spark_tui.drafts import NEW, FormDraft
from spark_tui.editor import EditorFailed, edited
from spark_tui.presenters.diff_lines import entry_text, values_text
from spark_tui.presenters.editor_text import BufferBroken, Section, read_buffer, written_buffer
from spark_tui.presenters.form_values import FormProblem, all_changes, changes_of, draft_of, new_values, values_of
from spark_tui.screens.dialogs.choose import Choice, ChooseDialog
from spark_tui.screens.dialogs.conflict import ConflictDialog, Resolution, Versions
from spark_tui.screens.dialogs.memory_form import FormTask, MemoryForm, Values
from spark_tui.screens.memory_verbs import MemoryVerbs
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line


class MemoryForms(MemoryVerbs):
    """The actions behind ``a``, ``e`` and ``E``."""

    def do_memory_add(self) -> None:
        """Write a new memory; the form starts in the scope, type and agent that are shown."""
        self.run_worker(self._add(), exit_on_error=True)

    def do_memory_edit(self) -> None:
        """Edit the memory under the cursor."""
        if self.list.cursor_key is not None:
            self.run_worker(self._edit(self.list.cursor_key), exit_on_error=True)

    def do_memory_editor(self) -> None:
        """All marked memories in one buffer of the person's editor."""
        self.run_worker(self._edit_outside(self.target_entries()), exit_on_error=True)

    async def _add(self) -> None:
        shown = self.shown
        scopes = self._scopes()
        scope = shown.scope if shown.scope in scopes else Scope.USER
        start = new_values(scope, shown.type or _type_for(scope), shown.agent or "")
        draft = await self._resumed(NEW)
        task = FormTask(
            title=_("new memory"),
            draft_key=NEW,
            values={**start, **draft.fields} if draft else start,
            save=lambda values, version, mine: self.engine.store.add(draft_of(values, self.today)),
            scopes=scopes,
            agents=self._agents(),
            resumed=draft is not None,
        )
        await self._filled(task, _("added {name}"))

    async def _edit(self, key: str) -> None:
        found = await self.in_thread(lambda: (self.engine.listing.entry(key), self.engine.listing.body(key)))
        if found is None:
            return
        entry, body = found
        draft = await self._resumed(key)
        start = values_of(entry, body)
        version = draft.version if draft else entry.version
        await self._filled(self._edit_task(entry, body, {**start, **draft.fields} if draft else start, version, draft is not None))

    def _edit_task(self, entry: Entry, body: str, values: Values, version: int, resumed: bool) -> FormTask:
        def save(values: Values, version: int, mine: bool) -> Entry:
            every = mine or version != entry.version
            changes = all_changes(values, self.today) if every else changes_of(values, entry, body, self.today)
            return self.engine.store.edit(entry.id, changes, version)

        return FormTask(
            title=_("edit {name}").format(name=one_line(entry.name)),
            draft_key=entry.id,
            values=values,
            save=save,
            versions=lambda values, base: self._versions(entry.id, values, base),
            version=version,
            resumed=resumed,
        )

    async def _filled(self, task: FormTask, said: str = "") -> None:
        """Show a form; tell what became of it, and put the cursor on what was stored."""
        form = MemoryForm(task, self.host.drafts)
        entry = await self.app.push_screen_wait(form)
        if entry is None:
            if form.is_dirty:
                self.say(_("not saved; the draft is kept and offered next time"), "warning")
            return
        words = (said or _("saved {name}")).format(name=one_line(entry.name))
        self.remember_done(words, [(entry.id, entry.version)])
        self.refresh_all()
        self.list.move_to(entry.id)
        self.pane.reload()
        self.say(words, "good")

    async def _resumed(self, key: str) -> FormDraft | None:
        """The draft of a form, when there is one and the person wants it."""
        draft = self.host.drafts.find(key)
        if draft is None:
            return None
        first = one_line(draft.fields.get("description", "")) or _("no description yet")
        choices = [Choice("go on", _("go on with it"), first), Choice("anew", _("start anew"), _("the draft is dropped"))]
        chosen = await self.app.push_screen_wait(ChooseDialog(_("there is a draft"), choices))
        if chosen == "anew":
            self.host.drafts.drop(key)
        return draft if chosen == "go on" else None

    def _versions(self, key: str, values: Values, base: int) -> Versions:
        """On a thread: the entry as it is now, and both texts."""
        current, body = self.engine.listing.entry(key), self.engine.listing.body(key)
        return Versions(current, entry_text(current, body), base, values_text(values))

    def _scopes(self) -> list[Scope]:
        bound = hasattr(self.engine.layers.workspace, "root")
        return [scope for scope in Scope if scope is not Scope.PROJECT or bound]

    def _agents(self) -> Sequence[str]:
        known = [layer.ref for layer in self.engine.layers.agents() if layer.ref]
        return tuple(dict.fromkeys([*known, *BUILT_IN_AGENTS]))

    async def _edit_outside(self, entries: Sequence[Entry]) -> None:
        sections = await self.in_thread(
            lambda: [Section(each.id, values_of(each, self.engine.listing.body(each.id))) for each in entries]
        )
        if not sections:
            return
        name = f"{sections[0].id}.md" if len(sections) == 1 else "memories.md"
        text = written_buffer(sections)
        try:
            changed = await edited(self.app, text, self.host.drafts.folder, name)
        except EditorFailed as error:
            where = " " + _("(your text: {path})").format(path=error.path) if error.path else ""
            self.tell(error.reason + where)
            return
        if changed == text:
            self.say(_("nothing changed"), "dim")
            return
        await self._store_buffer(changed, sections, entries)

    async def _store_buffer(self, changed: str, before: Sequence[Section], entries: Sequence[Entry]) -> None:
        try:
            after = {each.id: each.values for each in read_buffer(changed, before)}
        except BufferBroken as error:
            path = await asyncio.to_thread(self.host.drafts.keep_text, "editor.md", changed)
            self.tell(_("{reason}; your text: {path}").format(reason=error.reason, path=path))
            return
        results = []
        for entry, section in zip(entries, before, strict=True):
            values = after.get(entry.id, section.values)
            if values != section.values:
                results.append(await self._store_section(entry, section, values))
        await self.report("edit", results, entries)

    async def _store_section(self, entry: Entry, before: Section, values: Mapping[str, str]) -> ItemResult:
        """One memory of the buffer; what is refused becomes its draft, so that ``e`` goes on with it."""
        body = before.values["body"]
        try:
            changes = changes_of(values, entry, body, self.today)
            after = await asyncio.to_thread(self.engine.store.edit, entry.id, changes, entry.version)
        except VersionConflict as error:
            return await self._settle_conflict(entry, values, error)
        except (SparkError, FormProblem) as error:
            self.host.drafts.keep(entry.id, FormDraft(values, entry.version))
            cause = error.error if isinstance(error, FormProblem) else error
            return ItemResult(entry.id, cause.code, _("{reason}; e goes on with your text").format(reason=cause.message))
        return ItemResult(entry.id, "done", version=after.version)

    async def _settle_conflict(self, entry: Entry, values: Values, error: VersionConflict) -> ItemResult:
        self.host.drafts.keep(entry.id, FormDraft(values, entry.version))
        versions = await self.in_thread(lambda: self._versions(entry.id, values, entry.version))
        choice = await self.app.push_screen_wait(ConflictDialog(versions)) if versions is not None else None
        if versions is None or choice in (None, Resolution.EDIT):
            return ItemResult(entry.id, error.code, _("{reason}; e goes on with your text").format(reason=error.message))
        self.host.drafts.drop(entry.id)
        if choice is Resolution.THEIRS:
            return ItemResult(entry.id, "unchanged", version=versions.current.version)
        changes, version = all_changes(values, self.today), versions.current.version
        after = await self.in_thread(lambda: self.engine.store.edit(entry.id, changes, version))
        if after is None:
            self.host.drafts.keep(entry.id, FormDraft(values, version))
            return ItemResult(entry.id, error.code, error.message)
        return ItemResult(entry.id, "done", version=after.version)


def _type_for(scope: Scope) -> MemoryType:
    """What a memory of a scope mostly is."""
    return MemoryType.PROJECT if scope is Scope.PROJECT else MemoryType.FEEDBACK
