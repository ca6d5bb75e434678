"""The audit of one's own store: what it must show a person, and what it must leave alone."""

from datetime import date
from pathlib import Path

import pytest

from engine.doors.parts import auditor
from engine.memory.audit import Finding, FindingKind
from engine.memory.audit_words import template_text
from engine.memory.injection import AgentProfile, Request
from engine.memory.model import MemoryType, Scope
from engine.runtime import Engine
from tests.support import Place, draft, run_sql


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home with embedding off, and a project."""
    return Place(tmp_path)


def found(engine: Engine, kind: FindingKind) -> list[Finding]:
    return [each for each in auditor(engine).run().findings if each.kind is kind]


def test_a_clean_store_has_nothing_to_tell(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("tabs", "prefers tabs"))
        engine.store.add(draft("vite", "builds with vite", scope=Scope.PROJECT))
        told = auditor(engine).run()
    assert (told.findings, told.checked) == ((), 2)
    assert told.unchecked == ("near-duplicates: 2 of 2 entries have no vector yet",)


def test_equal_words_are_duplicates_and_the_newest_is_kept(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("one", "Prefers  TABS"))
        place.clock.advance(days=1)
        new = engine.store.add(draft("two", "prefers tabs", scope=Scope.PROJECT))
        (finding,) = found(engine, FindingKind.DUPLICATE)
        assert finding.ids == (new.id, old.id)
        assert finding.fix == f"spark-tui memory archive {old.id}"
        engine.store.archive([old.id])
        assert found(engine, FindingKind.DUPLICATE) == []


def test_equal_descriptions_with_other_texts_are_shown_not_archived(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("one", "prefers tabs", "in Go"))
        engine.store.add(draft("two", "prefers tabs", "in Makefiles"))
        (finding,) = found(engine, FindingKind.DUPLICATE)
        assert "different texts" in finding.why
        assert "memory show" in finding.fix


def test_entries_close_in_meaning_are_shown_side_by_side(tmp_path: Path) -> None:
    place = Place(tmp_path, embedding="local")
    with place.open() as engine:
        one = engine.store.add(draft("pnpm", "Use pnpm for installing packages"))
        two = engine.store.add(draft("package-manager", "Packages are installed with pnpm"))
        engine.store.add(draft("meeting", "团队周会在周三上午十点"))
        engine.store.add(draft("pnpm-here", "Use pnpm for installing the packages", scope=Scope.PROJECT))
        engine.embeddings.fill()
        told = auditor(engine).run()
    near = [each for each in told.findings if each.kind is FindingKind.NEAR_DUPLICATE]
    assert [set(each.ids) for each in near] == [{one.id, two.id}]
    assert told.unchecked == ()


def test_secrets_are_found_in_what_an_older_gate_let_in_and_in_quarantined_files(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("old", "harmless", "text"))
        quarantined = engine.store.add(draft("new", "harmless too"))
    run_sql(place.home.database, f"UPDATE memory_entry SET body = 'AKIAIOSFODNN7EXAMPLE' WHERE id = '{old.id}'")
    with place.path(quarantined).open("a", encoding="utf-8") as file:
        file.write("\n-----BEGIN OPENSSH PRIVATE KEY-----\n")
    with place.open() as engine:
        told = found(engine, FindingKind.SECRET)
    assert {each.ids[0] for each in told} == {old.id, quarantined.id}
    assert all("AKIA" not in each.why and "BEGIN" not in each.why for each in told)
    assert {each.fix for each in told} == {f"spark-tui memory delete {each}" for each in (old.id, quarantined.id)}


def test_one_name_with_different_texts_in_several_layers_is_a_contradiction(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("indent", "tabs"))
        engine.store.add(draft("indent", "spaces", scope=Scope.PROJECT))
        engine.store.add(draft("same", "equal"))
        engine.store.add(draft("same", "equal", scope=Scope.PROJECT))
        (finding,) = found(engine, FindingKind.CONTRADICTION)
        assert finding.names == ("indent", "indent")


def test_a_name_that_was_declared_invalid_and_is_in_use_again_is_shown(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("model", "uses the small one", valid_until=date(2026, 1, 2)))
        place.clock.advance(days=9)
        new = engine.store.add(draft("model", "uses the large one"))
        assert found(engine, FindingKind.CONTRADICTION) == []  # it gave way to its successor, which both know
    run_sql(place.home.database, f"UPDATE memory_entry SET superseded_by = NULL WHERE id = '{old.id}'")
    with place.open() as engine:
        (finding,) = found(engine, FindingKind.CONTRADICTION)
        assert finding.ids == (new.id, old.id)


def test_entries_nobody_touches_are_stale_and_met_ones_are_not(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("old", "written long ago"))
        met = engine.store.add(draft("met", "written long ago, still injected", type=MemoryType.FEEDBACK))
        place.clock.advance(days=300)
        unused = engine.store.add(draft("unused", "never met"))
        place.clock.advance(days=70)
        engine.store.archive([unused.id])
        engine.store.archive([old.id])
        engine.inject(Request(AgentProfile("main"), session="s"))
        engine.store.unarchive([unused.id])
        run_sql(place.home.database, f"UPDATE memory_entry SET archived = 0 WHERE id = '{old.id}'")
        run_sql(
            place.home.database,
            f"UPDATE memory_entry SET updated_at = created_at WHERE id IN ('{old.id}', '{unused.id}')",
        )
        assert [each.ids for each in found(engine, FindingKind.STALE)] == [(old.id,)]
        assert [each.ids for each in found(engine, FindingKind.NEVER_USED)] == [(unused.id,)]
        assert met.id not in {id_ for each in auditor(engine).run().findings for id_ in each.ids}


def test_use_is_not_judged_while_nothing_was_ever_counted(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("n", "never met"))
        place.clock.advance(days=100)
        assert found(engine, FindingKind.NEVER_USED) == []


def test_a_momentary_memory_with_an_end_is_fine(place: Place) -> None:
    with place.open() as engine:
        endless = engine.store.add(draft("one", "the build is red today"))
        engine.store.add(draft("two", "the lint is red today", valid_until=date(2999, 1, 1)))
        (finding,) = found(engine, FindingKind.TRANSIENT)
        assert finding.ids == (endless.id,)
        assert "today" in finding.why
        assert "--valid-until" in finding.fix


@pytest.mark.parametrize(
    ("text", "is_template"),
    [
        ("{{user_name}} likes tea", True),
        ("[insert the reason]", True),
        ("Lorem ipsum dolor", True),
        ("<your preference here>", True),
        ("TODO", True),
        ("待补充", True),
        ("测试", True),
        ("TODO comments carry a ticket number", False),
        ("Vue templates use {{ }} for values", False),
        ("arrays are written as [index]", False),
        ("测试用 pytest", False),
        ("", False),
    ],
)
def test_template_text_is_told_from_text_about_templates(text: str, is_template: bool) -> None:
    assert template_text(text) is is_template
