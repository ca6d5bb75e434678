"""What happens around the forms of the area: the text they start with, a draft that is offered, what is said afterwards."""

import hashlib
from collections.abc import Callable

from engine.memory.candidates.model import Action, Edits
from engine.memory.model import Entry, Scope
from spark_tui.presenters.candidate_card import Card
from spark_tui.presenters.form_values import draft_of, new_values
from spark_tui.screens.commit_question import ask_whether_to_commit
from spark_tui.screens.dialogs.candidate_form import CandidateForm, EditTask, Values
from spark_tui.screens.dialogs.memory_form import FormTask, MemoryForm
from spark_tui.screens.engine_screen import EngineScreen
from spark_tui.screens.memory_form_flow import known_agents, resumed_draft, usable_scopes, usual_type
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line


async def edited(screen: EngineScreen, card: Card, confirm: Callable[[str, Edits], Entry]) -> Entry | None:
    """Edit a candidate's text and confirm that; answers the memory it led to, None when it still waits."""
    each = card.candidate
    draft = await resumed_draft(screen, each.id)
    start = {"name": each.name, "description": each.description, "body": each.body, **(draft.fields if draft else {})}
    keeps_name = each.action is Action.UPDATE

    def confirmed(values: Values) -> Entry:
        name = each.name if keeps_name else values["name"].strip()
        return confirm(name, Edits(values["description"].strip(), values["body"]))

    form = CandidateForm(
        EditTask(
            key=each.id, digest=card.digest, title=_("edit, then confirm"), name=None if keeps_name else start["name"],
            description=start["description"], body=start["body"], kept_name=each.name, resumed=draft is not None,
            confirm=confirmed, target_version=card.shown.target_version,
        ),
        screen.host.drafts,
    )  # fmt: skip
    entry = await screen.app.push_screen_wait(form)
    if entry is None and form.is_dirty:
        screen.say(_("not saved; the draft is kept and offered next time"), "warning")
    return entry


async def write_by_hand(screen: EngineScreen, name: str, scope: Scope) -> Entry | None:
    """The form for a new memory under the name of a dropped one; it passes the gates of everything written by hand."""
    scopes = usable_scopes(screen.engine)
    scope = scope if scope in scopes else Scope.USER
    key = "dropped-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    draft = await resumed_draft(screen, key)
    start = {**new_values(scope, usual_type(scope)), "name": name}
    task = FormTask(
        title=_("write it by hand"),
        draft_key=key,
        values={**start, **draft.fields} if draft else start,
        save=lambda values, version, mine: screen.engine.store.add(draft_of(values, screen.today)),
        scopes=scopes,
        agents=known_agents(screen.engine),
        resumed=draft is not None,
    )
    form = MemoryForm(task, screen.host.drafts)
    entry = await screen.app.push_screen_wait(form)
    if entry is not None:
        screen.say(_("added {name}").format(name=one_line(entry.name)), "good")
        if entry.scope is Scope.PROJECT:
            await ask_whether_to_commit(screen)
    elif form.is_dirty:
        screen.say(_("not saved; the draft is kept and offered next time"), "warning")
    return entry
