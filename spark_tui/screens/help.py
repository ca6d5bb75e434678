"""The help: the keys that work on a screen, straight from the action table, and the guidance the product gives."""

from spark_tui.presenters.guidance import guidance
from spark_tui.screens.dialogs.keys_help import KeysHelp
from spark_tui.widgets.action_keys import ActionKeys


def help_for(screen: ActionKeys) -> KeysHelp:
    """The page for a screen as it is now."""
    return KeysHelp(screen.available_actions(), guidance())
