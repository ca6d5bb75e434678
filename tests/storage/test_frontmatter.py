"""Files that people, git and other programs touch: every text comes back as it was, and no byte is lost on the way."""

from dataclasses import dataclass

import frontmatter
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import ValidationFailed
from engine.storage.frontmatter import Document, FieldValue, FrontmatterError, markdown_handler, patch, read, write

NASTY = st.sampled_from(
    ("yes", "null", "~", "1e3", "0x1F", "2026-10-31", "---", "...", "-", "?", ":", "#", "|", ">", "&", "*", "!", "%", "@",
     "`", "'", '"', "[]", "{}", "<<", "=", "", " ", "a: b", "a #b", "a#b", "key:", "- item", "@scope/pkg", "\\", "C:\\dir",
     "it's \"so\"", "a\tb", " lead", "trail ", "\n", "a\nb", "a\r\nb", "\x85", "\u2028", "\ufeff", "\u00a0", "\u3000",
     "\x1b", "\x7f", "\uffff", "偏好：函数式组件", "😀", "👨\u200d👩", "<<<<<<< HEAD", "=======", "word " * 400, "x" * 5000,
     "[a, b]", "{a: b}", "!tag")
)  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30) | NASTY
VALUE = TEXT | st.lists(TEXT, max_size=4)
NAME = st.from_regex(r"[a-z_]{1,8}", fullmatch=True) | TEXT.filter(lambda text: len(text) <= 100)
FIELDS = st.dictionaries(NAME, VALUE, max_size=6)
BODY = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    [
        "",
        "\n",
        "\n\n  indented\r\n",
        "---\n",
        "a\n---\nb",
        "no final newline",
        "trail  \n\n\n",
        "\ufeffmark",
        "\r",
        "======= \n",
    ]
)

HAND_WRITTEN = """\
# what a person wrote above
name:   tabs-not-spaces     # the name
description: >-   # folded
  Use tabs,
  not spaces

type: feedback
# between
confidence: "0.9"# touching
entities:   # people and things
  - Alice  # a person
  - 'C++'

  # inside the list
  - "node.js"
links: [one, two]   # in brackets
empty:
nothing:    # said
custom: &custom
  nested: {a: 1}
  deep:
    - [1, 2]
other: *custom
tagged: !note text
anchored: &anchor value   # anchored
uses: *anchor
literal: |
  one

  two


zero:
- 1
- 2
# last words
"""


def file(block: str, body: str = "body\n") -> bytes:
    return f"---\n{block}---\n{body}".encode()


def test_text_is_never_taken_for_anything_else() -> None:
    block = "a: yes\nb: 1e3\nc: 2026-10-31\nd: null\ne: ~\nf:\ng: 0x1F\nh: ''\ni: [1, true, ~]\nj:\n- 1.0\n- no\nk: !!int '3'\n"
    assert read(file(block)).fields == {
        "a": "yes",
        "b": "1e3",
        "c": "2026-10-31",
        "d": "null",
        "e": "~",
        "f": "",
        "g": "0x1F",
        "h": "",
        "i": ["1", "true", "~"],
        "j": ["1.0", "no"],
        "k": "3",
    }


def test_structures_are_no_fields_but_stay_in_the_file() -> None:
    data = file("name: x\nmap: {a: 1}\nrows:\n- a\n- [b]\nmeta:\n  deep: yes\n")
    assert read(data).fields == {"name": "x"}
    changed = patch(data, {"name": "y"})
    assert changed == data.replace(b"name: x", b"name: y")


def test_aliases_say_what_their_anchor_says() -> None:
    data = file("a: &one first\nb: *one\nc: &list [x, y]\nd: *list\ne: [*one, z]\n*one : key\nf: &self [*self]\n")
    fields = read(data).fields
    assert fields == {"a": "first", "b": "first", "c": ["x", "y"], "d": ["x", "y"], "e": ["first", "z"], "first": "key"}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\nname: x\n---\nbody\n",
        b"---\r\nname: x\r\n---\r\nbody\n",
        b"--- \t\nname: x\n---  \nbody\n",
        b"\xef\xbb\xbf---\r\nname: >\r\n  x\r\n---\r\nbody\n".replace(b">", b">-"),
    ],
)
def test_byte_order_marks_and_line_ends_of_other_systems_are_read(data: bytes) -> None:
    assert read(data) == Document({"name": "x"}, "body\n")


