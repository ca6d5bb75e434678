"""Text fields without border, blink or raw control characters; what a person typed or a file holds is kept as it is."""

from rich.highlighter import Highlighter
from rich.text import Text
from textual.widgets import Input, TextArea

from spark_tui.text.safe import same_length


class _Safe(Highlighter):
    """Draws every unsafe character as a stand-in of one cell; the field's value keeps the character."""

    def __call__(self, text: str | Text) -> Text:
        """The text as it may be sent to a terminal."""
        return Text(same_length(str(text)), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Nothing is coloured."""


class LineInput(Input):
    """One line of text."""

    DEFAULT_CSS = """
    LineInput, LineInput.-textual-compact {
        background: $raised; color: $foreground; height: 1; border: none; padding: 0;
        &:focus { background-tint: transparent; border: none; }
        & > .input--placeholder { color: $dim; text-style: none; }
        &:ansi { background: ansi_default; color: $foreground; }
        &:ansi > .input--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
        &:ansi > .input--placeholder { color: $dim; text-style: none; }
    }
    """

    def __init__(
        self,
        value: str = "",
        placeholder: str = "",
        *,
        id: str | None = None,
        max_length: int = 0,
        password: bool = False,
    ) -> None:
        super().__init__(
            value,
            placeholder,
            id=id,
            compact=True,
            highlighter=_Safe(),
            max_length=max_length,
            password=password,
            select_on_focus=False,
        )
        self.cursor_blink = False

    def restricted(self) -> None:
        """No bell for a key too many."""


class AreaInput(TextArea):
    """Several lines of text, wrapped."""

    DEFAULT_CSS = """
    AreaInput, AreaInput.-textual-compact {
        background: $raised; color: $foreground; border: none; padding: 0; scrollbar-size: 0 0;
        &:focus { border: none; }
        & .text-area--cursor { background: $foreground; color: $background; text-style: none; }
        & .text-area--cursor-line { background: transparent; }
        & .text-area--selection { background: $selection; color: $selection-text; }
        & .text-area--placeholder { color: $dim; }
        &:ansi { background: ansi_default; }
        &:ansi .text-area--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
        &:ansi .text-area--cursor-line { background: transparent; }
    }
    """

    def __init__(self, text: str = "", placeholder: str = "", *, id: str | None = None) -> None:
        super().__init__(text, id=id, compact=True, soft_wrap=True, placeholder=placeholder)
        self.cursor_blink = False

    def get_line(self, line_index: int) -> Text:
        """A line as it may be sent to a terminal."""
        return Text(same_length(self.document.get_line(line_index)), end="", no_wrap=True)
