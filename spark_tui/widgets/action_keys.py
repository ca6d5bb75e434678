"""How keys become actions: one dispatcher over the action table, for every screen; no key is bound anywhere else."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.css.query import NoMatches
from textual.widgets import Input, TextArea

from spark_tui import actions
from spark_tui.actions import Action
from spark_tui.text.i18n import _
from spark_tui.widgets.key_bar import Hint, KeyBar
from spark_tui.widgets.motion import Motion, Movable

if TYPE_CHECKING:
    from textual.screen import Screen

    _Base = Screen[Any]  # the answer's type is the concrete screen's business
else:
    _Base = object

_TAIL = ("frame.help", "frame.back", "frame.quit", "dialog.close", "typing.leave")
_FIELD_MOVES = ("up", "down", "pgup", "pgdn", "enter")


class ActionKeys(_Base):
    """Mixed into a screen before ``Screen``: runs ``do_<id>`` for the keys of its contexts and keeps its key bar true.

    ``can_<when>() -> bool`` answers an action's condition; a condition nobody answers holds.
    """

    CONTEXTS: ClassVar[tuple[str, ...]] = (actions.MOVE, actions.FRAME)
    """Where the screen's keys come from, the most particular first."""
    FIELD_DRIVES_LIST: ClassVar[bool] = False
    """Whether arrows, page keys and enter reach ``move_target`` while a field has the focus (palette, choosers)."""
    _pending = ""

    def move_target(self) -> object:
        """What the movement keys act on: the focused widget, unless a screen knows better."""
        return self.focused

    @property
    def is_typing(self) -> bool:
        """Whether a text field has the focus."""
        return isinstance(self.focused, Input | TextArea)

    def available_actions(self) -> list[Action]:
        """The actions that work right now, the most particular context first."""
        return [action for action in self._listening() if self.can(action.when)]

    def can(self, when: str) -> bool:
        """Whether a condition of the action table holds on this screen."""
        answer: Callable[[], bool] | None = getattr(self, "can_" + when.replace("-", "_"), None)
        return answer is None or answer()

    async def perform(self, action_id: str) -> bool:
        """Run an action by id, as its key would; False when its condition does not hold here (the key bar says why)."""
        action = actions.get(action_id)
        if not self.can(action.when):
            if action.when in actions.REFUSALS:
                self.say(_(actions.REFUSALS[action.when]), "dim")
            return False
        if action.where == actions.MOVE:
            self._move(Motion(action_id.removeprefix("move.")))
            return True
        method = self._method(action)
        if method is None:
            raise NotImplementedError(f"neither {type(self).__name__} nor the app has {action.method}")
        result = method()
        if result is not None:
            await result
        self.refresh_keys()
        return True

    def say(self, text: str, style: str = "text") -> None:
        """Say something in the key bar until the next key."""
        try:
            self.query_one(KeyBar).say(text, style)
        except NoMatches:
            return

    def refresh_keys(self) -> None:
        """Show the keys that work now; call it after anything changed what works."""
        try:
            bar = self.query_one(KeyBar)
        except NoMatches:
            return
        bar.show(*self._hints())

    def on_mount(self) -> None:
        """Fill the key bar."""
        self.refresh_keys()

    def on_descendant_focus(self) -> None:
        """Other keys may work in the pane that now has the focus."""
        self.refresh_keys()

    on_descendant_blur = on_descendant_focus

    async def on_key(self, event: events.Key) -> None:
        """Run the action of a key or remember the first key of a sequence; unknown keys go on to Textual."""
        key = actions.spoken(event.key, event.character)
        if self.is_typing and not self._reaches_action(key):
            return
        self._clear_notice()
        typed = f"{self._pending} {key}".strip()
        candidates = self._listening()
        action, longer = actions.matching(typed, [each for each in candidates if self.can(each.when)])
        if action is None and not longer:
            action, longer = actions.matching(typed, candidates)
        was_pending, self._pending = self._pending, typed if longer else ""
        if action is None and not longer and not was_pending:
            return
        event.stop()
        event.prevent_default()
        if longer or was_pending:
            self.refresh_keys()
        if action is not None and not longer:
            await self.perform(action.id)

    def can_chooser(self) -> bool:
        """Whether what the movement keys act on has something to open."""
        return bool(getattr(self.move_target(), "CHOOSES", False))

    def do_frame_pane_next(self) -> None:
        """To the next pane that takes keys."""
        self.focus_next()

    def do_frame_pane_previous(self) -> None:
        """To the pane before."""
        self.focus_previous()

    def do_typing_leave(self) -> None:
        """Esc in a field: back to where the focus can move by keys; screens with a filter box do more."""
        self.set_focus(None)

    def _listening(self) -> list[Action]:
        if not self.is_typing:
            return actions.in_context(self.CONTEXTS)
        found = self._typing_actions()
        return found + actions.in_context([actions.MOVE]) if self.FIELD_DRIVES_LIST else found

    def _typing_actions(self) -> list[Action]:
        form = [actions.FORM] if actions.FORM in self.CONTEXTS else []
        return actions.in_context([*form, actions.TYPING])

    def _reaches_action(self, key: str) -> bool:
        """In a field only the typing context's keys are ours (and those that drive a list below the field)."""
        if self.FIELD_DRIVES_LIST and key in _FIELD_MOVES:
            return True
        return any(key in action.keys for action in self._typing_actions())

    def _method(self, action: Action) -> Callable[[], Awaitable[None] | None] | None:
        found: Callable[[], Awaitable[None] | None] | None = getattr(self, action.method, None)
        return found if found is not None else getattr(self.app, action.method, None)

    def _move(self, motion: Motion) -> None:
        target = self.move_target()
        if isinstance(target, Movable):
            target.move(motion)

    def _clear_notice(self) -> None:
        for bar in self.query(KeyBar):
            bar.clear()

    def _hints(self) -> tuple[list[Hint], list[Hint]]:
        if self._pending:
            return self._continuations(), []
        able = [action for action in self.available_actions() if action.priority]
        able.sort(key=lambda action: -action.priority)
        hints = [Hint(action.keys[0], action.title, action.priority) for action in able if action.id not in _TAIL]
        tail = [Hint(action.keys[0], action.title, action.priority) for action in able if action.id in _TAIL]
        return hints, tail

    def _continuations(self) -> list[Hint]:
        """After the first key of a sequence: what may follow."""
        start = self._pending + " "
        return [
            Hint(key, action.title)
            for action in self.available_actions()
            for key in action.keys
            if key.startswith(start)
        ]
