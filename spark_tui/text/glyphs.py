"""The marks on screen in three sets: modern terminals, console fonts, plain ASCII; no mark is ever the only sign."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of marks; every mark but ``ellipsis`` is one cell.

    ``unicode`` holds no East-Asian-ambiguous character, so a terminal that draws those two cells wide still lines up
    (REQ-24).
    """

    name: str
    cursor: str  # first column of the row under the cursor
    marked: str  # a row a person marked
    active: str
    expired: str
    invalid: str
    archived: str
    quarantined: str
    missing: str
    opened: str  # a branch of a tree with its children shown
    closed: str
    chosen: str  # a facet that is switched on
    ellipsis: str
    separator: str  # between words of one line
    rule: str  # repeated, a horizontal line
    bar: str  # a vertical line
    bullet: str
    full: str  # the gauge, filled and half filled and empty
    half: str
    empty: str
    ascending: str
    descending: str
    up: str  # more above, more below
    down: str
    prompt: str

    def state(self, name: str) -> str:
        """The mark of an entry state (``active``, ``archived``, …)."""
        marks = {
            "active": self.active,
            "expired": self.expired,
            "invalid": self.invalid,
            "archived": self.archived,
            "quarantined": self.quarantined,
            "missing": self.missing,
        }
        return marks[name]

    def gauge(self, fraction: float, width: int) -> str:
        """A bar of ``width`` cells filled to ``fraction`` (clamped to 0…1) in half-cell steps."""
        halves = round(max(0.0, min(1.0, fraction)) * width * 2)
        bar = self.full * (halves // 2) + self.half * (halves % 2)
        return bar + self.empty * (width - len(bar))


UNICODE = Glyphs(
    "unicode", cursor="❯", marked="✓", active="∙", expired="◷", invalid="✗", archived="⊟", quarantined="⊘", missing="∅",
    opened="▾", closed="▸", chosen="✓", ellipsis="⋯", separator="∙", rule="╌", bar="╎", bullet="∙", full="⣿", half="⡇",
    empty="⣀", ascending="▴", descending="▾", up="▴", down="▾", prompt="›",
)  # fmt: skip
BLOCKS = Glyphs(
    "blocks", cursor="►", marked="√", active="·", expired="°", invalid="×", archived="■", quarantined="≡", missing="?",
    opened="▼", closed="►", chosen="√", ellipsis="..", separator="·", rule="─", bar="│", bullet="·", full="█", half="▌",
    empty="░", ascending="▲", descending="▼", up="▲", down="▼", prompt=">",
)  # fmt: skip
ASCII = Glyphs(
    "ascii", cursor=">", marked="*", active=".", expired="t", invalid="x", archived="a", quarantined="!", missing="?",
    opened="-", closed="+", chosen="*", ellipsis="..", separator="|", rule="-", bar="|", bullet="-", full="#", half="=",
    empty=".", ascending="+", descending="-", up="^", down="v", prompt=">",
)  # fmt: skip
SETS = {glyphs.name: glyphs for glyphs in (UNICODE, BLOCKS, ASCII)}
_current = UNICODE


def glyphs() -> Glyphs:
    """The set in use."""
    return _current


def use_glyphs(name: str) -> None:
    """Switch to ``unicode``, ``blocks`` or ``ascii``; ``KeyError`` for another name."""
    global _current
    _current = SETS[name]


def chosen_glyphs(setting: str, environ: Mapping[str, str]) -> str:
    """The set for a setting (``auto`` or a name): ASCII without a UTF-8 locale, blocks on the Linux console."""
    if setting in SETS:
        return setting
    locale = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    if "utf-8" not in locale.lower() and "utf8" not in locale.lower():
        return "ascii"
    return "blocks" if environ.get("TERM") == "linux" else "unicode"
