"""The checklist of a fresh home: what is ready, what is missing, what to do first; it marks itself off."""

from dataclasses import dataclass

from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank
from spark_tui.text.safe import one_line


@dataclass(frozen=True, slots=True)
class Readiness:
    """How far a home is: memory switched on, the embedding model (None = words only), the workspace, the home's path."""

    enabled: bool
    model: str | None
    workspace: str | None
    home: str


def first_steps(state: Readiness) -> list[Block]:
    """The page shown instead of an empty list."""
    return [
        blank(),
        Line((("strong", _("No memories yet")),)),
        Line((("dim", _("They are markdown files in {home}").format(home=one_line(state.home))),)),
        blank(),
        _step(state.enabled, _("memory is on"), _("memory is switched off: 7 opens the settings")),
        _step(
            state.model is not None,
            _("search finds by words and by meaning"),
            _("search finds by words only: 8 tells why"),
        ),
        _step(
            state.workspace is not None,
            _("project memories go to {workspace}").format(workspace=one_line(state.workspace or "")),
            _("no workspace here, so no project memories: w chooses one"),
        ),
        blank(),
        _key("a", _("write the first memory")),
        _key("i", _("see the block an agent would get")),
        _key("?", _("see what works here")),
    ]


def _step(done: bool, ready: str, missing: str) -> Line:
    mark = ("good", glyphs().marked + " ") if done else ("warning", glyphs().missing + " ")
    return Line((("text", ready if done else missing),), first=(mark,))


def _key(key: str, words: str) -> Line:
    return Line((("dim", words),), first=(("key", key + "  "),))
