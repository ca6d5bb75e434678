"""What a person should know about memories, in a few sentences; the same in the help everywhere."""

from spark_tui.text.i18n import _
from spark_tui.text.lines import Block, Line, blank


def guidance() -> list[Block]:
    """Where things belong, how they are treated, what becomes of them."""
    return [
        blank(),
        Line((("heading", _("What belongs where")),)),
        _point(_("Needed nearly every turn: a memory. Looked up now and then: a wiki page.")),
        _point(_("user: every project and agent sees it. project: this workspace only. agent: that agent only.")),
        _point(_("feedback is always injected in full; the other types when they are relevant.")),
        blank(),
        Line((("heading", _("What becomes of them")),)),
        _point(_("Only the name and the description are injected; an agent asks for the body when it needs it.")),
        _point(
            _("On its last day a memory still applies; the day after it leaves search and injection, not the list.")
        ),
        _point(_("Archiving keeps file and history and can be undone. Deleting cannot.")),
        _point(_("Memories are markdown files: edit them by hand, with git, anywhere. Changes are adopted at once.")),
    ]


def _point(text: str) -> Line:
    return Line((("text", text),), first=(("text", "  "),))
