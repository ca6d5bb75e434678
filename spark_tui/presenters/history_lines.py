"""The versions of one memory as lines: which, since when, by whose hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.memory.model import Entry, Revision
from spark_tui.presenters.words import author_word
from spark_tui.text.dates import moment
from spark_tui.text.i18n import _


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version; ``version`` None is the present one (or, of a broken file, the last good text)."""

    key: str
    label: str
    moment: str
    author: str
    version: int | None
    style: str = "text"


def version_lines(entry: Entry, revisions: Sequence[Revision], now_ms: int, zone: tzinfo) -> list[VersionLine]:
    """The present version, then the earlier ones, newest first."""
    label = _("last good") if entry.file_state is not None else _("v{n} now").format(n=entry.version)
    present = VersionLine("now", label, moment(entry.updated_at, zone), author_word(entry.author_role), None, "strong")
    earlier = [
        VersionLine(
            str(each.entry.version),
            f"v{each.entry.version}",
            moment(each.entry.updated_at, zone),
            author_word(each.entry.author_role),
            each.entry.version,
        )
        for each in revisions
    ]
    return [present, *earlier]
