"""What items are read from an answer, whatever a model made of the form it was asked for."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.extraction.answer import BadReason, DraftItem, parse_items
from engine.memory.extraction.instructions import as_json
from engine.memory.model import DESCRIPTION_MAX, MemoryType, Scope, slug

PNPM = DraftItem(
    Scope.PROJECT,
    MemoryType.FEEDBACK,
    "用-pnpm",
    "依赖一律用 pnpm 安装",
    "**Why:** 磁盘小。\n**How to apply:** pnpm install",
    0.9,
    ("pnpm",),
    ("https://pnpm.io",),
    "以后都用 pnpm",
)
VIM = DraftItem(Scope.USER, MemoryType.USER, "editor", "Uses vim with a [Dvorak] layout", confidence=0.8)
ARRAY = json.dumps([as_json(PNPM), as_json(VIM)], ensure_ascii=False)
FIELDS = as_json(VIM)


def one(**changes: Any) -> str:
    """The answer with one item, some of its fields changed or (where ``...``) left out."""
    return json.dumps([{key: value for key, value in (FIELDS | changes).items() if value is not ...}])


@pytest.mark.parametrize(
    "answer",
    [
        ARRAY,
        f'{{"memories": {ARRAY}}}',
        f'{{"type": "array", "name": "memories", "items": {ARRAY}}}',
        f"[{ARRAY}]",
        f"```json\n{ARRAY}\n```",
        f"Here is what I [found] (see {{above}}):\n\n```\n{ARRAY}\n```\nAnything else?",
        f'I saw an open [{{bracket on a 5" screen:\n```json\n{ARRAY}\n```\nand a 6" one.',
        f"好的，结果如下：{ARRAY} 以上。",
        f'<think>Maybe [{{"description": "draft"}}]? No.</think>\n\n{ARRAY}',
        ARRAY.replace("}, {", "},\n {").replace("}]", "},\n]"),
        ARRAY.replace('["pnpm"]', '["pnpm",]'),
        ARRAY[1:-1].replace("}, {", "}\n{"),
        f"\ufeff{ARRAY}",
        json.dumps(ARRAY),
        ARRAY.replace("\\n", "\n"),
        f'{{"memories": {ARRAY}',
        f'{{"memories": {ARRAY[:-1]}',
        f"User: [{ARRAY[1:-1].split('}, {')[0]}}}] and then [{{{ARRAY[1:-1].split('}, {')[1]}]",
        ARRAY.replace('"scope"', '"Scope"').replace('"name"', '" NAME "'),
    ],
)
def test_two_items_are_read_from_any_of_these_forms(answer: str) -> None:
    found = parse_items(answer)
    assert found.items == (PNPM, VIM)
    assert (found.bad, found.readable) == ((), True)


@pytest.mark.parametrize(
    "answer",
    [
        str([as_json(VIM)]),
        "[{scope: 'user', type: 'user', name: 'editor', description: 'Uses vim with a [Dvorak] layout', confidence: 0.8}]",
        json.dumps(as_json(VIM)).replace(', "type"', ' "type"'),
        json.dumps(as_json(VIM)).replace("{", "{ // the editor\n"),
    ],
)
def test_json_that_is_none_is_repaired_where_its_meaning_is_plain(answer: str) -> None:
    assert parse_items(answer).items == (VIM,)


def test_quotes_inside_a_string_spoil_neither_the_item_nor_its_neighbour() -> None:
    broken = ARRAY.replace("依赖一律用 pnpm 安装", '依赖一律用 "pnpm" 安装')
    found = parse_items(broken)
    assert [each.description for each in found.items] == ['依赖一律用 "pnpm" 安装', VIM.description]


@pytest.mark.parametrize(
    "answer",
    [
        "[]",
        "```json\n[]\n```",
        '{"memories": []}',
        '{"memories": []',
        "{}",
        "Nothing: []",
        " [ ] \n",
        '{"memories": null}',
        "[[]]",
        '{"items": {}}',
    ],
)
def test_nothing_worth_keeping_is_an_answer(answer: str) -> None:
    found = parse_items(answer)
    assert (found.items, found.bad, found.readable) == ((), (), True)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "I found nothing.",
        "null",
        "42",
        '"text"',
        "[1, 2]",
        '{"error": "overloaded"}',
        "[" * 5_000,
        '{"a":' * 5_000,
        "<think>still thinking [",
        '["just", "words"]',
        "<html>502</html>",
        "[None]",
    ],
)
def test_an_answer_that_says_nothing_about_memories_is_unreadable(answer: str) -> None:
    found = parse_items(answer)
    assert (found.items, found.bad, found.readable) == ((), (), False)


@pytest.mark.parametrize("at", range(60, len(ARRAY) - 1, 7))
def test_of_an_answer_that_was_cut_the_complete_items_count_and_nothing_half_said(at: int) -> None:
    for begin in ("", '{"memories": '):
        found = parse_items(begin + ARRAY[:at])
        first_ends = ARRAY.index("}, {") + 1
        assert found.items == ((PNPM,) if at >= first_ends else ())
        if at < first_ends:
            assert [each.reason for each in found.bad] == [BadReason.CUT]


def test_a_cut_item_is_told_of_by_its_name() -> None:
    [bad] = parse_items(ARRAY[: ARRAY.index("Uses vim") + 4]).bad
    assert (bad.name, bad.reason) == ("editor", BadReason.CUT)


def test_bad_items_are_dropped_one_by_one_and_named() -> None:
    answer = json.dumps(
        [
            FIELDS | {"scope": "galaxy", "name": "a"},
            FIELDS | {"type": "preference", "name": "b"},
            FIELDS | {"description": "  ", "name": "c"},
            FIELDS | {"description": ["x"], "name": "d"},
            FIELDS | {"description": "User.", "name": "e"},
            FIELDS | {"name": "🙂", "description": "🙂 !"},
            "words",
            7,
            as_json(VIM),
        ]
    )
    found = parse_items(answer)
    assert found.items == (VIM,)
    assert [(each.name, each.reason.value) for each in found.bad] == [
        ("a", "bad_scope"),
        ("b", "bad_type"),
        ("c", "no_description"),
        ("d", "no_description"),
        ("e", "no_description"),
        ("", "no_name"),
        ("", "not_an_object"),
        ("", "not_an_object"),
    ]


def test_a_broken_item_is_dropped_and_the_others_are_kept() -> None:
    answer = f'[{json.dumps(FIELDS)}, {{"scope" "description": : {{, "name": "half"}}, {json.dumps(as_json(PNPM))}]'
    found = parse_items(answer)
    assert VIM in found.items
    assert PNPM in found.items
    assert len(found.items) + len(found.bad) == 3


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (0.8, 0.8),
        ("0.8", 0.8),
        ("80%", 0.8),
        (" .7 ", 0.7),
        (1, 1.0),
        (85, 85.0),
        (-1, -1.0),
        ("high", None),
        ("高", None),
        (None, None),
        (True, None),
        ([0.9], None),
        ("", None),
        ("%", None),
        (..., None),
    ],
)
def test_a_confidence_is_the_number_that_was_given_and_never_a_guess(given: Any, read: float | None) -> None:
    assert parse_items(one(confidence=given)).items[0].confidence == read


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "9" * 5_000])
def test_a_number_that_is_none_is_no_confidence(number: str) -> None:
    found = parse_items(one(confidence="X").replace('"X"', number))
    assert [each.confidence for each in found.items] in ([None], [])
    assert found.readable


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("USER", Scope.USER),
        (" project ", Scope.PROJECT),
        ("`agent`", Scope.AGENT),
        ("项目", Scope.PROJECT),
        ("用户", Scope.USER),
        ("workspace", Scope.PROJECT),
    ],
)
def test_a_scope_may_be_said_in_another_word_of_one_meaning(given: str, read: Scope) -> None:
    assert parse_items(one(scope=given)).items[0].scope is read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("Feedback", MemoryType.FEEDBACK),
        ("反馈", MemoryType.FEEDBACK),
        ("参考资料", MemoryType.REFERENCE),
        ("decision", MemoryType.PROJECT),
    ],
)
def test_a_type_may_be_said_in_another_word_of_one_meaning(given: str, read: MemoryType) -> None:
    assert parse_items(one(type=given)).items[0].type is read


def test_an_odd_name_becomes_a_slug_and_a_missing_one_the_first_words_of_the_description() -> None:
    assert parse_items(one(name=" Editor: VIM!! ")).items[0].name == "editor-vim"
    assert parse_items(one(name="✨")).items[0].name == "uses-vim-with-a-dvorak-layout"
    assert parse_items(one(name=...)).items[0].name == "uses-vim-with-a-dvorak-layout"
    assert len(parse_items(one(name=None, description="很长的描述" * 30)).items[0].name) == 40
    assert parse_items(one(name=12)).items[0].name == "uses-vim-with-a-dvorak-layout"


def test_a_long_description_is_cut_at_a_word_and_one_of_several_lines_is_joined_and_both_are_told() -> None:
    long = parse_items(one(description="word " * 60)).items[0]
    assert long.description.endswith("word…")
    assert len(long.description) <= DESCRIPTION_MAX
    lines = parse_items(one(description="one\n\ntwo\u2028three")).items[0]
    assert lines.description == "one two three"
    assert long.shortened
    assert lines.shortened
    assert not parse_items(one(description=" fits \n")).items[0].shortened
    assert len(parse_items(one(description="长" * 300)).items[0].description) == DESCRIPTION_MAX


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, ""),
        (..., ""),
        ("<p>use <b>vim</b></p>\r\n", "<p>use <b>vim</b></p>"),
        ({"Why": "fast", "How to apply": "open it"}, "**Why:** fast\n**How to apply:** open it"),
        (["one", {"a": [1]}, None], '- one\n- {"a": [1]}'),
        (3, "3"),
        ("null byte \0 and half \ud800", "null byte \ufffd and half \ufffd"),
    ],
)
def test_a_body_is_markdown_whatever_it_was_given_as(given: Any, read: str) -> None:
    assert parse_items(one(body=given)).items[0].body == read


def test_an_endless_body_is_bounded_and_told() -> None:
    item = parse_items(one(body="x" * 50_000)).items[0]
    assert len(item.body) == 20_000
    assert item.shortened


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["React", " React ", "Arco  Design", ""], ("React", "Arco Design")),
        ("React, 支付服务、Ann", ("React", "支付服务", "Ann")),
        ([{"name": "React", "type": "library"}, 3, None], ("React",)),
        (None, ()),
        ({"a": "b"}, ()),
    ],
)
def test_entities_are_a_list_of_texts_however_they_were_given(given: Any, read: tuple[str, ...]) -> None:
    assert parse_items(one(entities=given)).items[0].entities == read


def test_evidence_is_one_text_and_unknown_fields_are_nobodys() -> None:
    assert (
        parse_items(one(evidence=["a, b", "c"], author_role="manual_user", id="usr_00000000")).items[0].evidence
        == "a, b"
    )
    assert parse_items(one(evidence=3)).items[0].evidence is None


def test_of_a_key_given_twice_the_last_one_counts() -> None:
    assert parse_items(one().replace('"name"', '"name": "first", "name"')).items[0].name == "editor"


def test_a_very_long_answer_gives_the_items_it_holds_within_bounds() -> None:
    answer = json.dumps([FIELDS | {"name": f"n{n}", "body": "x" * 900} for n in range(5_000)])
    assert len(answer) > 5_000_000
    found = parse_items(answer)
    assert len(found.items) > 900
    assert len(found.bad) <= 1
    assert found.items[0].name == "n0"


@pytest.mark.parametrize(
    "hostile",
    [
        "[",
        "{",
        '{"',
        "[[{",
        '{"description": ',
        '[{"scope":',
        'a "b" ',
        '"',
        "\\",
        "<think>",
        "{[}]",
        '[{"description": "a" "b" ,',
        "```json\n",
    ],
)
def test_no_answer_is_a_weapon(hostile: str) -> None:
    assert parse_items(hostile * (300_000 // len(hostile))).items == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*FIELDS, "memories", "x"]) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=20,
)
PIECES = st.sampled_from(
    [
        *'[]{}",:\\\n',
        "```",
        "<think>",
        '"description"',
        '"scope": "user"',
        '"type": "user"',
        '"name": "n"',
        "null",
        one(),
    ]
)


@given(
    st.one_of(JSON.map(json.dumps), st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join), JSON.map(repr))
)
def test_any_answer_is_read_without_an_exception_and_only_whole_items_come_of_it(answer: str) -> None:
    found = parse_items(answer)
    for item in found.items:
        assert item.description
        assert len(item.description) <= DESCRIPTION_MAX
        assert "\n" not in item.description
        assert item.name == slug(item.name) != ""
        texts = (item.name, item.description, item.body, *item.entities, *item.links, item.evidence or "")
        assert not any("\0" in text or any(0xD800 <= ord(c) <= 0xDFFF for c in text) for text in texts)
    assert found.readable or not (found.items or found.bad)


@given(
    st.lists(
        st.builds(
            DraftItem,
            st.sampled_from(Scope),
            st.sampled_from(MemoryType),
            st.sampled_from(["a", "编辑器", "b-c"]),
            st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=60).map("says {}".format),
            st.text(st.characters(categories=["L", "N", "P"]), max_size=80),
            st.none() | st.floats(0, 1),
        ),
        max_size=5,
    ),
    st.text(st.characters(exclude_characters="[]{}<\ud800", exclude_categories=["Cs"]), max_size=30),
)
def test_what_was_answered_as_asked_is_read_as_it_was_meant(items: list[DraftItem], prose: str) -> None:
    answer = json.dumps({"memories": [as_json(each) for each in items]}, ensure_ascii=False)
    assert parse_items(answer).items == tuple(items)
    assert parse_items(f"{prose}\n{answer}\n{prose}").items == tuple(items)
