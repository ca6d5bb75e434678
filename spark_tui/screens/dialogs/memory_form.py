"""The form that adds or edits one memory: nothing typed into it is ever lost, whatever becomes of the saving."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from engine.errors import SparkError, VersionConflict
from engine.memory.model import Entry, Scope
from spark_tui import actions
from spark_tui.drafts import Drafts, FormDraft
from spark_tui.presenters.form_values import FormProblem, problem_of, suggested_name, validity_help
from spark_tui.presenters.problems import problem
from spark_tui.presenters.words import TYPE_ORDER, scope_word, type_word
from spark_tui.screens.dialogs.conflict import ConflictDialog, Resolution, Versions
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.widgets.form_field import AreaField, ChoiceField, FormBody, FormField, TextField
from spark_tui.widgets.text_input import AreaInput, LineInput

KEEP_AFTER_S = 0.4
Values = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FormTask:
    """What a form is for; ``values`` fill its fields, ``resumed`` says that they come from a draft.

    ``save(values, version, mine)`` runs on a thread and raises ``SparkError`` or ``FormProblem``; with ``mine`` every
    field is written, not only those that were changed. ``versions(values)`` reads what a conflict dialog compares.
    """

    title: str
    draft_key: str
    values: Values
    save: Callable[[Values, int, bool], Entry]
    versions: Callable[[Values, int], Versions] | None = None
    version: int = 0
    scopes: Sequence[Scope] = ()
    agents: Sequence[str] = ()
    resumed: bool = False


class MemoryForm(Sheet[Entry]):
    """Answers the stored entry, or None; changed text that was not saved is kept as a draft."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FORM, actions.DIALOG)
    CSS_PATH = "memory_form.tcss"

    def __init__(self, task: FormTask, drafts: Drafts) -> None:
        super().__init__(task.title)
        self._job = task
        self._drafts = drafts
        self._version = task.version
        self._unsaved = task.resumed
        self._mine = False
        self._busy = False
        self._timer: Timer | None = None
        self._fields = {each.field_name: each for each in _made_fields(task)}

    @property
    def values(self) -> dict[str, str]:
        """What the form holds now."""
        return {**self._job.values, **{name: each.value for name, each in self._fields.items()}}

    @property
    def is_dirty(self) -> bool:
        """Whether closing would lose something without a draft."""
        return self._unsaved or any(each.dirty for each in self._fields.values())

    def body(self) -> Iterable[Widget]:
        """The fields, the long one last."""
        yield FormBody(*self._fields.values(), id="fields")

    def on_mount(self) -> None:
        """Write at once."""
        self._fit()
        self._follow_choices()
        self._fields["description"].focus_control()

    def on_resize(self) -> None:
        """The long field takes what the others leave."""
        self._fit()

    def nothing(self) -> Entry | None:
        """Closed without saving: the text stays on disk."""
        return None

    def do_dialog_close(self) -> None:
        """Keep the draft of a changed form, then close."""
        if self.is_dirty and not self._busy:
            self._keep()
        self.dismiss(None)

    def do_form_save(self) -> None:
        """Check and store; errors stand below their fields and the form stays open."""
        if not self._busy:
            self._busy = True
            self.run_worker(self._save(), exit_on_error=True)

    async def on_key(self, event: events.Key) -> None:
        """Enter saves, except in the long field; arrows go from one short field to the next."""
        if isinstance(self.focused, AreaInput):
            return
        if event.key == "enter" and not isinstance(self.focused, LineInput):
            self.do_form_save()
        elif event.key == "down":
            self.focus_next()
        elif event.key == "up":
            self.focus_previous()
        else:
            return
        event.stop()
        event.prevent_default()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.do_form_save()

    @on(FormField.Changed)
    def _changed(self, event: FormField.Changed) -> None:
        """Clear the field's error and keep a draft soon."""
        event.field.set_error("")
        self._follow_choices()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(KEEP_AFTER_S, self._keep_if_dirty)

    async def _save(self) -> None:
        try:
            entry = await asyncio.to_thread(self._job.save, self.values, self._version, self._mine)
        except FormProblem as error:
            self._refuse(error)
        except VersionConflict as error:
            await self._resolve(error)
        except SparkError as error:
            self._refuse(problem_of(error, self._fields))
        else:
            self._forget_draft()
            self.dismiss(entry)
        finally:
            self._busy = False

    async def _resolve(self, error: VersionConflict) -> None:
        """Both texts and three ways on; esc comes back to the form with everything in it."""
        self._keep()
        if self._job.versions is None:
            self.say(problem(error), "error")
            return
        try:
            versions = await asyncio.to_thread(self._job.versions, self.values, self._version)
        except SparkError as gone:
            self.say(problem(gone), "error")
            return
        choice = await self.app.push_screen_wait(ConflictDialog(versions))
        if choice is Resolution.THEIRS:
            self._forget_draft()
            self.dismiss(versions.current)
        elif choice is not None:
            self._version = versions.current.version
            self._mine = True
            self.say(_("saving now writes your text over version {n}").format(n=self._version), "warning")
            if choice is Resolution.MINE:
                self.call_later(self.do_form_save)

    def _refuse(self, error: FormProblem) -> None:
        """Show what is wrong where it is wrong; the text is safe on disk as well."""
        self._keep_if_dirty()
        field = self._fields.get(error.field, self._fields["description"])
        field.set_error(problem(error.error))
        field.focus_control()
        field.scroll_visible(animate=False)

    def _keep_if_dirty(self) -> None:
        if self.is_dirty and self.is_attached:
            self._keep()

    def _keep(self) -> None:
        refusal = self._drafts.keep(self._job.draft_key, FormDraft(self.values, self._version))
        if refusal is not None:
            self.say(_("the draft could not be kept: {reason}").format(reason=refusal), "error")

    def _forget_draft(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._drafts.drop(self._job.draft_key)

    def _follow_choices(self) -> None:
        """The agent field shows for the agent scope only; an empty name shows the one it would get."""
        if "agent" in self._fields:
            self._fields["agent"].display = self.values["scope"] == Scope.AGENT
        name = self._fields["name"].control_widget
        if isinstance(name, LineInput):
            name.placeholder = suggested_name(self.values["description"])

    def _fit(self) -> None:
        room = self.app.size.height - 2
        short = len(self._fields) - 1
        self._fields["body"].control_widget.styles.height = max(3, min(room - short - 3, 14))
        self.query_one("#fields").styles.max_height = max(room - 1, 3)


def _made_fields(task: FormTask) -> list[FormField]:
    values = task.values
    types = [(each.value, type_word(each)) for each in TYPE_ORDER]
    fields: list[FormField] = [
        TextField("description", _("description"), values["description"]),
        TextField("name", _("name"), values["name"]),
        ChoiceField("type", _("type"), types, values["type"]),
    ]
    if task.scopes:
        scopes = [(each.value, scope_word(each)) for each in task.scopes]
        known = _("known: {agents}").format(agents=", ".join(task.agents)) if task.agents else ""
        fields.append(ChoiceField("scope", _("scope"), scopes, values["scope"]))
        fields.append(TextField("agent", _("agent"), values["agent"], help=known))
    return [
        *fields,
        TextField("validity", _("validity"), values["validity"], placeholder=validity_help()),
        TextField("entities", _("entities"), values["entities"], placeholder=_("names between commas")),
        AreaField("body", _("body"), values["body"]),
    ]
