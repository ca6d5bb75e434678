"""What the verbs of the store promise: names, versions, takeover, archive, delete, quotas and gates (02 §1, §4, §9)."""

import stat
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from engine.clock import DAY_MS, ManualClock, day_end_ms
from engine.errors import (
    AlreadyExists,
    NotFound,
    QuotaExceeded,
    SensitiveContent,
    SparkError,
    ValidationFailed,
    VersionConflict,
)
from engine.events import MemoryChanged
from engine.memory.injection import AgentProfile, Request
from engine.memory.listing import Filter
from engine.memory.model import AuthorRole, Changes, MemoryType, Scope, Source, State
from tests.support import (
    Place,
    complaints,
    draft,
    durable,
    everything,
    expected_memory_md,
    matches,
    memory_md,
    occurrences,
    state_of,
    undeletable,
)

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def test_a_new_memory_is_a_file_a_row_a_hit_and_a_line_of_memory_md(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("short-answers", "prefers terse replies", "Because time is short.\n"))
        assert (entry.id, entry.version, entry.state(place.clock.now_ms())) == ("usr_00000001", 1, State.ACTIVE)
        assert (entry.author_role, entry.source, entry.confidence) == (AuthorRole.MANUAL_USER, Source.MANUAL, 1.0)
        assert engine.listing.entry(entry.id) == entry
        assert engine.listing.body(entry.id) == "Because time is short.\n"
        assert matches(engine, "terse") == [entry.id]
        text = place.path(entry).read_text("utf-8")
        assert text.endswith("Because time is short.\n")
        assert memory_md(place.home.memory_user) == ["- [short-answers](usr_00000001.md) — prefers terse replies"]
        assert complaints(place, engine) == []


@pytest.mark.parametrize(
    ("scope", "fields", "folder"),
    [
        (Scope.USER, {}, "machine/spark/memory/user"),
        (Scope.PROJECT, {}, "projects/alpha/.spark-agent/memory"),
        (Scope.AGENT, {"agent": "main"}, "machine/spark/memory/agent/main"),
    ],
)
def test_each_scope_has_its_folder_its_prefix_and_its_ref(
    place: Place, tmp_path: Path, scope: Scope, fields: dict[str, str], folder: str
) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=scope, **fields))
        assert (tmp_path / folder / entry.file).is_file()
        assert entry.id[:3] == {"user": "usr", "project": "prj", "agent": "agt"}[scope]
        assert entry.scope_ref == {"user": None, "project": engine.layers.workspace.id, "agent": "main"}[scope]
        assert complaints(place, engine) == []


def test_the_same_name_may_live_once_in_each_layer(place: Place) -> None:
    with place.open() as engine:
        for fields in (
            {},
            {"scope": Scope.PROJECT},
            {"scope": Scope.AGENT, "agent": "a"},
            {"scope": Scope.AGENT, "agent": "b"},
        ):
            engine.store.add(draft("one-name", **fields))
        assert engine.listing.count(Filter()) == 4
        with pytest.raises(AlreadyExists) as caught:
            engine.store.add(draft("one-name", scope=Scope.AGENT, agent="b"))
        assert caught.value.details["id"].startswith("agt_")
        assert complaints(place, engine) == []


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Short Answers", "short-answers"),
        ("ＡＢＣ", "abc"),
        ("a--b", "a-b"),
        ("-a-", "a"),
        ("组件 写法", "组件-写法"),
        ("x" * 81, "x" * 80),
        ("straße", "strasse"),
        ("a/b.md", "a-b-md"),
    ],
)
def test_a_name_that_is_no_slug_is_refused_with_one_that_is_taken(place: Place, name: str, suggestion: str) -> None:
    with place.open() as engine:
        with pytest.raises(ValidationFailed) as caught:
            engine.store.add(draft(name))
        assert caught.value.details["suggestion"] == suggestion
        assert engine.store.add(draft(suggestion)).name == suggestion
        with pytest.raises(ValidationFailed):
            engine.store.edit("usr_00000001", Changes(name=name))


