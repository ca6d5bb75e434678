"""The form that edits a candidate's text and confirms that; it shows the digest of what it holds, and loses nothing typed."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.errors import NameConflict, SparkError
from engine.memory.candidates.model import digest_of
from engine.memory.model import Entry
from spark_tui import actions
from spark_tui.drafts import Drafts, FormDraft
from spark_tui.presenters.candidate_card import DIGEST_SHOWN
from spark_tui.screens.dialogs.candidate_name import said
from spark_tui.screens.dialogs.sheet import Sheet
from spark_tui.text.i18n import _
from spark_tui.widgets.form_field import AreaField, FormBody, FormField, TextField
from spark_tui.widgets.text_input import AreaInput

KEEP_AFTER_S = 0.4
Values = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EditTask:
    """What is edited: the candidate's id (its draft's key too), the digest that was shown, the text to start with.

    ``name`` None: an update keeps the name of its target. ``confirm(values)`` runs on a thread. ``target_version`` is
    the one the digest covers, where it covers any.
    """

    key: str
    digest: str
    title: str
    name: str | None
    description: str
    body: str
    kept_name: str
    resumed: bool
    confirm: Callable[[Values], Entry]
    target_version: int | None = None


class CandidateForm(Sheet[Entry]):
    """Answers the memory a confirmation led to, or None; changed text that was not confirmed is kept as a draft."""

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.FORM, actions.DIALOG)
    DEFAULT_CSS = """
    CandidateForm #fields { height: auto; scrollbar-size: 0 0; background: $raised; padding: 1 1 0 1; }
    CandidateForm FormField { margin: 0; padding: 0; }
    CandidateForm FormField > .field--label { dock: left; width: 13; }
    CandidateForm Static#digest { color: $dim; background: $raised; padding: 0 1; height: 1; }
    """

    def __init__(self, task: EditTask, drafts: Drafts) -> None:
        super().__init__(task.title)
        self._job = task
        self._drafts = drafts
        self._busy = False
        self._timer: Timer | None = None
        self._fields: dict[str, FormField] = {
            "description": TextField("description", _("description"), task.description)
        }
        if task.name is not None:
            self._fields["name"] = TextField("name", _("name"), task.name)
        self._fields["body"] = AreaField("body", _("body"), task.body)
        self._note = Static("", markup=False, id="digest")

    @property
    def values(self) -> dict[str, str]:
        """What the form holds now."""
        return {"name": self._job.kept_name, **{name: each.value for name, each in self._fields.items()}}

    @property
    def is_dirty(self) -> bool:
        """Whether closing would lose something without a draft."""
        return self._job.resumed or any(each.dirty for each in self._fields.values())

    def body(self) -> Iterable[Widget]:
        """The fields, the long one last, and the digest of what they hold."""
        yield FormBody(*self._fields.values(), id="fields")
        yield self._note

    def on_mount(self) -> None:
        """Write at once."""
        self._fit()
        self._tell_digest()
        self._fields["description"].focus_control()

    def on_resize(self) -> None:
        """The long field takes what the others leave."""
        self._fit()

    def do_dialog_close(self) -> None:
        """Keep the draft of a changed form, then close."""
        if self.is_dirty and not self._busy:
            self._keep()
        self.dismiss(None)

    def do_form_save(self) -> None:
        """Confirm what the form holds; errors stand below their fields and the form stays open."""
        if not self._busy:
            self._busy = True
            self.run_worker(self._save(), exit_on_error=True)

    async def on_key(self, event: events.Key) -> None:
        """Arrows go from one short field to the next."""
        if isinstance(self.focused, AreaInput) or event.key not in ("down", "up"):
            return
        self.focus_next() if event.key == "down" else self.focus_previous()
        event.stop()
        event.prevent_default()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.do_form_save()

    @on(FormField.Changed)
    def _changed(self, event: FormField.Changed) -> None:
        """Clear the field's error, tell the new digest, keep a draft soon."""
        event.field.set_error("")
        self._tell_digest()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(KEEP_AFTER_S, self._keep_if_dirty)

    async def _save(self) -> None:
        try:
            entry = await asyncio.to_thread(self._job.confirm, self.values)
        except SparkError as error:
            self._keep_if_dirty()
            self._refuse(error)
        else:
            if self._timer is not None:
                self._timer.stop()
            self._drafts.drop(self._job.key)
            self.dismiss(entry)
        finally:
            self._busy = False

    def _refuse(self, error: SparkError) -> None:
        """Show what is wrong where it is wrong."""
        about_name = error.code == NameConflict.code or "suggestion" in error.details
        field = self._fields.get("name" if about_name else "description", self._fields["description"])
        field.set_error(said(error))
        field.focus_control()
        field.scroll_visible(animate=False)

    def _tell_digest(self) -> None:
        """The digest of the text as it would be stored, beside the one that was shown."""
        now = self.values
        digest = digest_of(now["name"], now["description"], now["body"].strip(), self._job.target_version)
        if digest == self._job.digest:
            words = _("saving confirms this text: {digest}, as on the card").format(digest=digest[:DIGEST_SHOWN])
        else:
            words = _("saving confirms this text: {digest}; the card had {shown}").format(
                digest=digest[:DIGEST_SHOWN], shown=self._job.digest[:DIGEST_SHOWN]
            )
        self._note.update(words)

    def _keep_if_dirty(self) -> None:
        if self.is_dirty and self.is_attached:
            self._keep()

    def _keep(self) -> None:
        fields = {**self.values, "digest": self._job.digest}
        problem = self._drafts.keep(self._job.key, FormDraft(fields))
        if problem is not None:
            self.say(_("the draft could not be kept: {reason}").format(reason=problem), "error")

    def _fit(self) -> None:
        room = self.app.size.height - 3
        short = len(self._fields) - 1
        self._fields["body"].control_widget.styles.height = max(3, min(room - short - 3, 14))
        self.query_one("#fields").styles.max_height = max(room - 1, 3)
