"""What a folder of somebody's notes is taken for, file by file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ValidationFailed
from engine.memory.model import DESCRIPTION_MAX, MemoryType, checked_description, slug
from engine.memory.transfer.sources import Item, Kind, read_sources, shortened


def one(tmp_path: Path, text: str, name: str = "note.md") -> Item:
    """The one item of a file with this text."""
    (tmp_path / name).write_text(text, "utf-8", newline="")
    (item,) = read_sources(tmp_path)
    return item


def test_a_memory_of_claude_code_keeps_its_type(tmp_path: Path) -> None:
    text = "---\nname: User Role\ndescription: data scientist\ntype: user\nextra: kept\n---\n\nBody.\n"
    item = one(tmp_path, text)
    assert (item.kind, item.name, item.type) == (Kind.AUTO_MEMORY, "user-role", MemoryType.USER)
    assert (item.description, item.body, item.has_fields) == ("data scientist", "\nBody.\n", True)


def test_the_type_of_newer_claude_code_files_is_found_below_metadata(tmp_path: Path) -> None:
    text = "---\nname: n\ndescription: d\nmetadata:\n  source: chat\n  type: feedback\n---\nbody\n"
    assert one(tmp_path, text).type is MemoryType.FEEDBACK


def test_a_long_description_is_cut_and_kept_whole_in_the_body(tmp_path: Path) -> None:
    long = "first sentence. " + "word " * 60
    item = one(tmp_path, f"---\nname: n\ndescription: {long}\ntype: user\n---\nbody")
    assert item.description.endswith("…")
    assert item.body == f"{long.strip()}\n\nbody"


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        (
            "# How we deploy\n\nEvery Tuesday.\nNever on Friday.\n\nMore.",
            "how-we-deploy",
            "Every Tuesday. Never on Friday.",
        ),
        ("- [x] first point\n- second", "note", "first point second"),
        ("> quoted\n", "note", "quoted"),
        ("```sh\nrm -rf\n```\n\nAfter the code.", "note", "After the code."),
        ("<!-- c -->\n| a | b |\n\n正文第一句。第二句。", "note", "正文第一句。第二句。"),
        ("---\ntitle: 部署 约定\ntags: [a, b]\n---\n周二上线\n", "部署-约定", "周二上线"),
        ("# Only a title\n", "only-a-title", "Only a title"),
        ("", "note", "note"),
        ("\ufeff# Marked\ntext", "note", "\ufeff# Marked text"),
    ],
)
def test_a_note_gives_a_name_and_a_first_sentence(tmp_path: Path, text: str, name: str, description: str) -> None:
    item = one(tmp_path, text)
    assert item.kind is Kind.NOTE
    assert item.type is MemoryType.REFERENCE
    if not text.startswith("\ufeff"):
        assert (item.name, item.description) == (name, description)


def test_rules_are_listed_bullet_by_bullet(tmp_path: Path) -> None:
    text = "# Rules\n- use tabs\n  * nested **rule**\n1. numbered\n\n```\n- no rule\n```\nplain text\n- 用中文回答\n"
    (tmp_path / "CLAUDE.md").write_text(text, "utf-8")
    items = list(read_sources(tmp_path))
    assert [item.description for item in items] == ["use tabs", "nested **rule**", "numbered", "用中文回答"]
    assert {item.kind for item in items} == {Kind.RULE}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- use tabs and\n  never spaces\n", ["use tabs and never spaces"]),
        ("- use tabs and\nnever spaces\n", ["use tabs and never spaces"]),
        ("- 提交前\n  跑 lint，\n  再跑测试\n- 第二条\n", ["提交前 跑 lint， 再跑测试", "第二条"]),
        ("- one\n\n  a paragraph of its own\n- two\n", ["one", "two"]),
        ("- one\n# Heading\nplain\n", ["one"]),
        ("- one\n  - nested\n    goes on\n- two", ["one", "nested goes on", "two"]),
        ("1. first\n   goes on\n2. second", ["first goes on", "second"]),
        ("- run this:\n  ```\n  - no rule\n  no text\n  ```\n  after the code\n- two", ["run this:", "two"]),
        ("- one\n<!-- note -->\nplain\n- two\n---\n- three\n| a |\n", ["one", "two", "three"]),
        ("- one\n> quoted\n- two\n#hash is no heading\n", ["one", "two #hash is no heading"]),
        ("- one\r\n  goes on\r\n- two\r\n", ["one goes on", "two"]),
        ("plain\n  text\n", []),
    ],
)
def test_a_bullet_that_is_wrapped_is_one_rule(tmp_path: Path, text: str, told: list[str]) -> None:
    (tmp_path / "CLAUDE.md").write_text(text, "utf-8", newline="")
    assert [item.description for item in read_sources(tmp_path)] == told


def test_indexes_hidden_files_and_other_kinds_are_passed_over(tmp_path: Path) -> None:
    for name in (".hidden.md", "picture.png", ".git/note.md", "MEMORY.md", "sub/note.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text", "utf-8")
    assert [(item.file, item.kind) for item in read_sources(tmp_path)] == [
        ("MEMORY.md", Kind.INDEX), ("sub/note.md", Kind.NOTE),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe", b"---\nname: [\n---\n", b"---\nname: n\n", b"<<<<<<< a\n=======\n>>>>>>> b\n---\n", b"x" * 1_000_001],
    ids=["no-utf8", "no-yaml", "no-end", "conflict", "too-long"],
)
def test_what_cannot_be_read_has_a_problem_and_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "note.md").write_bytes(data)
    (item,) = read_sources(tmp_path)
    assert (item.problem is None) == data.startswith(b"<")
    assert (tmp_path / "note.md").read_bytes() == data


def test_one_file_can_be_named_and_a_missing_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- one\n", "utf-8")
    assert [item.kind for item in read_sources(tmp_path / "AGENTS.md")] == [Kind.RULE]
    with pytest.raises(ValidationFailed):
        list(read_sources(tmp_path / "gone"))


@given(text=st.text(min_size=1, max_size=600))
def test_a_shortened_text_fits_and_is_its_beginning(text: str) -> None:
    cut = shortened(text)
    assert len(cut) <= DESCRIPTION_MAX
    assert text.startswith(cut.removesuffix("…").rstrip()[:50]) or cut == text
    assert cut == text or len(text) > DESCRIPTION_MAX


@given(text=st.text(max_size=400))
def test_any_note_can_be_a_memory_or_says_why_not(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "note.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    (item,) = read_sources(folder)
    if item.problem is None:
        assert slug(item.name) == item.name
        assert checked_description(item.description)