@pytest.mark.parametrize("name", ["", "   ", "---", "!?", "😀"])
def test_a_name_without_letter_or_digit_is_refused(place: Place, name: str) -> None:
    with place.open() as engine, pytest.raises(ValidationFailed):
        engine.store.add(draft(name))


@pytest.mark.parametrize(
    "description",
    ["", "  ", "two\nlines", "two\rlines", "two\u2028lines", "two\x85lines", "x" * 201, "nul\0", "half \ud800 pair"],
)
def test_a_description_that_is_not_one_storable_line_is_refused_not_mangled(place: Place, description: str) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("good"))
        with pytest.raises(ValidationFailed):
            engine.store.add(draft("bad", description))
        with pytest.raises(ValidationFailed):
            engine.store.edit(entry.id, Changes(description=description))
        assert engine.listing.entry(entry.id) == entry
        assert complaints(place, engine) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": float("nan")},
        {"confidence": 1.01},
        {"confidence": -0.1},
        {"entities": ("half \ud800 pair",)},
        {"links": ("nul\0",)},
        {"evidence": "nul\0"},
        {"source_session_id": "half \udc00 pair"},
        {"body": "half \ud800 pair"},
        {"body": "nul \0"},
        {"body": "x" * 1_000_001},
    ],
)
def test_what_no_file_can_hold_is_refused_and_leaves_nothing(place: Place, fields: dict[str, object]) -> None:
    with place.open() as engine:
        with pytest.raises(ValidationFailed):
            engine.store.add(replace(draft("bad"), **fields))
        assert everything(engine) == []
        assert complaints(place, engine) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"description": f"token is {TOKEN}"},
        {"body": f"the key:\n{TOKEN}\n"},
        {"entities": (TOKEN,)},
        {"links": (TOKEN,)},
        {"evidence": f"we use {TOKEN}"},
    ],
)
def test_a_secret_is_refused_wherever_it_stands_and_named_by_kind_only(place: Place, fields: dict[str, object]) -> None:
    with place.open() as engine:
        with pytest.raises(SensitiveContent) as caught:
            engine.store.add(replace(draft("deploy"), **fields))
        assert TOKEN not in str(caught.value) + repr(caught.value.details)
        assert caught.value.details["kind"]
        entry = engine.store.add(draft("fine"))
        with pytest.raises(SensitiveContent):
            engine.store.edit(entry.id, Changes(body=f"x {TOKEN}"))
        assert engine.listing.entry(entry.id).version == 1
        assert complaints(place, engine) == []
    assert occurrences(place.home.root, TOKEN.encode()) == []


def test_a_project_memory_needs_a_workspace(place: Place, tmp_path: Path) -> None:
    with place.open(tmp_path / "machine") as engine, pytest.raises(ValidationFailed):
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
    with place.open(Path.home()) as engine, pytest.raises(ValidationFailed):
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
    assert not (tmp_path / "machine" / ".spark-agent").exists()


@pytest.mark.parametrize("agent", [None, "", "..", ".", "a/b", "../../etc", "a\0b", ".hidden", "x" * 65, "a.", "a b"])
def test_an_agent_id_is_one_safe_path_component(place: Place, tmp_path: Path, agent: str | None) -> None:
    before = sorted(tmp_path.rglob("*"))
    with place.open() as engine:
        with pytest.raises(ValidationFailed):
            engine.store.add(draft("a-fact", scope=Scope.AGENT, agent=agent))
        if agent:
            with pytest.raises(ValidationFailed):
                engine.listing.count(Filter(agent=agent))
            with pytest.raises(ValidationFailed):
                engine.inject(Request(AgentProfile(id=agent)))
    new = {path.name for path in tmp_path.rglob("*")} - {path.name for path in before}
    assert not {name for name in new if name.startswith("agt_") or name == "etc"}


