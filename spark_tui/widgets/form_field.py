"""Labelled fields of a form with a line for the allowed range or what is wrong; checks nothing itself."""

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from spark_tui.text.glyphs import glyphs
from spark_tui.text.lines import Piece, row_cells
from spark_tui.widgets.paint import LineWidget
from spark_tui.widgets.text_input import AreaInput, LineInput


class FormBody(VerticalScroll, can_focus=False):
    """The fields of a form: as high as they are, scrolling to the focused one when the screen is lower than that."""

    DEFAULT_CSS = "FormBody { height: auto; scrollbar-size: 0 0; }"


class FormField(Vertical):
    """A label, a control, and below it the help, which gives way to the error while there is one."""

    DEFAULT_CSS = """
    FormField {
        height: auto; padding: 0 1; background: $background; margin: 0 0 1 0;
        & > .field--label { color: $dim; height: 1; }
        & > .field--note { color: $dim; height: auto; display: none; }
        & > .field--note.-shown { display: block; }
        & > .field--note.-error { color: $error; }
        &.-focus > .field--label { color: $accent; text-style: bold; }
    }
    """

    class Changed(Message):
        """The value is another one now."""

        def __init__(self, field: "FormField") -> None:
            super().__init__()
            self.field = field

        @property
        def control(self) -> "FormField":
            """The field, for ``@on(…, "#selector")``."""
            return self.field

    def __init__(self, name: str, label: str, control: Widget, help: str = "") -> None:
        super().__init__(id=f"field-{name}")
        self.field_name = name
        self.control_widget = control
        self._label = Static(label, classes="field--label", markup=False)
        self._note = Static(help, classes="field--note", markup=False)
        self._help = help
        self._note.set_class(bool(help), "-shown")

    def compose(self) -> ComposeResult:
        """Label, control, note."""
        yield self._label
        yield self.control_widget
        yield self._note

    @property
    def value(self) -> str:
        """What the field holds now, as text or as the key of a choice."""
        raise NotImplementedError

    @property
    def dirty(self) -> bool:
        """Whether the value differs from the one the field was made with."""
        raise NotImplementedError

    def set_error(self, text: str) -> None:
        """Say below the field what is wrong; an empty text brings the help back."""
        mark = f"{glyphs().invalid} " if text else ""
        self._note.update(mark + (text or self._help))
        self._note.set_class(bool(text), "-error")
        self._note.set_class(bool(text or self._help), "-shown")

    def focus_control(self) -> None:
        """Give the focus to the control."""
        self.control_widget.focus()

    def on_descendant_focus(self) -> None:
        """The label says where the keys go (Textual restyles no children for ``:focus-within``)."""
        self.add_class("-focus")

    def on_descendant_blur(self) -> None:
        """The keys go elsewhere."""
        self.remove_class("-focus")

    def _changed(self) -> None:
        self.post_message(self.Changed(self))


class TextField(FormField):
    """A field of one line; ``limit`` is the most characters it takes."""

    def __init__(
        self, name: str, label: str, value: str = "", help: str = "", limit: int = 0, placeholder: str = ""
    ) -> None:
        self._input = LineInput(value, placeholder, max_length=limit)
        self._first = value
        super().__init__(name, label, self._input, help)

    @property
    def value(self) -> str:
        """The text as typed."""
        return self._input.value

    @property
    def dirty(self) -> bool:
        """Whether the text was changed."""
        return self.value != self._first

    @on(Input.Changed)
    def _on_input(self, event: Input.Changed) -> None:
        event.stop()
        self._changed()


class AreaField(FormField):
    """A field of several lines, ``height`` rows high."""

    def __init__(self, name: str, label: str, value: str = "", help: str = "", height: int = 6) -> None:
        self._area = AreaInput(value)
        self._area.styles.height = height
        self._first = self._area.text
        self._given = value
        super().__init__(name, label, self._area, help)

    @property
    def value(self) -> str:
        """The text as typed; exactly the given one when nothing was changed (line ends included)."""
        return self._area.text if self.dirty else self._given

    @property
    def dirty(self) -> bool:
        """Whether the text was changed."""
        return self._area.text != self._first

    @on(TextArea.Changed)
    def _on_area(self, event: TextArea.Changed) -> None:
        event.stop()
        self._changed()


class ChoiceField(FormField):
    """One of a few choices, all in sight; left, right and space change it."""

    def __init__(
        self, name: str, label: str, choices: Sequence[tuple[str, str]], value: str = "", help: str = ""
    ) -> None:
        self._line = ChoiceLine(choices, value)
        self._first = self._line.value
        super().__init__(name, label, self._line, help)

    @property
    def value(self) -> str:
        """The key of the choice."""
        return self._line.value

    @property
    def dirty(self) -> bool:
        """Whether another choice was made."""
        return self.value != self._first

    def set_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer other choices; the value stays when it is among them."""
        self._line.set_choices(choices)

    def on_choice_line_changed(self, event: "ChoiceLine.Changed") -> None:
        """Pass it on as a change of the field."""
        event.stop()
        self._changed()


class ChoiceLine(LineWidget, can_focus=True):
    """Choices side by side, the chosen one marked; only the chosen one where they do not all fit."""

    DEFAULT_CSS = "ChoiceLine { height: 1; background: $raised; color: $foreground; }"

    class Changed(Message):
        """Another choice was made."""

    def __init__(self, choices: Sequence[tuple[str, str]], value: str = "") -> None:
        super().__init__()
        self._choices: list[tuple[str, str]] = []
        self.value = value
        self.set_choices(choices)

    def set_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer these (key, label) pairs; the first one when the value is not among them."""
        self._choices = list(choices)
        if self.value not in (key for key, _label in choices):
            self.value = choices[0][0] if choices else ""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """All choices side by side, or the chosen one and its number where there is no room for all."""
        pieces = [piece for key, label in self._choices for piece in self._choice(key, label)]
        if row_cells(pieces) > self.size.width:
            chosen = [(at, label) for at, (key, label) in enumerate(self._choices, 1) if key == self.value]
            pieces = [piece for _at, label in chosen for piece in self._choice(self.value, label)]
            pieces += [("dim", f" {at}/{len(self._choices)}") for at, _label in chosen]
        return self.paint(pieces)

    def _choice(self, key: str, label: str) -> list[Piece]:
        chosen = key == self.value
        return [
            ("accent", glyphs().cursor if chosen and self.has_focus else " "),
            ("marked" if chosen else "dim", f"{glyphs().marked if chosen else ' '}{label} "),
        ]

    def on_key(self, event: events.Key) -> None:
        """Left and right (h and l), and space, go through the choices."""
        step = {"left": -1, "h": -1, "right": 1, "l": 1, "space": 1}.get(event.key)
        if step is None or not self._choices:
            return
        event.stop()
        keys = [key for key, _label in self._choices]
        self._choose(keys[(keys.index(self.value) + step) % len(keys)])

    def on_click(self, event: events.Click) -> None:
        """A click goes to the next choice."""
        self.focus()

    def on_focus(self) -> None:
        """The mark of the focus shows."""
        self.refresh()

    on_blur = on_focus

    def _choose(self, key: str) -> None:
        if key != self.value:
            self.value = key
            self.refresh()
            self.post_message(self.Changed())
