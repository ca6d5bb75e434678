"""Memories leave as files that open anywhere and come back as they were; others come in through the gates."""

import shutil
from pathlib import Path

import pytest

from engine.doors.parts import exporter, importer
from engine.errors import ValidationFailed
from engine.memory.candidates.model import Action, Origin
from engine.memory.gate_log import Gate, GateLog
from engine.memory.model import MemoryType, Scope, Source, State
from engine.memory.transfer.exporting import INDEX_FILE, ExportOutcome
from engine.memory.transfer.importing import Imported
from engine.memory.transfer.sources import Kind, read_sources
from engine.memory.transfer.verdicts import Outcome, Wish
from engine.runtime import Engine
from tests.support import Place, complaints, draft, durable, everything


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home with embedding off, and a project."""
    return Place(tmp_path / "here")


def import_all(engine: Engine, folder: Path, wish: Wish | None = None) -> dict[str, Imported]:
    """Import a folder; what became of each file, by its name."""
    return {each.file: each for each in importer(engine).run(read_sources(folder), wish or Wish())}


def outcomes(told: dict[str, Imported]) -> dict[str, str]:
    return {file: each.outcome.value for file, each in told.items()}


def test_an_export_comes_back_exactly_in_another_home(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        kept = engine.store.add(draft("kept", "@ odd: text", "body\r\n  indented\n", entities=("Go",)))
        engine.store.edit(kept.id, changes_to("newer"))
        engine.store.archive([engine.store.add(draft("archived")).id])
        engine.store.add(draft("agents", scope=Scope.AGENT, agent="codex"))
        engine.store.add(draft("projects", scope=Scope.PROJECT))
        path = place.path(kept)
        path.write_bytes(path.read_bytes().replace(b"---\n", b"---\n# a comment\nforeign: [1, 2]\n", 1))
        engine.refresh()
        before = durable(engine)
        told = exporter(engine).export(tmp_path / "out")
    assert {each.outcome for each in told} == {ExportOutcome.WRITTEN}
    other = Place(tmp_path / "there")
    with other.open() as engine:
        told_back = import_all(engine, tmp_path / "out")
        assert set(outcomes(told_back).values()) == {"added", "skipped"}
        after = durable(engine)
        for fields, _body in (*before.values(), *after.values()):
            fields["scope_ref"] = None if fields["scope"] == "project" else fields["scope_ref"]
        assert after == before
        assert complaints(other, engine) == []
        assert b"# a comment\nforeign: [1, 2]\n" in (other.home.memory_user / kept.file).read_bytes()
        assert set(outcomes(import_all(engine, tmp_path / "out")).values()) == {"noop", "skipped"}


def changes_to(description: str):  # type: ignore[no-untyped-def]
    from engine.memory.model import Changes

    return Changes(description=description)


def test_the_index_of_an_export_links_every_file(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("tabs", "prefers tabs"))
        exporter(engine).export(tmp_path / "out")
    index = (tmp_path / "out" / INDEX_FILE).read_text("utf-8")
    assert f"- [tabs](user/{entry.file}) — prefers tabs (user)" in index
    assert (tmp_path / "out" / "user" / entry.file).is_file()


def test_an_export_never_overwrites_what_it_did_not_write(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with place.open() as engine:
        entry = engine.store.add(draft("tabs"))
        (out / "user").mkdir(parents=True)
        (out / "user" / entry.file).write_text("somebody's", "utf-8")
        (out / INDEX_FILE).write_text("somebody's too", "utf-8")
        told = exporter(engine).export(out)
        assert [each.outcome for each in told] == [ExportOutcome.KEPT, ExportOutcome.KEPT]
        assert (out / "user" / entry.file).read_text("utf-8") == "somebody's"
        assert (out / INDEX_FILE).read_text("utf-8") == "somebody's too"


def test_a_second_export_renews_its_own_files_and_keeps_edited_ones(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with place.open() as engine:
        one, two = engine.store.add(draft("one")), engine.store.add(draft("two"))
        exporter(engine).export(out)
        (out / "user" / two.file).write_text("edited there", "utf-8")
        engine.store.edit(one.id, changes_to("newer"))
        engine.store.edit(two.id, changes_to("newer"))
        told = {each.id: each.outcome for each in exporter(engine).export(out)}
        assert (told[one.id], told[two.id]) == (ExportOutcome.WRITTEN, ExportOutcome.KEPT)
        assert "newer" in (out / "user" / one.file).read_text("utf-8")


def test_broken_files_are_not_exported_and_the_store_is_no_target(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("n"))
        place.path(entry).write_text("-----BEGIN OPENSSH PRIVATE KEY-----", "utf-8")
        engine.refresh()
        told = exporter(engine).export(tmp_path / "out")
        assert [each.outcome for each in told if each.id] == [ExportOutcome.SKIPPED]
        assert not (tmp_path / "out" / "user").exists()
        for folder in (place.home.memory_user, place.home.memory_user.parent, place.home.memory_user / "sub"):
            with pytest.raises(ValidationFailed):
                exporter(engine).export(folder)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder as Claude Code and people leave it."""
    folder = tmp_path / "notes"
    texts = {
        "MEMORY.md": "- [role](user_role.md) — role\n",
        "user_role.md": "---\nname: User Role\ndescription: backend developer\ntype: user\nsource_url: https://x.example\n---\nLong.\n",
        "proj.md": "---\nname: build\ndescription: builds with vite\ntype: project\n---\n",
        "sub/idea.md": "# An idea\n\nUse queues for mail.\n",
        "leak.md": "# Access\n\npassword: hunter2-and-more\n",
        "broken.md": "---\nname: [\n---\n",
        "CLAUDE.md": "- use tabs\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


EXPECTED = {
    "MEMORY.md": "skipped", "user_role.md": "added", "proj.md": "added", "sub/idea.md": "added", "leak.md": "dropped",
    "broken.md": "dropped", "CLAUDE.md": "queued",
}  # fmt: skip


def test_notes_come_in_through_the_gates_with_their_frontmatter(place: Place, notes: Path) -> None:
    with place.open() as engine:
        told = import_all(engine, notes)
        assert outcomes(told) == EXPECTED
        assert (told["leak.md"].gate, told["broken.md"].gate) == (Gate.SENSITIVE, Gate.INVALID)
        [rule] = engine.candidates.pending()
        assert (told["CLAUDE.md"].id, rule.description, rule.type) == (rule.id, "use tabs", MemoryType.FEEDBACK)
        assert (rule.action, rule.origin, rule.scope) == (Action.ADD, Origin.IMPORT, Scope.USER)
        by_name = {entry.name: entry for entry in everything(engine)}
        assert {name: entry.scope for name, entry in by_name.items()} == {
            "user-role": Scope.USER, "build": Scope.PROJECT, "an-idea": Scope.USER,
        }  # fmt: skip
        role = by_name["user-role"]
        assert (role.source, role.version, role.state(place.clock.now_ms())) == (Source.IMPORT, 1, State.ACTIVE)
        assert engine.listing.body(role.id) == "Long.\n"
        assert "source_url: https://x.example" in place.path(role).read_text("utf-8")
        assert complaints(place, engine) == []
        assert [(drop.name, drop.gate) for drop in GateLog(engine.database).recent(9)] == [
            ("access", Gate.SENSITIVE), ("broken", Gate.INVALID),
        ]  # fmt: skip
        again = import_all(engine, notes)
        assert {file for file, each in again.items() if each.outcome is Outcome.NOOP} == {
            "user_role.md",
            "proj.md",
            "sub/idea.md",
        }
        assert again["CLAUDE.md"].outcome is Outcome.SKIPPED
        assert engine.candidates.count() == 1
    assert (notes / "broken.md").read_text("utf-8") == "---\nname: [\n---\n"


def test_a_dry_run_tells_the_same_and_writes_nothing(place: Place, notes: Path) -> None:
    with place.open() as engine:
        assert outcomes(import_all(engine, notes, Wish(dry_run=True))) == EXPECTED
        assert everything(engine) == []
        assert GateLog(engine.database).count() == 0
        assert engine.candidates.count(states=None) == 0
    assert not (place.project / ".spark-agent").exists()
    assert not place.home.memory_user.exists()


@pytest.mark.parametrize("dry_run", [True, False])
def test_quota_and_names_count_what_this_import_adds(place: Place, tmp_path: Path, dry_run: bool) -> None:
    place.configure(memory__quota__user=3)
    folder = tmp_path / "many"
    for name in ("a/readme.md", "b/readme.md", "c/readme.md", "d/four.md", "e/five.md", "f/six.md"):
        (folder / name).parent.mkdir(parents=True)
        text = "same text" if name[0] in "ac" else f"text of {name}"
        (folder / name).write_text(text, "utf-8")
    with place.open() as engine:
        told = import_all(engine, folder, Wish(dry_run=dry_run))
        assert outcomes(told) == {
            "a/readme.md": "added", "b/readme.md": "dropped", "c/readme.md": "noop", "d/four.md": "added",
            "e/five.md": "added", "f/six.md": "dropped",
        }  # fmt: skip
        assert (told["b/readme.md"].gate, told["f/six.md"].gate) == (Gate.DUPLICATE, Gate.QUOTA)


def test_project_memories_need_a_project_unless_told_where_to_go(place: Place, notes: Path) -> None:
    with place.open(Path("/")) as engine:
        told = import_all(engine, notes)
        assert (told["proj.md"].outcome, told["proj.md"].gate) == (Outcome.DROPPED, Gate.NO_WORKSPACE)
        told = import_all(engine, notes, Wish(Scope.AGENT, "codex"))
        assert (told["proj.md"].outcome, told["proj.md"].scope) == (Outcome.ADDED, Scope.AGENT)
        told = import_all(engine, notes, Wish(Scope.AGENT, ".."))
        assert told["proj.md"].gate is Gate.INVALID


def test_an_expired_holder_gives_its_name_to_an_import(place: Place, tmp_path: Path) -> None:
    from datetime import date

    with place.open() as engine:
        fresh = engine.store.add(draft("model", "the large one"))
        exporter(engine).export(tmp_path / "out")
        engine.store.delete([fresh.id])
        old = engine.store.add(draft("model", "the small one", valid_until=date(2020, 1, 1)))
        told = import_all(engine, tmp_path / "out")
        assert told[f"user/{fresh.file}"].outcome is Outcome.ADDED
        assert engine.listing.entry(old.id).superseded_by == fresh.id
        assert complaints(place, engine) == []


def test_a_memory_that_is_here_with_another_text_is_left_alone(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("n", "exported"))
        exporter(engine).export(tmp_path / "out")
        engine.store.edit(entry.id, changes_to("edited since"))
        told = import_all(engine, tmp_path / "out")[f"user/{entry.file}"]
        assert (told.outcome, told.gate, told.id) == (Outcome.DROPPED, Gate.DUPLICATE, entry.id)
        assert engine.listing.entry(entry.id).description == "edited since"


def test_an_import_can_be_taken_back_as_one_group(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        for name in ("one", "two"):
            engine.store.add(draft(name))
        exporter(engine).export(tmp_path / "out")
    other = Place(tmp_path / "there")
    with other.open() as engine:
        import_all(engine, tmp_path / "out")
        groups = {change.group for change in engine.history.changes()}
        assert len(groups) == 1
        engine.history.undo(groups.pop())
        assert {entry.state(other.clock.now_ms()) for entry in everything(engine)} == {State.ARCHIVED}


def test_an_own_file_for_another_scope_or_without_sense_is_invalid(place: Place, tmp_path: Path) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("n"))
        exporter(engine).export(tmp_path / "out")
        engine.store.delete([entry.id])
        path = tmp_path / "out" / "user" / entry.file
        shutil.copyfile(path, path.with_name("usr_0000abcd.md"))
        path.write_text(path.read_text("utf-8").replace("type: user", "type: odd"), "utf-8")
        told = import_all(engine, tmp_path / "out")
        assert [each.gate for each in told.values() if each.kind is Kind.OWN] == [Gate.INVALID, Gate.INVALID]
        assert everything(engine) == []


SECRET = "ghp_" + "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8"
HEADS = {
    "nested": f"api:\n  github: {SECRET}\n",
    "flow": f"api: {{github: {SECRET}}}\n",
    "label": "password: hunter2-and-more\n",
    "comment": f"# the token is {SECRET}\ntags: [a]\n",
    "a field of ours": f"entities: [{SECRET}]\n",
    "a list of ours": f"links:\n  - {SECRET}\n",
}
KINDS = {
    "note": "title: A note\n",
    "auto-memory": "name: a-note\ndescription: harmless\ntype: user\n",
    "project": "name: a-note\ndescription: harmless\ntype: project\n",
}


def files_below(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()] if folder.exists() else []


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("head", HEADS)
def test_a_secret_in_the_frontmatter_of_a_note_is_never_written(
    place: Place, tmp_path: Path, head: str, kind: str, dry_run: bool
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "n.md").write_text(f"---\n{KINDS[kind]}{HEADS[head]}---\nHarmless.\n", "utf-8")
    with place.open() as engine:
        told = import_all(engine, folder, Wish(dry_run=dry_run))["n.md"]
        assert (told.outcome, told.gate) == (Outcome.DROPPED, Gate.SENSITIVE)
        assert (everything(engine), engine.history.changes()) == ([], [])
        assert SECRET not in told.reason
    assert files_below(place.home.memory_user) == []
    assert not (place.project / ".spark-agent").exists()


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("scope", [Scope.USER, Scope.PROJECT])
def test_a_secret_somebody_wrote_into_the_head_of_an_exported_file_stays_out(
    place: Place, tmp_path: Path, scope: Scope, dry_run: bool
) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("n", scope=scope))
        exporter(engine).export(tmp_path / "out")
    path = tmp_path / "out" / scope.value / entry.file
    path.write_text(path.read_text("utf-8").replace("---\n", f"---\n{HEADS['nested']}", 1), "utf-8")
    with Place(tmp_path / "there").open() as engine:
        told = import_all(engine, path.parent, Wish(dry_run=dry_run))[entry.file]
        assert (told.outcome, told.gate) == (Outcome.DROPPED, Gate.SENSITIVE)
        assert everything(engine) == []


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_note_whose_frontmatter_no_memory_may_have_is_dropped_before_it_is_written(
    place: Place, tmp_path: Path, dry_run: bool
) -> None:
    (tmp_path / "n.md").write_text("---\ntitle: A note\nvalid_until: some day\n---\nText.\n", "utf-8")
    with place.open() as engine:
        told = import_all(engine, tmp_path / "n.md", Wish(dry_run=dry_run))["n.md"]
        assert (told.outcome, told.gate) == (Outcome.DROPPED, Gate.INVALID)
        assert everything(engine) == []