def test_the_version_grows_by_one_on_each_effective_change_only(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        place.clock.advance(ms=1000)
        same = engine.store.edit(entry.id, Changes(description="first", body="", type=MemoryType.USER, entities=()))
        assert same == entry
        second = engine.store.edit(entry.id, Changes(description="second"), expected_version=1)
        assert (second.version, second.updated_at) == (2, place.clock.now_ms())
        assert second.created_at == entry.created_at
        renamed = engine.store.edit(entry.id, Changes(name="b-fact", valid_until=date(2030, 1, 1)))
        assert (renamed.id, renamed.name, renamed.version) == (entry.id, "b-fact", 3)
        lasting = engine.store.edit(entry.id, Changes(valid_until=None))
        assert (lasting.valid_until, lasting.version) == (None, 4)
        assert complaints(place, engine) == []


def test_a_change_of_the_body_alone_is_a_change(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", body="old words"))
        assert engine.store.edit(entry.id, Changes(body="new words")).version == 2
        assert matches(engine, "new") == [entry.id]
        assert matches(engine, "old") == []
        assert engine.store.edit(entry.id, Changes(body="")).version == 3
        assert engine.listing.body(entry.id) == ""


def test_a_stale_edit_is_refused_with_both_versions_and_writes_nothing(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        engine.store.edit(entry.id, Changes(description="second"), expected_version=1)
        before = durable(engine), place.path(entry).read_bytes()
        for changes in (Changes(description="third"), Changes(description="second")):
            with pytest.raises(VersionConflict) as caught:
                engine.store.edit(entry.id, changes, expected_version=1)
            assert caught.value.details == {"current_version": 2, "base_version": 1}
        assert (durable(engine), place.path(entry).read_bytes()) == before
        assert complaints(place, engine) == []


def test_a_stale_edit_through_another_engine_is_refused_too(place: Place) -> None:
    with place.open() as one, place.open() as other:
        entry = one.store.add(draft("a-fact", "first"))
        other.store.edit(entry.id, Changes(description="second"), expected_version=1)
        with pytest.raises(VersionConflict):
            one.store.edit(entry.id, Changes(description="third"), expected_version=1)
        assert one.listing.entry(entry.id).description == "second"


def test_a_hand_edit_made_before_saving_is_a_version_of_its_own(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        path = place.path(entry)
        path.write_text(path.read_text("utf-8").replace("first", "by hand"), "utf-8")
        with pytest.raises(VersionConflict) as caught:
            engine.store.edit(entry.id, Changes(description="third"), expected_version=1)
        assert caught.value.details == {"current_version": 2, "base_version": 1}
        assert engine.listing.entry(entry.id).description == "by hand"
        assert engine.store.edit(entry.id, Changes(description="third"), expected_version=2).version == 3
        assert complaints(place, engine) == []


def test_a_rename_into_a_taken_name_is_refused(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("one"))
        two = engine.store.add(draft("two"))
        with pytest.raises(AlreadyExists):
            engine.store.edit(two.id, Changes(name="one"))
        assert engine.listing.entry(two.id) == two
        engine.store.archive([two.id])
        assert engine.store.edit(two.id, Changes(name="one")).name == "one"  # an archived one holds no name
        [result] = engine.store.unarchive([two.id])
        assert not result.ok
        assert state_of(engine, two.id) == "archived"
        assert complaints(place, engine) == []


def test_use_changes_neither_version_nor_time_nor_file(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        file = place.path(entry)
        before, status = file.read_bytes(), file.stat()
        place.clock.advance(days=3)
        for session in ("s1", "s1", "s2", None):
            engine.inject(Request(session=session))
        engine.search("first")
        after = engine.listing.entry(entry.id)
        assert (after.hit_count, after.last_hit_at) == (3, place.clock.now_ms())
        assert replace(after, hit_count=0, last_hit_at=None) == entry
        assert (file.read_bytes(), file.stat().st_mtime_ns) == (before, status.st_mtime_ns)


def test_the_last_applicable_day_still_applies_and_ends_at_the_next_local_midnight(place: Place) -> None:
    day = date(2026, 1, 10)
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "until the tenth", valid_until=day))
        assert entry.valid_until is not None
        assert entry.valid_until.until_ms == day_end_ms(day, place.clock.zone())
        place.clock.ms = entry.valid_until.until_ms - 1
        assert state_of(engine, entry.id) == "active"
        assert matches(engine, "tenth") == [entry.id]
        place.clock.ms += 1
        assert state_of(engine, entry.id) == "expired"
        assert matches(engine, "tenth") == []
        assert engine.inject(Request()).status == "expired"
        assert [each.id for each in engine.listing.window(Filter(state=State.EXPIRED))] == [entry.id]


def test_memory_md_lists_active_entries_newest_first_and_follows_an_expiry(place: Place) -> None:
    with place.open() as engine:
        first = engine.store.add(draft("first", valid_until=date(2026, 1, 1)))
        place.clock.advance(ms=5)
        engine.store.add(draft("second"))
        place.clock.advance(ms=5)
        engine.store.edit(first.id, Changes(description="now newest"))
        folder = place.home.memory_user
        assert [line.split("]")[0] for line in memory_md(folder)] == ["- [first", "- [second"]
        place.clock.advance(days=2)
        engine.refresh()
        assert [line.split("]")[0] for line in memory_md(folder)] == ["- [second"]
        assert memory_md(folder) == expected_memory_md(engine, folder)


def test_memory_md_follows_an_expiry_that_another_process_made_possible(place: Place) -> None:
    with place.open() as long_running:
        long_running.store.add(draft("lasting"))
        with place.open() as other:
            other.store.add(draft("short", valid_until=date(2026, 1, 2)))
        long_running.refresh()
        place.clock.advance(days=3)
        long_running.refresh()
        assert [line.split("]")[0] for line in memory_md(place.home.memory_user)] == ["- [lasting"]


def test_an_expired_holder_gives_its_name_to_a_new_fact_in_one_operation(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("address", "lives in Hangzhou", "old body", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        new = engine.store.add(draft("address", "lives in Suzhou"))
        held = engine.listing.entry(old.id)
        assert (held.invalid_at, held.superseded_by, held.version) == (place.clock.now_ms(), new.id, 2)
        assert state_of(engine, old.id) == "invalid"
        assert state_of(engine, new.id) == "active"
        assert matches(engine, "Suzhou") == [new.id]
        assert f"superseded_by: {new.id}" in place.path(old).read_text("utf-8")
        assert engine.listing.body(old.id) == "old body"
        [edge] = engine.history.derivations(new.id)
        assert (edge.from_id, edge.to_id, edge.kind) == (old.id, new.id, "supersede")
        changes = engine.history.changes(limit=2)
        assert len({change.group for change in changes}) == 1
        assert {change.action for change in changes} == {"add", "supersede"}
        with pytest.raises(AlreadyExists):
            engine.store.add(draft("address", "lives in Ningbo"))
        assert complaints(place, engine) == []


def test_an_archived_entry_that_comes_back_takes_its_name_from_an_expired_holder(place: Place) -> None:
    with place.open() as engine:
        first = engine.store.add(draft("address", "first"))
        engine.store.archive([first.id])
        second = engine.store.add(draft("address", "second", valid_until=date(2026, 1, 1)))
        [refused] = engine.store.unarchive([first.id])
        assert not refused.ok
        place.clock.advance(days=5)
        [result] = engine.store.unarchive([first.id])
        assert (result.outcome, result.version) == ("done", 3)
        assert state_of(engine, first.id) == "active"
        assert engine.listing.entry(second.id).superseded_by == first.id
        assert state_of(engine, second.id) == "invalid"
        assert complaints(place, engine) == []


def test_a_rename_takes_the_name_of_an_expired_holder(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("address", valid_until=date(2026, 1, 1)))
        other = engine.store.add(draft("home"))
        place.clock.advance(days=5)
        engine.store.edit(other.id, Changes(name="address"))
        assert engine.listing.entry(old.id).superseded_by == other.id
        assert complaints(place, engine) == []


def test_an_expired_entry_is_revived_by_a_new_last_day_and_keeps_its_name(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("address", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        assert state_of(engine, entry.id) == "expired"
        engine.store.edit(entry.id, Changes(valid_until=date(2026, 2, 1)))
        assert state_of(engine, entry.id) == "active"
        with pytest.raises(AlreadyExists):
            engine.store.add(draft("address"))
        assert complaints(place, engine) == []


def test_an_older_version_restored_takes_the_name_back_from_an_expired_holder(place: Place) -> None:
    with place.open() as engine:
        first = engine.store.add(draft("address", "first", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        second = engine.store.add(draft("address", "second", valid_until=date(2026, 1, 10)))
        with pytest.raises(AlreadyExists):
            engine.history.restore(first.id, version=1)
        place.clock.advance(days=30)
        engine.history.restore(first.id, version=1)
        assert engine.listing.entry(first.id).invalid_at is None
        assert engine.listing.entry(second.id).superseded_by == first.id
        assert complaints(place, engine) == []


def test_a_past_last_day_is_accepted_and_born_expired(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("address", valid_until=date(2020, 1, 1)))
        assert state_of(engine, entry.id) == "expired"
        new = engine.store.add(draft("address", valid_until=date(2020, 1, 2)))
        assert engine.listing.entry(entry.id).superseded_by == new.id
        assert complaints(place, engine) == []


def test_archive_and_unarchive_are_idempotent_and_reach_file_and_search(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "unmistakable"))
        outcomes = [engine.store.archive([entry.id])[0] for _ in range(2)]
        assert [(each.outcome, each.version) for each in outcomes] == [("done", 2), ("unchanged", 2)]
        assert matches(engine, "unmistakable") == []
        assert engine.inject(Request()).status == "empty"
        assert "archived: 'true'" in place.path(entry).read_text("utf-8").replace('"', "'") or "archived: true" in (
            place.path(entry).read_text("utf-8")
        )
        assert memory_md(place.home.memory_user) == []
        outcomes = [engine.store.unarchive([entry.id])[0] for _ in range(2)]
        assert [(each.outcome, each.version) for each in outcomes] == [("done", 3), ("unchanged", 3)]
        assert matches(engine, "unmistakable") == [entry.id]
        assert complaints(place, engine) == []


def test_bulk_verbs_report_each_id_and_go_on_after_a_failure(place: Place) -> None:
    with place.open() as engine:
        one, two = (engine.store.add(draft(name)) for name in ("one", "two"))
        engine.store.archive([two.id])
        results = engine.store.archive([one.id, "usr_ffffffff", "nonsense", two.id, one.id])
        assert [(each.id, each.outcome) for each in results] == [
            (one.id, "done"),
            ("usr_ffffffff", "NOT_FOUND"),
            ("nonsense", "NOT_FOUND"),
            (two.id, "unchanged"),
            (one.id, "unchanged"),
        ]
        results = engine.store.delete([one.id, "../../etc/passwd", two.id])
        assert [(each.outcome, each.ok) for each in results] == [("done", True), ("NOT_FOUND", False), ("done", True)]
        assert everything(engine) == []


def test_a_deleted_memory_leaves_no_byte_of_its_text_anywhere(place: Place) -> None:
    words = ("zanzibarquux", "kilimanjaroquux", "tanganyikaquux", "xylophonequux", "serengetiquux", "ngorongoroquux")
    kept = "meadowlarkquux"
    with place.open() as engine:
        entry = engine.store.add(
            draft(f"about-{words[0]}", words[1], words[2], entities=(words[3],), links=(words[4],))
        )
        engine.store.add(draft("another", kept))
        engine.store.edit(entry.id, Changes(body=words[5]))  # the first body is in a revision now
        path = place.path(entry)
        path.write_text(path.read_text("utf-8").replace("version", "<<<<<<< version"), "utf-8")
        engine.refresh()
        engine.history.restore(entry.id)  # keeps the broken bytes beside the file
        needles = [word.encode()[:-1] for word in words]  # the index keeps stems
        assert {needle for _, needle in occurrences(place.home.root, *needles)} == set(needles)
        with place.open() as reader:  # another process that has read and sits idle
            reader.search(kept)
            [result] = engine.store.delete([entry.id])
            assert result.outcome == "done"
            assert occurrences(place.home.root, *needles) == []
        assert matches(engine, kept) != []
        with pytest.raises(NotFound):
            engine.listing.entry(entry.id)
        assert engine.history.revisions(entry.id) == []
        assert complaints(place, engine) == []
    assert occurrences(place.home.root, *needles) == []


def test_words_a_reader_kept_in_the_log_are_wiped_at_the_next_look(place: Place) -> None:
    with place.open() as engine, place.open() as reader:
        entry = engine.store.add(draft("about", "zanzibarquux", "tanganyikaquux"))
        with reader.database.read() as connection:  # an old snapshot keeps the log from being emptied
            list(connection.execute("SELECT count(*) FROM memory_entry"))
            assert engine.store.delete([entry.id])[0].outcome == "done"
        engine.refresh()
        assert occurrences(place.home.root, b"zanzibarqu", b"tanganyikaqu") == []


def test_a_memory_deleted_twice_is_gone_all_the_same(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        assert [each.outcome for each in engine.store.delete([entry.id, entry.id])] == ["done", "NOT_FOUND"]
        assert complaints(place, engine) == []


def test_an_id_is_never_given_out_again_while_its_file_is_there(place: Place) -> None:
    with place.open() as engine:
        stray = place.home.memory_user / "usr_00000001.md"
        stray.parent.mkdir(parents=True)
        stray.write_text("no memory at all", "utf-8")
        entry = engine.store.add(draft("a-fact"))
        assert entry.id == "usr_00000002"
        assert stray.read_text("utf-8") == "no memory at all"


def test_a_full_layer_refuses_a_new_entry_until_there_is_room(place: Place) -> None:
    place.configure(memory__quota__user=2)
    with place.open() as engine:
        one = engine.store.add(draft("one"))
        engine.store.add(draft("two", valid_until=date(2026, 1, 1)))
        with pytest.raises(QuotaExceeded) as caught:
            engine.store.add(draft("three"))
        assert (caught.value.details["count"], caught.value.details["quota"]) == (2, 2)
        engine.store.add(draft("three", scope=Scope.AGENT, agent="main"))  # quotas are per layer
        engine.store.archive([one.id])
        three = engine.store.add(draft("three"))
        assert engine.store.unarchive([one.id])[0].outcome == "QUOTA_EXCEEDED"
        assert engine.store.edit(three.id, Changes(description="still editable")).version == 2
        place.clock.advance(days=5)  # the expired one no longer counts
        assert engine.store.unarchive([one.id])[0].outcome == "done"
        assert complaints(place, engine) == []


def test_an_expired_entry_is_not_revived_into_a_full_layer(place: Place) -> None:
    place.configure(memory__quota__user=1)
    with place.open() as engine:
        old = engine.store.add(draft("one", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        engine.store.add(draft("two"))
        with pytest.raises(QuotaExceeded):
            engine.store.edit(old.id, Changes(valid_until=None))
        assert state_of(engine, old.id) == "expired"


def test_an_unknown_id_is_not_found_for_every_verb(place: Place) -> None:
    with place.open() as engine:
        for verb in (
            lambda: engine.store.edit("usr_ffffffff", Changes(description="x")),
            lambda: engine.listing.entry("usr_ffffffff"),
            lambda: engine.listing.body("../../etc/passwd"),
            lambda: engine.history.restore("usr_ffffffff"),
        ):
            with pytest.raises(NotFound):
                verb()


def test_the_project_memory_of_another_workspace_cannot_be_reached(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "only in alpha", scope=Scope.PROJECT))
    with place.open(other) as engine:
        assert everything(engine) == []
        assert matches(engine, "alpha") == []
        assert [each.outcome for each in engine.store.delete([entry.id])] == ["NOT_FOUND"]
        with pytest.raises(NotFound):
            engine.store.edit(entry.id, Changes(description="x"))
    assert place.path(entry).exists()


def test_every_write_is_announced_with_its_ids_and_a_failed_one_is_not(place: Place) -> None:
    facts: list[object] = []
    with place.open() as engine:
        engine.bus.listen(facts.append)
        entry = engine.store.add(draft("a-fact"))
        assert facts == [MemoryChanged((entry.id,))]
        with pytest.raises(AlreadyExists):
            engine.store.add(draft("a-fact"))
        assert len(facts) == 1


def test_files_and_folders_of_the_home_are_for_their_owner_only(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("a-fact", scope=Scope.AGENT, agent="main"))
        engine.store.add(draft("a-fact"))
    for folder in (place.home.memory_user, place.home.memory_agents, place.home.memory_agents / "main"):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0


def test_a_project_folder_that_went_away_is_not_made_again(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        place.project.rename(place.project.with_name("unmounted"))
        for verb in (
            lambda: engine.store.add(draft("b-fact", scope=Scope.PROJECT)),
            lambda: engine.store.edit(entry.id, Changes(description="x")),
        ):
            with pytest.raises(SparkError):
                verb()
        assert engine.store.delete([entry.id])[0].ok is False
        assert not place.project.exists()
        engine.refresh()
        assert state_of(engine, entry.id) == "active"
        place.project.with_name("unmounted").rename(place.project)
        assert complaints(place, engine) == []


def test_a_clock_that_jumps_back_neither_blocks_nor_reorders_versions(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        place.clock.advance(days=-400)
        assert engine.store.edit(entry.id, Changes(description="second")).version == 2
        [revision] = engine.history.revisions(entry.id)
        assert revision.entry.description == "first"
        assert complaints(place, engine) == []
    with place.open(clock=ManualClock(place.clock.ms - 10 * DAY_MS)) as engine:
        assert engine.listing.entry(entry.id).description == "second"
        assert complaints(place, engine) == []


def test_a_file_that_cannot_be_removed_is_reported_as_blocked_and_tried_again_on_request(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "zanzibarquux"))
        with undeletable(place.path(entry)):
            [result] = engine.store.delete([entry.id])
            assert (result.outcome, result.path, result.ok) == ("blocked_locally", str(place.path(entry)), False)
            assert everything(engine) == []
            assert matches(engine, "zanzibarquux") == []
            engine.refresh()
            assert everything(engine) == []
            assert engine.store.delete([entry.id])[0].outcome == "blocked_locally"
        assert engine.store.delete([entry.id])[0].outcome == "done"
        assert not place.path(entry).exists()
        assert complaints(place, engine) == []


def test_a_blocked_file_is_tried_again_at_the_next_start_and_never_comes_back_to_life(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
    with undeletable(place.path(entry)):
        with place.open() as engine:
            assert engine.store.delete([entry.id])[0].outcome == "blocked_locally"
        with place.open() as engine:
            assert everything(engine) == []
            assert place.path(entry).exists()
    with place.open() as engine:
        assert not place.path(entry).exists()
        assert everything(engine) == []
        assert complaints(place, engine) == []