@pytest.mark.parametrize(
    "body", ["", "\n", "\r\n", "  indented\n", "a\r\nb", "x  \n\n", "---\na: b\n---\n", "\ufeffx", "\0"]
)
@pytest.mark.parametrize("block", ["name: x\n", "name: [x]\n# comment\n", ""])
def test_the_body_is_kept_byte_for_byte(block: str, body: str) -> None:
    data = file(block, body)
    assert read(data).body == body
    assert patch(data, {"added": "1"}).endswith(f"---\n{body}".encode())
    assert patch(data, {}, "new" + body) == file(block, "new" + body)


def test_a_file_may_end_at_its_closing_fence() -> None:
    assert read(b"---\na: b\n---") == Document({"a": "b"}, "")
    assert patch(b"---\na: b\n---", {"a": "c"}) == b"---\na: c\n---"
    assert patch(b"---\na: b\n---", {}, "") == b"---\na: b\n---"
    assert patch(b"---\r\na: b\r\n---", {}, "body") == b"---\r\na: b\r\n---\r\nbody"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", 1),
        (b"text only\n", 1),
        (b"\n---\na: b\n---\n", 1),
        (b"---\na: secret\n", 1),
        (b"----\na: secret\n----\n", 1),
        (b"---\na: b\nc: \xff\n---\n", 3),
        (b"---\na: b\n---\nbody \xff\n", 4),
        (b"---\na: 'secret\n---\n", 2),
        (b"---\na: b\nsecret: [x\n---\n", 3),
        (b"---\na: b\n\tsecret: x\n---\n", 3),
        (b"---\na: secret: b\n---\n", 2),
        (b"---\na: @secret\n---\n", 2),
        (b"---\na: \x07secret\n---\n", 2),
        ("---\n描述: 中文中文中文😀\nb: \x7fsecret\nc: d\ne: f\n---\n".encode(), 3),
        (b"---\nsecret\n---\n", 2),
        (b"---\n- secret\n---\n", 2),
        (b"---\n[secret]\n---\n", 2),
        (b"---\na: b\nc: d\na: secret\n---\n", 4),
        (b"---\na: b\n'a': secret\n---\n", 3),
        (b"---\n? [secret]\n: b\n---\n", 2),
        (b"---\n? {secret: b}\n---\n", 2),
        (b"---\na: b\nc: *secret\n---\n", 3),
        (b"---\na: &secret b\nc: &secret d\n---\n", 3),
        (b"---\na: !secret!x b\n---\n", 2),
        (b"---\na: b\n...\nsecret: x\n---\n", 4),
        (b"---\na: b\n<<<<<<< HEAD\nb: secret\n=======\nb: x\n>>>>>>> other\n---\n", 3),
        (b"---\na: b\n=======\n---\n", 3),
        (b"<<<<<<< HEAD\n---\na: secret\n---\n", 1),
        (b"---\na: b\n---\ntext\n<<<<<<< HEAD\nsecret\n=======\nx\n>>>>>>> other\n", 5),
        (b'---\na: "\\ud800secret"\n---\n', 2),
        (b'---\na: "\\U99999999secret"\n---\n', 2),
        (b"---\na: " + b"[" * 100_000 + b"\n---\n", 2),
        (b"---\na: " + b"{x: " * 5_000 + b"\n---\n", 2),
        (b"---\n" + b"".join(b" " * n + b"k:\n" for n in range(500)) + b"---\n", 103),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_broken_file_is_refused_with_its_line_and_without_its_text(data: bytes, line: int) -> None:
    with pytest.raises(FrontmatterError) as caught:
        read(data)
    assert caught.value.code == "FRONTMATTER_BROKEN"
    assert caught.value.details["line"] == line
    assert caught.value.message.startswith(f"line {line}: ")
    assert "secret" not in caught.value.message
    with pytest.raises(FrontmatterError):
        patch(data, {"a": "c"})


def test_one_conflict_marker_in_a_body_is_text() -> None:
    for body in ("a heading\n=======\n", "<<<<<<< alone\n", ">>>>>>> alone\n", "in <<<<<<< a\n line >>>>>>> b\n"):
        assert read(write({}, body)).body == body


def test_a_body_that_would_be_taken_for_a_conflict_is_refused() -> None:
    body = "<<<<<<< ours\n=======\n>>>>>>> theirs\n"
    with pytest.raises(ValidationFailed):
        write({}, body)
    with pytest.raises(ValidationFailed):
        patch(file("a: b\n"), {}, body)


