"""Seven themes, every one of them legible at every colour depth (REQ-04, REQ-27, REQ-28, REQ-29)."""

import pytest
from rich.color import Color, ColorSystem, ColorType
from textual.app import App

from spark_tui.theme import COLOR_NAMES, STYLE_NAMES, THEME_NAMES, Look, all_looks, chosen_theme, install, look

RGB = tuple[int, int, int]
TRUE_COLOR = ("spark-dark", "spark-light", "contrast-dark", "contrast-light")
ANSI = ("ansi-dark", "ansi-light")
BANDS = ("selection", "selection-blurred")
WORDS = tuple(name for name in STYLE_NAMES if name not in (*BANDS, "faint"))


def palette(*colors: str) -> tuple[RGB, ...]:
    return tuple(Color.parse(f"#{color}").triplet for color in colors)  # type: ignore[misc]


# The sixteen colours as terminals ship them: black red green yellow blue magenta cyan white, then the bright ones.
PALETTES: dict[str, tuple[RGB, ...]] = {
    "vga": palette(
        *["000000", "aa0000", "00aa00", "aa5500", "0000aa", "aa00aa", "00aaaa", "aaaaaa"],
        *["555555", "ff5555", "55ff55", "ffff55", "5555ff", "ff55ff", "55ffff", "ffffff"],
    ),
    "windows": palette(
        *["0c0c0c", "c50f1f", "13a10e", "c19c00", "0037da", "881798", "3a96dd", "cccccc"],
        *["767676", "e74856", "16c60c", "f9f1a5", "3b78ff", "b4009e", "61d6d6", "f2f2f2"],
    ),
    "gnome": palette(
        *["2e3436", "cc0000", "4e9a06", "c4a000", "3465a4", "75507b", "06989a", "d3d7cf"],
        *["555753", "ef2929", "8ae234", "fce94f", "729fcf", "ad7fa8", "34e2e2", "eeeeec"],
    ),
    "xterm": palette(
        *["000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5"],
        *["7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff"],
    ),
}


