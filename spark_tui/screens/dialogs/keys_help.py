"""What works here: the keys of the present screen by group, straight from the action table."""

from collections.abc import Sequence
from itertools import groupby

from spark_tui.actions import GROUPS, Action
from spark_tui.screens.dialogs.text_view import TextViewDialog
from spark_tui.text.fit import fit
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank

_KEYS = 13


class KeysHelp(TextViewDialog):
    """A page of every key that works on the screen it was opened from; ``more`` follows it (guidance of the screen)."""

    def __init__(self, actions: Sequence[Action], more: Sequence[Block] = ()) -> None:
        super().__init__(_("what works here"), [*help_blocks(actions), *more])


def help_blocks(actions: Sequence[Action]) -> list[Block]:
    """One line per action: its keys, and the sentence of the table; groups in the table's order."""
    blocks: list[Block] = []
    ordered = sorted(actions, key=lambda action: GROUPS.index(action.group))
    for group, members in groupby(ordered, key=lambda action: action.group):
        blocks += [blank(), Line((("heading", _(group)),))]
        for action in members:
            keys = fit("  " + "  ".join(action.keys), _KEYS)
            blocks.append(Line((("text", action.explanation),), first=(("key", keys + " "),)))
    return blocks
