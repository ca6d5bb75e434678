"""What happens around the form: where its text comes from, a draft that is offered, what is said afterwards."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.memory.layers import BUILT_IN_AGENTS
from engine.memory.model import Entry, MemoryType, Scope
from engine.memory.workspaces import Workspace
from spark_tui.drafts import NEW, FormDraft
from spark_tui.presenters.diff_lines import entry_text, values_text
from spark_tui.presenters.form_values import all_changes, changes_of, draft_of, new_values, values_of
from spark_tui.screens.commit_question import ask_whether_to_commit
from spark_tui.screens.dialogs.choose import Choice, ChooseDialog
from spark_tui.screens.dialogs.conflict import Versions
from spark_tui.screens.dialogs.memory_form import FormTask, MemoryForm, Values
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line

if TYPE_CHECKING:
    from engine.runtime import Engine
    from spark_tui.screens.engine_screen import EngineScreen
    from spark_tui.screens.memory_verbs import MemoryVerbs


class FormFlow:
    """Adds and edits for one Memory screen."""

    def __init__(self, screen: "MemoryVerbs") -> None:
        self._screen = screen
        self._engine = screen.engine

    async def add(self) -> None:
        """A new memory; the form starts in the scope, type and agent that are shown."""
        shown, scopes = self._screen.shown, usable_scopes(self._engine)
        scope = shown.scope if shown.scope in scopes else Scope.USER
        start = new_values(scope, shown.type or usual_type(scope), shown.agent or "")
        draft = await resumed_draft(self._screen, NEW)
        task = FormTask(
            title=_("new memory"),
            draft_key=NEW,
            values={**start, **draft.fields} if draft else start,
            save=lambda values, version, mine: self._engine.store.add(draft_of(values, self._screen.today)),
            scopes=scopes,
            agents=known_agents(self._engine),
            resumed=draft is not None,
        )
        entry = await self._filled(task, _("added {name}"))
        if entry is not None and entry.scope is Scope.PROJECT:
            await ask_whether_to_commit(self._screen)

    async def edit(self, key: str) -> None:
        """The fields of a memory; a draft goes on from the version it was begun on."""
        found = await self._screen.in_thread(lambda: (self._engine.listing.entry(key), self._engine.listing.body(key)))
        if found is None:
            return
        entry, body = found
        if entry.file_state is not None:
            self._screen.say(_("its file is broken or gone: h restores it, E opens the file"), "warning")
            return
        draft = await resumed_draft(self._screen, key)
        await self._filled(self._edit_task(entry, body, draft), _("saved {name}"))

    def versions(self, key: str, values: Values, base: int) -> Versions:
        """On a thread: the entry as it is now, and both texts."""
        current, body = self._engine.listing.entry(key), self._engine.listing.body(key)
        return Versions(current, entry_text(current, body), base, values_text(values))

    def _edit_task(self, entry: Entry, body: str, draft: FormDraft | None) -> FormTask:
        def save(values: Values, version: int, mine: bool) -> Entry:
            today = self._screen.today
            every = mine or version != entry.version
            changes = all_changes(values, today) if every else changes_of(values, entry, body, today)
            return self._engine.store.edit(entry.id, changes, version)

        start = values_of(entry, body)
        return FormTask(
            title=_("edit {name}").format(name=one_line(entry.name)),
            draft_key=entry.id,
            values={**start, **draft.fields} if draft else start,
            save=save,
            versions=lambda values, base: self.versions(entry.id, values, base),
            version=draft.version if draft else entry.version,
            resumed=draft is not None,
        )

    async def _filled(self, task: FormTask, said: str) -> Entry | None:
        """Show a form; tell what became of it, and put the cursor on what was stored, which is the answer."""
        screen = self._screen
        form = MemoryForm(task, screen.host.drafts)
        entry = await screen.app.push_screen_wait(form)
        if entry is not None:
            words = said.format(name=one_line(entry.name))
            screen.remember_done(words, [(entry.id, entry.version)])
            screen.show_stored(entry.id)
            screen.say(words, "good")
        elif form.is_dirty:
            screen.say(_("not saved; the draft is kept and offered next time"), "warning")
        return entry


async def resumed_draft(screen: "EngineScreen", key: str) -> FormDraft | None:
    """The draft of a form, when there is one and the person wants it."""
    drafts = screen.host.drafts
    draft = drafts.find(key)
    if draft is None:
        return None
    first = one_line(draft.fields.get("description", "")) or _("no description yet")
    choices = [
        Choice("go on", _("go on with it"), first),
        Choice("anew", _("start anew"), _("the draft is dropped")),
    ]
    chosen = await screen.app.push_screen_wait(ChooseDialog(_("there is a draft"), choices))
    if chosen == "anew":
        drafts.drop(key)
    return draft if chosen == "go on" else None


def usable_scopes(engine: "Engine") -> list[Scope]:
    """The scopes a memory can be written to from here: a project needs a workspace."""
    bound = isinstance(engine.layers.workspace, Workspace)
    return [scope for scope in Scope if scope is not Scope.PROJECT or bound]


def known_agents(engine: "Engine") -> Sequence[str]:
    """Agents that have memories, then the built-in ones."""
    known = [layer.ref for layer in engine.layers.agents() if layer.ref]
    return tuple(dict.fromkeys([*known, *BUILT_IN_AGENTS]))


def usual_type(scope: Scope) -> MemoryType:
    """What a memory of a scope mostly is."""
    return MemoryType.PROJECT if scope is Scope.PROJECT else MemoryType.FEEDBACK