def test_an_alias_bomb_costs_no_more_than_its_own_length() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 60))
    data = file("l0: &l0 [lol]\n" + levels)
    assert read(data).fields == {"l0": ["lol"]}
    changed = patch(data, {"l0": ["lol"], "l59": None, "x": "y"})
    assert read(changed).fields == {"l0": ["lol"], "x": "y"}
    assert len(changed) < 2 * len(data)


@pytest.mark.parametrize("value", ["\0", "\ud800", ["fine", "\udfff"], ["a\0"]])
def test_what_a_file_cannot_hold_is_refused(value: FieldValue) -> None:
    with pytest.raises(ValidationFailed):
        write({"a": value}, "")
    with pytest.raises(ValidationFailed):
        patch(file("a: b\n"), {"a": value})


def test_a_body_or_name_that_a_file_cannot_hold_is_refused() -> None:
    for attempt in (lambda: write({}, "\ud800"), lambda: patch(file(""), {}, "\ud800"), lambda: write({"\0": ""}, "")):
        with pytest.raises(ValidationFailed):
            attempt()
    with pytest.raises(ValidationFailed):
        write({"k" * 2000: "v"}, "")


def test_a_written_file_looks_as_a_person_would_write_it() -> None:
    fields: dict[str, FieldValue] = {
        "id": "usr_0000000a",
        "description": "偏好函数式组件 – uses `C++`, @arco-design/web-react & 😀",
        "created_at": "2026-10-31T08:00:00.000+08:00",
        "confidence": "1.0",
        "note": "colon: here",
        "quote": 'say: "hi"',
        "entities": ["Arco Design", "@arco/pkg"],
        "links": [],
        "empty": "",
    }
    assert write(fields, "\n  body").decode() == (
        "---\n"
        "id: usr_0000000a\n"
        "description: 偏好函数式组件 – uses `C++`, @arco-design/web-react & 😀\n"
        "created_at: 2026-10-31T08:00:00.000+08:00\n"
        "confidence: 1.0\n"
        'note: "colon: here"\n'
        "quote: 'say: \"hi\"'\n"
        "entities:\n- Arco Design\n"
        '- "@arco/pkg"\n'
        "links: []\n"
        'empty: ""\n'
        "---\n\n  body"
    )


def test_python_frontmatter_writes_the_same_file_with_our_handler() -> None:
    post = frontmatter.Post("  body\n\n", markdown_handler(), answer="yes", items=["1"])
    assert frontmatter.dumps(post).encode() == write({"answer": "yes", "items": ["1"]}, "  body\n\n")
    text = write({"answer": "yes"}, "body").decode()
    assert frontmatter.loads(text, handler=markdown_handler()).metadata == {"answer": "yes"}


INSIDE = "  - Alice  # a person\n  - 'C++'\n\n  # inside the list\n  - \"node.js\""


def edited(old: str, new: str, changes: dict[str, FieldValue | None]) -> None:
    """The hand-written file with these changes is the same file with ``old`` replaced by ``new``, in any line ends."""
    assert HAND_WRITTEN.count(old) == 1
    wanted = HAND_WRITTEN.replace(old, new)
    assert patch(file(HAND_WRITTEN), changes) == file(wanted)
    with_returns = file(HAND_WRITTEN, "").replace(b"\n", b"\r\n") + b"body\n"
    assert patch(with_returns, changes) == file(wanted, "").replace(b"\n", b"\r\n") + b"body\n"


def test_a_scalar_is_replaced_where_it_stands() -> None:
    edited("tabs-not-spaces ", "four spaces ", {"name": "four spaces"})
    edited('"0.9"#', "1.0 #", {"confidence": "1.0"})
    edited("type: feedback", 'type: "a: b"', {"type": "a: b"})
    edited("!note text", "plain", {"tagged": "plain"})
    edited(">-   # folded\n  Use tabs,\n  not spaces\n", '"a\\nb"   # folded\n', {"description": "a\nb"})
    edited("|\n  one\n\n  two\n", "short\n", {"literal": "short"})
    edited("\nempty:", "\nempty: no more", {"empty": "no more"})
    edited("nothing:", "nothing: x", {"nothing": "x"})


