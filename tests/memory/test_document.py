"""A memory as a file and back: every field, every text, and what a hand may leave out (02 §1)."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clock import day_end_ms
from engine.errors import ValidationFailed
from engine.memory.document import OWN_FIELDS, STORE_FIELDS, entry_of, fields_of, validity
from engine.memory.model import (
    AuthorRole,
    Entry,
    EvidenceStatus,
    Layer,
    MemoryType,
    Scope,
    Source,
)
from engine.storage import frontmatter
from engine.storage.frontmatter import Document

SHANGHAI = ZoneInfo("Asia/Shanghai")
LAYERS = {
    Scope.USER: Layer(Scope.USER, None, "user", Path("user"), "user"),
    Scope.PROJECT: Layer(Scope.PROJECT, "ws_00000001", "project:1", Path("project"), "alpha"),
    Scope.AGENT: Layer(Scope.AGENT, "main", "agent:main", Path("agent"), "main"),
}
PREFIXES = {Scope.USER: "usr", Scope.PROJECT: "prj", Scope.AGENT: "agt"}

storable = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
line = st.text(storable, min_size=1, max_size=60).filter(lambda text: text.strip() != "")
instant = st.integers(0, 4_000_000_000_000)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Any entry a store may hold."""
    scope = draw(st.sampled_from(list(Scope)))
    day = draw(st.none() | st.dates(date(2000, 1, 1), date(2100, 1, 1)))
    return Entry(
        id=f"{PREFIXES[scope]}_{draw(st.integers(0, 2**32 - 1)):08x}",
        scope=scope,
        scope_ref=LAYERS[scope].ref,
        type=draw(st.sampled_from(list(MemoryType))),
        name=draw(st.sampled_from(["a", "组件-写法", "x" * 80, "1e3", "yes", "null"])),
        description=draw(line),
        source=draw(st.sampled_from(list(Source))),
        confidence=draw(st.floats(0, 1)),
        author_role=draw(st.sampled_from(list(AuthorRole))),
        created_at=draw(instant),
        updated_at=draw(instant),
        valid_from=draw(instant),
        version=draw(st.integers(1, 2**31 - 1)),
        valid_until=None
        if day is None
        else validity(day.isoformat(), draw(st.sampled_from([SHANGHAI, ZoneInfo("UTC")]))),
        invalid_at=draw(st.none() | instant),
        superseded_by=draw(st.none() | st.just("usr_0000000f")),
        archived=draw(st.booleans()),
        entities=tuple(draw(st.lists(line, max_size=3))),
        links=tuple(draw(st.lists(line, max_size=3))),
        source_session_id=draw(st.none() | line),
        source_turn_id=draw(st.none() | line),
        extraction_model=draw(st.none() | line),
        evidence=draw(st.none() | line),
        evidence_status=draw(st.none() | st.sampled_from(list(EvidenceStatus))),
    )


def written(entry: Entry, body: str) -> bytes:
    return frontmatter.write({key: value for key, value in fields_of(entry).items() if value is not None}, body)


@given(entries(), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0<|=>"), max_size=80))
def test_every_entry_comes_back_from_its_file(entry: Entry, body: str) -> None:
    document = frontmatter.read(written(entry, body))
    assert entry_of(document, LAYERS[entry.scope], entry.id, 12345, SHANGHAI) == entry
    assert document.body == body


@given(entries(), entries())
def test_patching_one_entry_into_another_gives_the_same_as_writing_it(before: Entry, after: Entry) -> None:
    after = replace(after, id=before.id, scope=before.scope, scope_ref=before.scope_ref)
    data = frontmatter.patch(written(before, "one"), fields_of(after), "two")
    document = frontmatter.read(data)
    assert entry_of(document, LAYERS[after.scope], after.id, 0, SHANGHAI) == after
    assert document.body == "two"


def test_every_field_of_an_entry_is_in_its_file_but_those_of_use_and_of_the_file_itself() -> None:
    import dataclasses

    kept = {each.name for each in dataclasses.fields(Entry)}
    assert kept - set(OWN_FIELDS) == {"hit_count", "last_hit_at", "file_state", "file_reason"}
    assert set(OWN_FIELDS) - kept == {"valid_until_precision", "valid_until_timezone"}
    assert set(STORE_FIELDS) <= set(OWN_FIELDS)


def minimal(**fields: str | list[str]) -> Document:
    return Document({"type": "user", "name": "a-fact", "description": "by hand", **fields}, "")


def read(document: Document) -> Entry:
    return entry_of(document, LAYERS[Scope.USER], "usr_00000001", 1_000, SHANGHAI)


def test_what_a_hand_leaves_out_is_filled_in() -> None:
    entry = read(minimal())
    assert (entry.version, entry.confidence, entry.source, entry.author_role) == (
        1,
        1.0,
        Source.MANUAL,
        AuthorRole.MANUAL_USER,
    )
    assert (entry.created_at, entry.updated_at, entry.valid_from) == (1_000, 1_000, 1_000)
    assert (entry.archived, entry.invalid_at, entry.valid_until, entry.entities) == (False, None, None, ())


def test_what_a_hand_writes_loosely_is_understood() -> None:
    entry = read(
        minimal(archived="Yes", valid_until="2026-02-28", entities="React", created_at="2026-01-02", confidence=".5")
    )
    assert entry.archived
    assert entry.valid_until is not None
    assert entry.valid_until.until_ms == day_end_ms(date(2026, 2, 28), SHANGHAI)
    assert entry.entities == ("React",)
    assert entry.created_at == 1_767_312_000_000
    assert entry.confidence == 0.5
    assert read(minimal(created_at="2026-01-02T08:00:00.5+08:00")).created_at == 1_767_312_000_500
    assert read(minimal(entities=["", "Vite", " "])).entities == ("Vite",)
    assert read(minimal(valid_until="2026-02-28", valid_until_timezone="UTC")).valid_until.timezone == "UTC"


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "usr_00000002"},
        {"scope": "agent"},
        {"type": ""},
        {"type": "gossip"},
        {"name": ""},
        {"name": "A Fact"},
        {"description": ""},
        {"description": ["a", "b"]},
        {"confidence": "nan"},
        {"confidence": "inf"},
        {"confidence": "-0.1"},
        {"confidence": "high"},
        {"version": "0"},
        {"version": "-1"},
        {"version": "1.5"},
        {"version": "99999999999"},
        {"version": "²"},
        {"archived": "perhaps"},
        {"created_at": "tomorrow"},
        {"valid_until": "2026-13-01"},
        {"valid_until": "2026-1-1"},
        {"valid_until": "9999-12-31"},
        {"valid_until": "2026-01-01", "valid_until_timezone": "Mars/Olympus"},
        {"valid_until": "2026-01-01", "valid_until_timezone": "../../etc/passwd"},
        {"source": "hearsay"},
        {"author_role": "root"},
        {"evidence_status": "maybe"},
    ],
)
def test_a_field_that_cannot_be_meant_is_refused_by_name(fields: dict[str, str | list[str]]) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read(minimal(**fields))
    assert any(word in caught.value.message for word in (*fields, "slug", "empty", "day"))


def test_a_last_day_ends_at_the_next_midnight_of_its_own_zone_also_when_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    summer, before = validity("2026-03-29", berlin), validity("2026-03-28", berlin)
    assert summer.until_ms - before.until_ms == 23 * 3_600_000
    winter, before = validity("2026-10-25", berlin), validity("2026-10-24", berlin)
    assert winter.until_ms - before.until_ms == 25 * 3_600_000