def luminance(color: RGB) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [channel / 255 for channel in color]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: RGB, other: RGB) -> float:
    """Contrast ratio (WCAG 2.2), 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def rgb(color: Color | None, theme: Look, colors: tuple[RGB, ...] | None, *, ground: bool = False) -> RGB:
    """What a terminal with these sixteen colours shows; its default is white on black, or black on white."""
    if color is None or color.type is ColorType.DEFAULT:
        return (0, 0, 0) if theme.dark == ground else (255, 255, 255)
    if color.triplet is not None:
        return color.triplet
    assert colors is not None
    assert color.number is not None
    return colors[color.number]


def ground(theme: Look, name: str, colors: tuple[RGB, ...] | None = None) -> RGB:
    return rgb(Color.parse(theme.colors[name].removeprefix("ansi_")), theme, colors, ground=True)


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_every_word_stands_out_from_the_background_and_from_sheets(name: str) -> None:
    theme = look(name)
    least = 7.0 if name.startswith("contrast") else 4.5
    ratios = {
        (style, on): contrast(rgb(theme[style].color, theme, None), ground(theme, on))
        for style in WORDS
        for on in ("background", "raised")
    }
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least} == {}


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_the_selected_row_stands_out_and_its_words_are_legible(name: str) -> None:
    theme = look(name)
    band = rgb(theme["selection"].bgcolor, theme, None, ground=True)
    assert contrast(band, ground(theme, "background")) >= 3
    assert contrast(band, ground(theme, "raised")) >= 3
    assert contrast(rgb(theme["selection"].color, theme, None), band) >= 4.5
    blurred = rgb(theme["selection-blurred"].bgcolor, theme, None, ground=True)
    assert all(contrast(rgb(theme[style].color, theme, None), blurred) >= 4.5 for style in WORDS)


@pytest.mark.parametrize("terminal", PALETTES)
@pytest.mark.parametrize("name", ANSI)
def test_the_sixteen_colours_of_common_terminals_keep_every_word_legible(name: str, terminal: str) -> None:
    theme, colors = look(name), PALETTES[terminal]
    # xterm's grey on white is 4.0 : 1; there is no other grey to take.
    least = {
        style: 4.0 if (name, terminal) == ("ansi-light", "xterm") and style in ("dim", "quote") else 4.5
        for style in WORDS
    }
    ratios = {
        style: contrast(rgb(theme[style].color, theme, colors), ground(theme, "background", colors)) for style in WORDS
    }
    assert {style: round(ratio, 2) for style, ratio in ratios.items() if ratio < least[style] - 0.01} == {}
    band = rgb(theme["selection"].bgcolor, theme, colors, ground=True)
    assert contrast(band, ground(theme, "background", colors)) >= 3
    assert contrast(rgb(theme["selection"].color, theme, colors), band) >= 4.5


def rounded(color: Color) -> RGB:
    """The colour as a terminal of 256 colours shows it."""
    return tuple(color.downgrade(ColorSystem.EIGHT_BIT).get_truecolor())  # type: ignore[return-value]


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_rounded_to_256_colours_every_word_and_the_selection_stay_legible(name: str) -> None:
    theme = look(name)
    grounds = [rounded(Color.parse(theme.colors[on])) for on in ("background", "raised")]
    words = {style: rounded(theme[style].color or Color.default()) for style in WORDS}
    assert {style for style, color in words.items() for on in grounds if contrast(color, on) < 4.5} == set()
    band = rounded(theme["selection"].bgcolor or Color.default())
    assert min(contrast(band, on) for on in grounds) >= 3
    assert contrast(rounded(theme["selection"].color or Color.default()), band) >= 4.5


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color"}, "spark-light"),
        ({"TERM": "xterm-kitty"}, "spark-light"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "spark-light"),
        ({"TERM": "xterm"}, "ansi-light"),
        ({"TERM": "screen"}, "ansi-light"),
        ({"TERM": "xterm", "TEXTUAL_COLOR_SYSTEM": "256"}, "spark-light"),
        ({"TERM": "xterm-256color", "TEXTUAL_COLOR_SYSTEM": "standard"}, "ansi-light"),
    ],
)
def test_a_terminal_of_sixteen_colours_gets_the_ansi_theme_of_the_same_darkness(
    environ: dict[str, str], expected: str
) -> None:
    assert chosen_theme("spark-light", environ) == expected
    assert chosen_theme("contrast-dark", environ) == ("ansi-dark" if expected == "ansi-light" else "contrast-dark")


def test_mono_uses_no_colour_and_still_tells_the_selection_apart() -> None:
    theme = look("mono")
    assert {style.color or style.bgcolor for style in theme.styles.values()} == {None}
    assert set(theme.colors.values()) == {"ansi_default"}
    assert theme["selection"].reverse
    assert theme["selection-blurred"].underline


@pytest.mark.parametrize("name", THEME_NAMES)
def test_a_theme_says_something_about_every_name_and_nothing_else(name: str) -> None:
    theme = look(name)
    assert set(theme.styles) == set(STYLE_NAMES)
    assert set(theme.colors) == set(COLOR_NAMES)
    assert [style for style in STYLE_NAMES if style not in BANDS and theme[style].bgcolor] == []


def test_the_ansi_themes_take_the_terminals_own_colours_only() -> None:
    for name in (*ANSI, "mono"):
        theme = look(name)
        assert theme.ansi
        assert all(color.startswith("ansi_") for color in theme.colors.values())
        assert not any(style.color and style.color.triplet for style in theme.styles.values())


def test_no_color_means_mono_and_wins_over_the_setting() -> None:
    assert chosen_theme("spark-light", {"NO_COLOR": "1"}) == "mono"
    assert chosen_theme("spark-light", {"NO_COLOR": ""}) == "spark-light"
    assert chosen_theme("ansi-dark", {}) == "ansi-dark"
    assert chosen_theme("no such theme", {}) == "spark-dark"


@pytest.mark.parametrize("name", THEME_NAMES)
async def test_an_app_runs_with_every_theme_and_can_change_to_any_other(name: str) -> None:
    app: App[None] = App(ansi_color=look(name).ansi)
    install(app, name)
    async with app.run_test(size=(40, 12)) as pilot:
        for other in all_looks():
            app.theme = other.name
            await pilot.pause()
            assert app.native_ansi_color == other.ansi
            assert app.get_css_variables()["dim"] == other.colors["dim"]
