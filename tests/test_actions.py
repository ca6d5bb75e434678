"""The action table: complete, free of clashes, and the one source of key bar, palette, help and docs."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from spark_tui import actions
from spark_tui.actions import ACTIONS, GROUPS, Action, get, in_context, keys_markdown, matching, spoken
from spark_tui.palette import Palette
from spark_tui.screens.dialogs.keys_help import help_blocks
from spark_tui.text.i18n import use_language

PLACES = (
    (actions.MEMORY, actions.MOVE, actions.FRAME),
    (actions.CANDIDATES, actions.REVIEW, actions.MOVE, actions.FRAME),
    (actions.DROPPED, actions.REVIEW, actions.MOVE, actions.FRAME),
    (actions.LEARNING, actions.REVIEW, actions.MOVE, actions.FRAME),
    (actions.CHANGES, actions.REVIEW, actions.MOVE, actions.FRAME),
    (actions.FORM, actions.DIALOG, actions.MOVE),
    (actions.FORM, actions.TYPING),
)
KEY = re.compile(r"[!-~]|ctrl\+[a-z]|shift\+tab|f\d|up|down|left|right|home|end|pgup|pgdn|tab|enter|esc|space")
DOCS = Path(__file__).parent.parent / "docs" / "keys.md"


def test_ids_are_unique_and_say_where_the_action_lives() -> None:
    assert [each for each, count in Counter(action.id for action in ACTIONS).items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z]+\.[a-z-]+", action.id) for action in ACTIONS)
    assert len({action.method for action in ACTIONS}) == len(ACTIONS)
    assert get("memory.archive").keys == ("A",)


def test_every_action_has_keys_words_and_a_group() -> None:
    assert [action.id for action in ACTIONS if not (action.keys and action.label and action.help)] == []
    assert {action.group for action in ACTIONS} <= set(GROUPS)


def test_every_condition_has_a_refusal_or_needs_none() -> None:
    silent = {"always", "chooser", "palette"}
    assert {action.when for action in ACTIONS} <= silent | set(actions.REFUSALS)


def test_keys_are_ones_every_terminal_sends_and_no_multiplexer_takes() -> None:
    banned = {f"ctrl+{letter}" for letter in "sqzjba"} | {
        "ctrl+enter",
        "ctrl+i",
        "ctrl+m",
        "ctrl+h",
        "ctrl+c",
        "ctrl+o",
    }
    strokes = {stroke for action in ACTIONS for key in action.keys for stroke in key.split(" ")}
    assert strokes & banned == set()
    assert {stroke for stroke in strokes if not KEY.fullmatch(stroke)} == set()


@pytest.mark.parametrize("contexts", PLACES)
def test_in_one_place_a_key_means_one_thing(contexts: tuple[str, ...]) -> None:
    keys = [key for action in in_context(contexts) for key in action.keys]
    assert [key for key, count in Counter(keys).items() if count > 1 and key != "esc"] == []


@pytest.mark.parametrize("contexts", PLACES)
def test_no_key_is_the_beginning_of_another_ones_sequence(contexts: tuple[str, ...]) -> None:
    keys = sorted(key for action in in_context(contexts) for key in action.keys)
    assert [pair for pair in pairwise(keys) if pair[1].startswith(pair[0] + " ")] == []


def test_every_movement_has_an_arrow_or_page_key_and_a_letter_where_vim_has_one() -> None:
    keys = {action.id: set(action.keys) for action in in_context([actions.MOVE])}
    assert keys["move.down"] == {"j", "down"}
    assert keys["move.up"] == {"k", "up"}
    assert keys["move.top"] == {"g g", "home"}
    assert keys["move.bottom"] == {"G", "end"}
    assert {"ctrl+d", "ctrl+u"} <= keys["move.half-down"] | keys["move.half-up"]


def test_an_area_opens_by_its_number_and_by_g_and_a_letter() -> None:
    areas = [action for action in ACTIONS if action.id.startswith("area.")]
    assert all(action.keys[0].isdigit() and re.fullmatch("g [a-z]", action.keys[1]) for action in areas)


@pytest.mark.parametrize(
    ("key", "character", "expected"),
    [
        ("question_mark", "?", "?"),
        ("V", "V", "V"),
        ("space", " ", "space"),
        ("escape", "\x1b", "esc"),
        ("ctrl+d", None, "ctrl+d"),
        ("pagedown", None, "pgdn"),
        ("upper_something", "？", "?"),
        ("x", "：", ":"),
        ("x", "、", "/"),
        ("x", "。", "."),
    ],
)
def test_a_key_event_is_spelled_as_in_the_table_also_from_a_chinese_input_method(
    key: str, character: str | None, expected: str
) -> None:
    assert spoken(key, character) == expected


def test_a_sequence_is_recognised_key_by_key() -> None:
    table = in_context([actions.MOVE, actions.FRAME])
    assert matching("g", table) == (None, True)
    assert matching("g g", table) == (get("move.top"), False)
    assert matching("g m", table) == (get("area.memory"), False)
    assert matching("g x", table) == (None, False)


def offered(palette: Palette) -> set[str]:
    return set(palette.items)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_action_is_in_help_and_docs_and_every_screen_action_in_the_palette(language: str) -> None:
    use_language(language)
    try:
        told = "".join(text for block in help_blocks(ACTIONS) for row in block.rows(200) for _style, text in row)
        assert [action.id for action in ACTIONS if action.explanation not in told] == []
        assert offered(Palette(ACTIONS)) == {action.id for action in ACTIONS}
    finally:
        use_language("en")
    assert [action.id for action in ACTIONS if action.help not in keys_markdown()] == []


def test_the_key_reference_in_the_docs_is_up_to_date() -> None:
    assert DOCS.read_text(encoding="utf-8") == keys_markdown()


def test_help_lists_the_keys_of_each_action_beside_its_sentence() -> None:
    action = Action("x.y", ("g g", "home"), "top", "To the first line", actions.MOVE, actions.PLACE)
    rows = ["".join(text for _style, text in row).strip() for block in help_blocks([action]) for row in block.rows(60)]
    assert [row.split() for row in rows if "first" in row] == [["g", "g", "home", "To", "the", "first", "line"]]
