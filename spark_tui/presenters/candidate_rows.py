"""A candidate as the words of one list row; which columns a screen shows is its own business."""

from collections.abc import Sequence

from engine.clock import DAY_MS
from engine.memory.candidates.model import Shown
from spark_tui.presenters.candidate_words import action_sign, action_word, place_word, warning_words
from spark_tui.text.dates import age
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line

_SOON_DAYS = 3


def candidate_cells(shown: Shown, name_taken: bool, project: str, now_ms: int) -> Sequence[tuple[str, str]]:
    """(text, style) for mark, action, name, scope, note, age and days left; the mark is ``!`` where the note warns."""
    each = shown.candidate
    notes = warning_words(shown, name_taken)
    left = days_left(each.expires_at, now_ms)
    sign = ("!", "warning") if notes else action_sign(each.action)
    return (
        sign,
        (action_word(each.action), "text"),
        (one_line(each.name), "strong"),
        (one_line(place_word(each, project)), "dim"),
        (", ".join(notes), "warning"),
        (age(each.created_at, now_ms), "dim"),
        (_("{n}d").format(n=left) if left else _("today"), "warning" if left < _SOON_DAYS else "dim"),
    )


def days_left(expires_at: int, now_ms: int) -> int:
    """Whole days until a candidate is gone, 0 on its last one."""
    return max(expires_at - now_ms, 0) // DAY_MS