def test_harmless_frontmatter_still_comes_along(place: Place, tmp_path: Path) -> None:
    text = "---\ntitle: A note # mine\nid: 202401011230\naliases: {de: Notiz}\n---\nText.\n"
    (tmp_path / "n.md").write_text(text, "utf-8")
    with place.open() as engine:
        told = import_all(engine, tmp_path / "n.md")["n.md"]
        assert told.outcome is Outcome.ADDED
        [entry] = everything(engine)
        assert entry.file_state is None
        assert "aliases: {de: Notiz}" in place.path(entry).read_text("utf-8")


LONG = "always " + "explain what a change does to the people who use it " * 6 + "in the pull request"


@pytest.mark.parametrize("dry_run", [True, False])
def test_rules_wait_for_the_person_each_once_and_whatever_their_number(
    place: Place, tmp_path: Path, dry_run: bool
) -> None:
    place.configure(memory__quota__user=1)
    folder = tmp_path / "rules"
    folder.mkdir()
    many = [f"- rule number {n}" for n in range(40)]
    odd = [
        "- use tabs",
        "- use tabs",
        "- 先给结论",
        f"- {LONG}",
        "- !!!",
        "- password: hunter2-and-more",
        "- known rule",
    ]
    (folder / "AGENTS.md").write_text("\n".join([*many, *odd]), "utf-8")
    with place.open() as engine:
        engine.store.add(draft("known-rule", "known rule"))
        told = list(importer(engine).run(read_sources(folder), Wish(dry_run=dry_run)))
        assert [each.outcome.value for each in told[40:]] == [
            "queued", "skipped", "queued", "queued", "dropped", "dropped", "noop",
        ]  # fmt: skip
        assert {each.outcome for each in told[:40]} == {Outcome.QUEUED}
        assert engine.candidates.count() == (0 if dry_run else 43)
        if not dry_run:
            long = engine.candidates.get(told[43].id or "").candidate
            assert (len(long.description) <= 200, long.body) == (True, LONG)


def test_a_rule_for_the_project_waits_there(place: Place, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("- use tabs\n", "utf-8")
    with place.open() as engine:
        list(importer(engine).run(read_sources(tmp_path / "CLAUDE.md"), Wish(Scope.PROJECT)))
        [rule] = engine.candidates.pending()
        entry = engine.candidates.confirm(rule.id, rule.digest)
        assert (entry.scope, place.path(entry).exists()) == (Scope.PROJECT, True)
    with place.open(Path("/")) as engine:
        told = import_all(engine, tmp_path / "CLAUDE.md", Wish(Scope.PROJECT))["CLAUDE.md"]
        assert (told.outcome, told.gate) == (Outcome.DROPPED, Gate.NO_WORKSPACE)
