"""Memories as one buffer: what is written comes back, and a buffer that cannot be read stores nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from spark_tui.presenters.editor_text import BufferBroken, Section, read_buffer, written_buffer

ONE_LINE = some.text(some.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), max_size=40)
BODIES = some.lists(
    some.sampled_from(
        ["", "text", "  indented  ", "=== usr_00000001 ===", "\\=== prj_00000002 ===", "name: x", "# note", "\r"]
    )
    | some.text(some.characters(exclude_categories=["Cs"]), max_size=20),
    max_size=6,
).map("\n".join)


def section(entry_id: str, body: str = "", **values: str) -> Section:
    filled = {"description": "be brief", "name": "rule", "type": "feedback", "validity": "", "entities": ""}
    return Section(entry_id, {**filled, **values, "body": body})


@given(some.lists(some.tuples(ONE_LINE, BODIES), min_size=1, max_size=3))
def test_what_is_written_comes_back_to_the_byte(texts: list[tuple[str, str]]) -> None:
    sections = [section(f"usr_0000000{at}", body, description=text) for at, (text, body) in enumerate(texts)]
    assert read_buffer(written_buffer(sections), sections) == sections


def test_a_changed_field_and_a_changed_body_are_told_apart() -> None:
    before = [section("usr_00000001", "old text")]
    buffer = written_buffer(before).replace("be brief", "be kind").replace("old text", "new text\n\nwith more")
    after = read_buffer(buffer, before)[0].values
    assert (after["description"], after["body"], after["name"]) == ("be kind", "new text\n\nwith more", "rule")


def test_a_removed_section_is_left_out_and_deletes_nothing() -> None:
    before = [section("usr_00000001"), section("prj_00000002")]
    buffer = written_buffer(before)
    cut = buffer[: buffer.index("=== prj_00000002")]
    assert [each.id for each in read_buffer(cut, before)] == ["usr_00000001"]


def test_a_removed_field_keeps_its_value() -> None:
    before = [section("usr_00000001", entities="git")]
    buffer = written_buffer(before).replace("entities: git\n", "")
    assert read_buffer(buffer, before)[0].values["entities"] == "git"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: "", "no section left"),
        (lambda text: text.replace("usr_00000001", "usr_0000000f"), "was not in it"),
        (lambda text: text + "=== usr_00000001 ===\n\n", "twice"),
        (lambda text: text.replace("\n\n", "\n"), "a blank line is missing"),
    ],
)
def test_a_buffer_that_cannot_be_understood_is_refused_with_its_reason(change, complaint: str) -> None:  # type: ignore[no-untyped-def]
    before = [section("usr_00000001", "prose without a colon")]
    with pytest.raises(BufferBroken, match=complaint):
        read_buffer(change(written_buffer(before)), before)
