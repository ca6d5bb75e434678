"""Every action once: its id, keys, words, place and condition; key bar, palette, help and docs all read this table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spark_tui.text.i18n import N_, _

FRAME, MOVE, TYPING, FORM, DIALOG, MEMORY = "frame", "move", "typing", "form", "dialog", "memory"
REVIEW, CANDIDATES, DROPPED, LEARNING, CHANGES = "review", "candidates", "dropped", "learning", "changes"
GO, LOOK, CHANGE, MARK, PLACE = N_("Go"), N_("Look"), N_("Change"), N_("Mark"), N_("Move")
GROUPS = (LOOK, CHANGE, MARK, GO, PLACE)

_EDITS = "writable_row"
REFUSALS = {
    "row": N_("nothing is listed"),
    "writable": N_("read-only: nothing is written"),
    "writable_row": N_("nothing here can be changed"),
    "undo": N_("nothing to undo"),
    "search": N_("only in a search"),
    "source": N_("there is no memory to open"),
    "retry": N_("only failed jobs and those without a model run again"),
}
"""Why an action does nothing, by its condition."""

_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "full_stop": ".",
    "asterisk": "*",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
}
# What a Chinese input method sends for the same physical key.
_IME = {"？": "?", "：": ":", "、": "/", "／": "/", "。": ".", "＊": "*", "×": "*", "　": "space"}


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do with a key, from the palette or after reading the help.

    ``keys`` are written as people say them (``j``, ``g g``, ``ctrl+d``), the first one is shown. ``where`` is the
    context it works in, ``when`` a condition the screen answers (``can_<when>``). The key bar drops low ``priority``
    first; 0 keeps an action out of it.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    where: str
    group: str
    when: str = "always"
    priority: int = 0

    @property
    def method(self) -> str:
        """The name of the method a screen or app implements it with."""
        return "do_" + self.id.replace(".", "_").replace("-", "_")

    @property
    def title(self) -> str:
        """The short label in the current language."""
        return _(self.label)

    @property
    def explanation(self) -> str:
        """The sentence of the help in the current language."""
        return _(self.help)


_AREAS = (
    Action("area.memory", ("1", "g m"), N_("memory"), N_("Open the memories"), FRAME, GO),
    Action("area.candidates", ("2", "g c"), N_("candidates"), N_("Open what waits for your decision"), FRAME, GO),
    Action("area.settings", ("7", "g o"), N_("settings"), N_("Open the settings"), FRAME, GO),
    Action("area.doctor", ("8", "g d"), N_("doctor"), N_("Check what works and what does not"), FRAME, GO),
)

_FRAME = (
    Action("frame.help", ("?",), N_("help"), N_("Show the keys that work here"), FRAME, GO, priority=100),
    Action("frame.back", ("esc",), N_("back"), N_("Close, clear or go back one step"), FRAME, GO, priority=97),
    Action("frame.quit", ("q",), N_("quit"), N_("Go back, or leave from the first screen"), FRAME, GO, priority=99),
    Action("frame.palette", ("ctrl+p", ":"), N_("palette"), N_("Find any action by name"), FRAME, GO, priority=40),
    Action("frame.pane-next", ("tab",), N_("next pane"), N_("Move the focus to the next pane"), FRAME, GO, priority=8),
    Action("frame.pane-previous", ("shift+tab",), N_("previous pane"), N_("Move the focus back"), FRAME, GO),
    Action("typing.leave", ("esc",), N_("leave"), N_("Leave the field"), TYPING, GO, priority=99),
    Action("typing.palette", ("ctrl+p",), N_("palette"), N_("Find any action by name"), TYPING, GO, "palette", 10),
    Action("form.save", ("ctrl+g", "f2"), N_("save"), N_("Check and save the form"), FORM, CHANGE, priority=90),
    Action("dialog.close", ("esc", "q"), N_("close"), N_("Close without changing anything"), DIALOG, GO, priority=99),
)

_MOVES = (
    Action("move.down", ("j", "down"), N_("down"), N_("One line down"), MOVE, PLACE),
    Action("move.up", ("k", "up"), N_("up"), N_("One line up"), MOVE, PLACE),
    Action("move.top", ("g g", "home"), N_("top"), N_("To the first line"), MOVE, PLACE),
    Action("move.bottom", ("G", "end"), N_("bottom"), N_("To the last line"), MOVE, PLACE),
    Action("move.half-down", ("ctrl+d",), N_("half page down"), N_("Half a page down"), MOVE, PLACE),
    Action("move.half-up", ("ctrl+u",), N_("half page up"), N_("Half a page up"), MOVE, PLACE),
    Action("move.page-down", ("pgdn",), N_("page down"), N_("A page down"), MOVE, PLACE),
    Action("move.page-up", ("pgup",), N_("page up"), N_("A page up"), MOVE, PLACE),
    Action("move.left", ("left",), N_("left"), N_("Fold the branch, or go to its parent"), MOVE, PLACE),
    Action("move.right", ("right",), N_("right"), N_("Unfold the branch"), MOVE, PLACE),
    Action("move.choose", ("enter",), N_("open"), N_("Open what is under the cursor"), MOVE, PLACE, "chooser", 60),
)

_MEMORY = (
    Action("memory.search", ("/",), N_("search"), N_("Search as you type"), MEMORY, LOOK, priority=80),
    Action("memory.add", ("a",), N_("add"), N_("Write a new memory"), MEMORY, CHANGE, "writable", 70),
    Action("memory.edit", ("e",), N_("edit"), N_("Edit the memory in a form"), MEMORY, CHANGE, _EDITS, 66),
    Action(
        "memory.editor", ("E",), N_("editor"), N_("Edit it, or all marked, in your editor"), MEMORY, CHANGE, _EDITS, 20
    ),
    Action("memory.validity", ("v",), N_("validity"), N_("Set the last day it applies"), MEMORY, CHANGE, _EDITS, 34),
    Action("memory.archive", ("A",), N_("archive"), N_("Archive, or bring back"), MEMORY, CHANGE, _EDITS, 50),
    Action("memory.delete", ("D",), N_("delete"), N_("Delete after asking"), MEMORY, CHANGE, _EDITS, 44),
    Action("memory.undo", ("u",), N_("undo"), N_("Undo the last change"), MEMORY, CHANGE, "undo", 48),
    Action("memory.mark", ("space",), N_("mark"), N_("Mark the memory and step down"), MEMORY, MARK, "row", 30),
    Action("memory.mark-all", ("*",), N_("mark all"), N_("Mark all that is listed, or none"), MEMORY, MARK, "row", 12),
    Action("memory.range", ("V",), N_("range"), N_("Mark from here to the cursor"), MEMORY, MARK, "row", 10),
    Action("memory.history", ("h",), N_("history"), N_("Earlier versions, with restore"), MEMORY, LOOK, "row", 36),
    Action(
        "memory.injection", ("i",), N_("injection"), N_("See the block an agent would get"), MEMORY, LOOK, priority=38
    ),
    Action("memory.reasons", ("x",), N_("reasons"), N_("Show why each hit was found"), MEMORY, LOOK, "search", 58),
    Action("memory.sort", ("o",), N_("sort"), N_("Sort by another column"), MEMORY, LOOK, priority=18),
    Action(
        "memory.valid-only", (".",), N_("valid only"), N_("Hide or show what has expired"), MEMORY, LOOK, priority=26
    ),
    Action("memory.as-of", ("t",), N_("as of"), N_("See the memories of a past day"), MEMORY, LOOK, priority=14),
    Action("memory.workspace", ("w",), N_("workspace"), N_("Switch to another workspace"), MEMORY, GO, priority=22),
)

_REVIEW = (
    Action(
        "review.next", ("]",), N_("next tab"), N_("Candidates, dropped, learning, changes"), REVIEW, GO, priority=24
    ),
    Action("review.previous", ("[",), N_("previous tab"), N_("The tab before"), REVIEW, GO),
)

_CANDIDATES = (
    Action(
        "candidates.confirm",
        ("y",),
        N_("confirm"),
        N_("Say yes: it is remembered as shown"),
        CANDIDATES,
        CHANGE,
        _EDITS,
        80,
    ),
    Action(
        "candidates.reject", ("n",), N_("reject"), N_("Say no; it is never asked again"), CANDIDATES, CHANGE, _EDITS, 78
    ),
    Action(
        "candidates.rename", ("r",), N_("rename"), N_("Confirm it under another name"), CANDIDATES, CHANGE, _EDITS, 56
    ),
    Action(
        "candidates.edit", ("e",), N_("edit"), N_("Edit its text, then confirm that"), CANDIDATES, CHANGE, _EDITS, 58
    ),
    Action("candidates.source", ("s",), N_("source"), N_("Open a memory it rests on"), CANDIDATES, LOOK, "source", 46),
    Action(
        "candidates.undo", ("u",), N_("undo"), N_("Take the last confirmation back"), CANDIDATES, CHANGE, "undo", 48
    ),
    Action(
        "candidates.mark", ("space",), N_("mark"), N_("Mark the candidate and step down"), CANDIDATES, MARK, "row", 30
    ),
    Action(
        "candidates.mark-all", ("*",), N_("mark all"), N_("Mark every candidate, or none"), CANDIDATES, MARK, "row", 12
    ),
    Action(
        "candidates.range",
        ("V",),
        N_("range"),
        N_("Mark candidates from here to the cursor"),
        CANDIDATES,
        MARK,
        "row",
        10,
    ),
)

_DROPPED = (
    Action("dropped.gate", ("/",), N_("gate"), N_("Show what one gate dropped"), DROPPED, LOOK, "row", 70),
    Action("dropped.write", ("a",), N_("write it"), N_("Write it by hand all the same"), DROPPED, CHANGE, _EDITS, 72),
)

_LEARNING = (
    Action(
        "learning.retry",
        ("r",),
        N_("retry"),
        N_("Run a job again that failed or had no model"),
        LEARNING,
        CHANGE,
        "retry",
        72,
    ),
    Action("learning.source", ("s",), N_("memory"), N_("Open what came of it"), LEARNING, LOOK, "source", 46),
)

_CHANGES = (
    Action("changes.undo", ("u",), N_("undo"), N_("Take this step back, whole"), CHANGES, CHANGE, "undo", 72),
    Action("changes.source", ("s",), N_("memory"), N_("Open the memory"), CHANGES, LOOK, "source", 46),
)

ACTIONS: tuple[Action, ...] = (
    *_AREAS, *_FRAME, *_MOVES, *_MEMORY, *_REVIEW, *_CANDIDATES, *_DROPPED, *_LEARNING, *_CHANGES,
)  # fmt: skip
_BY_ID = {action.id: action for action in ACTIONS}


def get(action_id: str) -> Action:
    """The action of that id; ``KeyError`` when there is none."""
    return _BY_ID[action_id]


def in_context(contexts: Iterable[str]) -> list[Action]:
    """The actions of these contexts, those of earlier contexts first."""
    return [action for context in contexts for action in ACTIONS if action.where == context]


def spoken(key: str, character: str | None) -> str:
    """A key event of Textual in the spelling of this table (``question_mark`` → ``?``, ``V``, ``space``, ``esc``)."""
    if character and character in _IME:
        return _IME[character]
    if character and character.isprintable() and character != " ":
        return character
    return _NAMES.get(key, key)


def matching(typed: str, actions: Sequence[Action]) -> tuple[Action | None, bool]:
    """The first action one of whose keys is ``typed``, and whether a longer sequence starts with it."""
    exact = next((action for action in actions if typed in action.keys), None)
    longer = any(key.startswith(typed + " ") for action in actions for key in action.keys)
    return exact, longer


def keys_markdown() -> str:
    """The text of ``docs/keys.md``."""
    rows = ["# Keys", "", "Made from the action table; every action is also in the palette (`ctrl+p` or `:`)."]
    titles = {
        MEMORY: "Memory",
        CANDIDATES: "Candidates",
        DROPPED: "Candidates: dropped",
        LEARNING: "Candidates: learning",
        CHANGES: "Candidates: changes",
        REVIEW: "Between the tabs of Candidates",
        MOVE: "Lists and pages",
        FRAME: "Everywhere",
        TYPING: "While typing in a field",
        FORM: "In forms",
        DIALOG: "In dialogs",
    }
    for where, title in titles.items():
        rows += ["", f"## {title}", "", "| keys | action | what it does |", "|---|---|---|"]
        for action in in_context([where]):
            keys = " · ".join(f"`{key}`" for key in action.keys)
            rows.append(f"| {keys} | {action.label} | {action.help} |")
    return "\n".join(rows) + "\n"