def test_a_list_is_replaced_in_the_layout_it_has() -> None:
    edited(INSIDE, '  - Bob\n  - "a: b"', {"entities": ["Bob", "a: b"]})
    edited("[one, two]", '[three, "a, b"]', {"links": ["three", "a, b"]})
    edited("- 1\n- 2\n", "- 3\n", {"zero": ["3"]})
    edited("\nempty:", "\nempty: [a]", {"empty": ["a"]})


def test_a_list_gives_way_to_a_scalar_and_a_scalar_to_a_list() -> None:
    rows = f"entities:   # people and things\n{INSIDE}\n"
    edited(rows, "entities: none   # people and things\n", {"entities": "none"})
    edited("zero:\n- 1\n- 2\n", "zero: []\n", {"zero": []})
    edited("[one, two]", "one", {"links": "one"})
    edited("type: feedback", "type: [feedback, x]", {"type": ["feedback", "x"]})


def test_a_field_is_removed_with_its_lines_and_a_new_one_comes_last() -> None:
    edited("name:   tabs-not-spaces     # the name\n", "", {"name": None})
    edited("literal: |\n  one\n\n  two\n", "", {"literal": None})
    edited("zero:\n- 1\n- 2\n", "", {"zero": None})
    edited("# last words\n", "# last words\nadded: x\nlist:\n- y\n", {"added": "x", "list": ["y"]})


def test_a_removed_field_does_not_leave_its_neighbours_to_each_other() -> None:
    above, below = "a: |+\n  text\n\n", "\n  # indented\nc: d\n"
    for gone in ("b: x\n", "b: |\n    x\n", "b: x\ne: y\n"):
        data = file(above + gone + below)
        assert patch(data, {"b": None, "e": None}) == file(f"{above}#\n{below}")


def test_what_says_the_same_already_is_left_alone() -> None:
    data = file(HAND_WRITTEN)
    assert patch(data, {**read(data).fields, "absent": None}) == data


@pytest.mark.parametrize("changes", [{"custom": None}, {"custom": "gone"}, {"anchored": None}, {"anchored": ["new"]}])
def test_a_value_that_others_refer_to_is_replaced_without_losing_theirs(changes: dict[str, FieldValue | None]) -> None:
    before, after = nodes(HAND_WRITTEN), nodes(block_of(patch(file(HAND_WRITTEN), changes)))
    wanted = {name: value for name, value in {**before, **changes}.items() if value is not None}
    assert after == wanted


@pytest.mark.parametrize(
    "block",
    [
        "{a: b, c: [d], e: {f: g}}\n",
        "? a\n: b\n? c\n:\n- d\n? e\n: {f: g}\n",
        "!!map\na: b\nc: [d]\ne: {f: g}\n",
        "a: b\rc: [d]\re: {f: g}\n",
        "a: b\nc: [d]\ne: {f: g}\n...\n",
    ],
)
def test_frontmatter_in_an_unusual_layout_is_changed_too(block: str) -> None:
    changed = patch(file(block), {"a": "x", "c": None, "new": ["y"]})
    assert nodes(block_of(changed)) == {"a": "x", "e": {"f": "g"}, "new": ["y"]}
    assert read(patch(file(block), {"a": None, "c": None, "e": None})).fields == {}


def block_of(data: bytes) -> str:
    """The text between the fences."""
    text = data.decode()
    return text[text.index("\n") + 1 : text.index("\n---", 3) + 1]


def nodes(block: str) -> dict[str, object]:
    """What YAML's own constructor makes of a block, with every scalar as text."""
    loaded: dict[str, object] = yaml.load(block, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}
    return loaded


