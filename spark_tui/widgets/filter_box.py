"""A one-line search field with the number of results beside it; it reports every key and never waits for an answer."""

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from spark_tui.text.glyphs import glyphs
from spark_tui.widgets.text_input import LineInput


class FilterBox(Horizontal):
    """Hidden until ``open``; the screen searches on ``Changed`` and shows only the answer to the last one."""

    DEFAULT_CSS = """
    FilterBox {
        height: 1; padding: 0 1; background: $background; display: none;
        &.-open { display: block; }
        & > .filter--prompt { width: 2; color: $accent; }
        & > LineInput.-textual-compact { width: 1fr; background: $background; }
        & > .filter--count { width: auto; padding: 0 0 0 2; color: $dim; }
    }
    """

    class Changed(Message):
        """The text is another one now."""

        def __init__(self, box: "FilterBox", text: str) -> None:
            super().__init__()
            self.box, self.text = box, text

        @property
        def control(self) -> "FilterBox":
            """The box, for ``@on(…, "#selector")``."""
            return self.box

    class Submitted(Changed):
        """Enter or arrow down: the focus should go to the results."""

    class Dismissed(Changed):
        """Escape: the search is over; the box is closed and empty already."""

    def __init__(
        self, placeholder: str = "", prompt: str = "/", *, keeps_focus: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._keeps_focus = keeps_focus  # a list below is driven from here: arrow down is the screen's
        self._input = LineInput(placeholder=placeholder)
        self._prompt = Static(prompt or glyphs().prompt, classes="filter--prompt", markup=False)
        self._count = Static("", classes="filter--count", markup=False)

    def compose(self) -> ComposeResult:
        """Prompt, field, count."""
        yield self._prompt
        yield self._input
        yield self._count

    @property
    def value(self) -> str:
        """The text typed so far."""
        return self._input.value

    @property
    def is_open(self) -> bool:
        """Whether the box is shown."""
        return self.has_class("-open")

    def open(self, text: str | None = None) -> None:
        """Show the box and give it the focus; ``text`` replaces what it holds."""
        self.add_class("-open")
        if text is not None:
            self._input.value = text
        self._input.cursor_position = len(self._input.value)
        self._input.focus()

    def close(self) -> None:
        """Hide and empty the box without reporting a change."""
        with self._input.prevent(Input.Changed):
            self._input.value = ""
        self._count.update("")
        self.remove_class("-open")

    def dismiss(self) -> None:
        """What escape does: close and say so."""
        self.close()
        self.post_message(self.Dismissed(self, ""))

    def set_count(self, text: str) -> None:
        """Words for the result, such as ``12 of 340``."""
        self._count.update(text)

    @on(Input.Changed)
    def _report(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self, event.value))

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(self, event.value))

    def on_key(self, event: events.Key) -> None:
        """Arrow down goes to the results, escape ends the search."""
        if event.key == "down" and not self._keeps_focus:
            event.stop()
            self.post_message(self.Submitted(self, self.value))
        elif event.key == "escape":
            event.stop()
            self.dismiss()
