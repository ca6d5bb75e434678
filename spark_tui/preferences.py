"""What settings and environment decide before the app object exists: language, marks, theme, mouse, or to show nothing."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from spark_tui import theme
from spark_tui.text.glyphs import chosen_glyphs, use_glyphs
from spark_tui.text.i18n import _, chosen_language, use_language

if TYPE_CHECKING:
    from engine.config import Settings


def prepared(settings: "Settings", environ: Mapping[str, str]) -> str:
    """Set language and glyphs for this process; answers the theme, which must be known before the app is made."""
    use_language(chosen_language(str(settings.get("ui.language")), environ))
    use_glyphs(chosen_glyphs(str(settings.get("ui.glyphs")), environ))
    return theme.chosen_theme(str(settings.get("ui.theme")), environ)


def uses_mouse(settings: "Settings", environ: Mapping[str, str]) -> bool:
    """The setting; ``auto`` is off over SSH, where a captured mouse takes the terminal's own selection away."""
    wanted = str(settings.get("ui.mouse"))
    return wanted == "on" or (wanted == "auto" and not environ.get("SSH_CONNECTION"))


def unusable_terminal(environ: Mapping[str, str]) -> str | None:
    """Why no screen can be shown here; one line, None when it can."""
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        return _("spark-tui needs a terminal for stdin and stderr; see spark-tui --help for commands")
    if environ.get("TERM", "") in ("", "dumb"):
        return _("this terminal (TERM={term}) cannot show screens").format(term=environ.get("TERM", ""))
    return None