def is_field(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


@given(st.dictionaries(NAME, VALUE, max_size=6), BODY)
def test_every_text_comes_back_as_it_was(fields: dict[str, FieldValue], body: str) -> None:
    data = write(fields, body)
    document = read(data)
    assert document == Document(fields, body)
    assert list(document.fields) == list(fields)
    assert data.endswith(f"---\n{body}".encode())


@given(st.dictionaries(NAME, VALUE, max_size=6))
def test_another_yaml_reader_finds_the_same_texts(fields: dict[str, FieldValue]) -> None:
    assert nodes(write(fields, "").decode()[4:-4]) == fields


@given(st.binary() | st.binary().map(lambda noise: b"---\n" + noise + b"\n---\n" + noise))
def test_arbitrary_bytes_raise_nothing_but_frontmatter_errors(data: bytes) -> None:
    try:
        document = read(data)
    except FrontmatterError:
        return
    assert data.endswith(document.body.encode())
    assert read(patch(data, {"added": "x"})) == Document({**document.fields, "added": "x"}, document.body)


YAMLISH = st.lists(
    st.sampled_from(
        ("a", "b", "c", "key", ": ", ":", "\n", "\n", "\n", "  ", " ", "- ", "? ", "|", ">", "-", "+", "2", "#", " # ", "'", '"',
         "[", "]", "{", "}", ", ", "&x ", "*x", "!t ", "!!str ", "\\", "\\n", "\r\n", "\r", "\t", "...", "\x85", "偏", "😀", "%",
         "@", "a: b\n", "c:\n- d\n", "e: |\n  f\n", "<<: ", "yes", "''", '""', "~", "\ufeff", "\u2028", "=", "\n ", "x: &x y\n")
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(
    YAMLISH, st.dictionaries(st.sampled_from(["a", "b", "c", "e", "key", "x", "new"]), st.none() | VALUE, max_size=3)
)
@example("a: |+\n\n\n", {"b": "x"})
@example("?", {"b": "x"})
@example("a: &x b\nc: *x\n", {"a": None})
@example("a: b\r# c\re: f\n", {"a": None})
@example("&x a: &y b\n*x : *y\n", {"c": "d"})
def test_whatever_can_be_read_says_what_yaml_says_and_can_be_changed(
    block: str, changes: dict[str, FieldValue | None]
) -> None:
    data = file(block + "\n", "the body")
    try:
        document = read(data)
    except FrontmatterError:
        return
    before = nodes(block_of(data))
    assert document.fields == {name: value for name, value in before.items() if is_field(value)}
    changed = patch(data, changes)
    wanted = {name: value for name, value in {**document.fields, **changes}.items() if value is not None}
    assert read(changed) == Document(wanted, document.body)
    after = nodes(block_of(changed))
    assert {name: after[name] for name in after if name not in changes} == {
        name: before[name] for name in before if name not in changes
    }


@dataclass(frozen=True)
class Stretch:
    """Some lines of a hand-written block; ``name`` is the field they hold, or None for a comment."""

    name: str | None
    text: str


LAYOUTS = st.sampled_from(
    ("{}: plain\n", "{}:   'quoted'  # said\n", '"{}": "double \\n"\n', "{}:\n", "{}: # later\n  value\n", "{} : spaced\n",
     "{}: [a, 'b, c'] # in\n", "{}:\n- one # 1\n# between\n- two\n", "{}: # rows\n    - one\n\n    - |\n      two\n",
     "{}: |2-\n    lead\n  x\n\n", "{}: >+ # fold\n  a\n\n\n", "{}:\n  deep: {{x: [1]}}\n  # inside\n  more: y\n",
     "{}: {{a: b}}\n", "{}: multi\n  line  # end\n", '{}: "multi\n  line" # end\n')
)  # fmt: skip
COMMENTS = st.sampled_from(["# note\n", "\n", " # indented: - note\n", "#\n"]).map(lambda text: Stretch(None, text))


@st.composite
def hand_written(draw: st.DrawFn) -> list[Stretch]:
    """Fields in many layouts, with comments and blank lines before each."""
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1))
    fields = [Stretch(name, draw(LAYOUTS).format(name)) for name in names]
    return [each for field in fields for each in (*draw(st.lists(COMMENTS, max_size=2)), field)]


@given(
    hand_written(), st.dictionaries(st.sampled_from("abcdefghij"), st.none() | VALUE, max_size=4), st.booleans(), BODY
)
def test_an_edit_keeps_every_other_line_byte_for_byte(
    stretches: list[Stretch], changes: dict[str, FieldValue | None], returns: bool, body: str
) -> None:
    line_end = "\r\n" if returns else "\n"
    data = file("".join(stretch.text for stretch in stretches), "").replace(b"\n", line_end.encode()) + body.encode()
    before = read(data)
    changed = patch(data, changes)
    wanted = {name: value for name, value in {**before.fields, **changes}.items() if value is not None}
    assert read(changed) == Document(wanted, body)
    at = 0
    for stretch in stretches:
        if stretch.name not in changes:
            kept = stretch.text.replace("\n", line_end).encode()
            at = changed.index(kept, at) + len(kept)
    if returns:
        assert b"\n" not in changed.removesuffix(body.encode()).replace(b"\r\n", b"")
