"""Seven themes from TOML: what each style name looks like; the only place of the program that knows colours."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.style import Style

if TYPE_CHECKING:
    from textual.app import App
    from textual.theme import Theme

THEME_NAMES = ("spark-dark", "spark-light", "contrast-dark", "contrast-light", "ansi-dark", "ansi-light", "mono")
DEFAULT_THEME = "spark-dark"
STYLE_NAMES = (
    "text", "strong", "dim", "faint", "accent", "emphasis", "warning", "error", "good", "heading", "code", "quote",
    "link", "key", "match", "marked", "selection", "selection-blurred", "added", "removed",
)  # fmt: skip
COLOR_NAMES = (
    "background", "raised", "text", "dim", "faint", "accent", "warning", "error", "good", "selection", "selection-text",
)  # fmt: skip
Result = TypeVar("Result")
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Look:
    """One theme: colours by name (``#rrggbb`` or Textual's ``ansi_…``) and a Rich style for every style name."""

    name: str
    dark: bool
    ansi: bool
    colors: Mapping[str, str]
    styles: Mapping[str, Style]

    def __getitem__(self, style: str) -> Style:
        """The Rich style of a style name, without a background except for selections; ``KeyError`` for another name."""
        return self.styles[style]

    def textual(self) -> "Theme":
        """The same as a Textual theme; its variables carry the colour names into stylesheets (``$dim``)."""
        from textual.theme import Theme

        color = self.colors
        return Theme(
            name=self.name,
            primary=color["accent"],
            secondary=color["accent"],
            accent=color["accent"],
            warning=color["warning"],
            error=color["error"],
            success=color["good"],
            foreground=color["text"],
            background=color["background"],
            surface=color["background"],
            panel=color["raised"],
            dark=self.dark,
            ansi=self.ansi,
            variables={**{name: color[name] for name in COLOR_NAMES}, **_stock_variables(color)},
        )


def themes_folder() -> Path:
    """Where the TOML files are: inside an installed package, else beside it in a checkout."""
    inside = _HERE / "themes"
    return inside if inside.is_dir() else _HERE.parent / "themes"


@lru_cache
def look(name: str) -> Look:
    """The theme of that name; the default one for a name we do not ship (a stock Textual theme)."""
    wanted = name if name in THEME_NAMES else DEFAULT_THEME
    data = tomllib.loads((themes_folder() / f"{wanted}.toml").read_text(encoding="utf-8"))
    colors: dict[str, str] = data["colors"]
    styles = {style: _style(words, colors) for style, words in data["styles"].items()}
    missing = [name for name in STYLE_NAMES if name not in styles] + [
        name for name in COLOR_NAMES if name not in colors
    ]
    if missing:
        raise ValueError(f"theme {wanted} says nothing about {', '.join(missing)}")
    return Look(wanted, data["dark"], data["ansi"], colors, styles)


def all_looks() -> Iterator[Look]:
    """Every theme we ship."""
    return (look(name) for name in THEME_NAMES)


def chosen_theme(setting: str, environ: Mapping[str, str]) -> str:
    """The theme of a setting; ``NO_COLOR`` (any non-empty value) means ``mono``. Ask before the app object exists.

    A terminal that announces sixteen colours gets the ANSI theme of the same darkness: true colours rounded to
    sixteen are not legible (REQ-04).
    """
    if environ.get("NO_COLOR"):
        return "mono"
    wanted = look(setting)
    if wanted.ansi or not _sixteen_colors(environ):
        return wanted.name
    return "ansi-dark" if wanted.dark else "ansi-light"


def _sixteen_colors(environ: Mapping[str, str]) -> bool:
    """Whether Rich, which draws for Textual, will round to sixteen colours; an unnamed terminal is left alone."""
    if environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return False
    if environ.get("TEXTUAL_COLOR_SYSTEM", "auto") != "auto":
        return environ["TEXTUAL_COLOR_SYSTEM"] == "standard"
    terminal = environ.get("TERM", "")
    return bool(terminal) and terminal.rpartition("-")[2] not in ("256color", "kitty")


def install(app: "App[Result]", name: str) -> None:
    """Registers the themes and switches to ``name``; construct the app with ``ansi_color=look(name).ansi``."""
    for each in all_looks():
        app.register_theme(each.textual())
    app.theme = name
    app.ansi_color = None  # from here on the theme decides, also when a person switches


def _style(words: str, colors: Mapping[str, str]) -> Style:
    """A Rich style from ``bold $text on $selection``."""
    return Style.parse(
        " ".join(_rich_color(colors[word[1:]]) if word.startswith("$") else word for word in words.split())
    )


def _rich_color(color: str) -> str:
    """Textual writes ``ansi_bright_blue`` what Rich calls ``bright_blue``."""
    return color.removeprefix("ansi_")


def _stock_variables(color: Mapping[str, str]) -> dict[str, str]:
    """Textual's own variables for the stock widgets we use (inputs, selections, borders, scroll bars)."""
    return {
        "ansi-background": color["background"],
        "ansi-foreground": color["text"],
        "text-muted": color["dim"],
        "text-disabled": color["dim"],
        "border": color["accent"],
        "border-blurred": color["faint"],
        "block-cursor-background": color["selection"],
        "block-cursor-foreground": color["selection-text"],
        "block-cursor-text-style": "none",
        "input-cursor-background": color["text"],
        "input-cursor-foreground": color["background"],
        "input-cursor-text-style": "reverse" if color["background"].startswith("ansi") else "none",
        "input-selection-background": color["selection"],
        "input-selection-foreground": color["selection-text"],
        "scrollbar": color["faint"],
        "scrollbar-hover": color["dim"],
        "scrollbar-active": color["dim"],
        "scrollbar-background": color["background"],
        "scrollbar-background-hover": color["background"],
        "scrollbar-background-active": color["background"],
        "scrollbar-corner-color": color["background"],
        "screen-selection-background": color["selection"],
        "screen-selection-foreground": color["selection-text"],
    }
