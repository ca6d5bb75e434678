"""Files are the truth: rebuilt from them, changed by hand, by git and by accident, and never mixed (02 §1)."""

import json
import os
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from engine.errors import AlreadyExists, ValidationFailed
from engine.memory.injection import AgentProfile, Request
from engine.memory.listing import Filter
from engine.memory.model import AuthorRole, Changes, Entry, MemoryType, Scope, State
from engine.runtime import Engine
from tests.support import (
    Place,
    complaints,
    draft,
    durable,
    everything,
    matches,
    memory_md,
    run_python,
    state_of,
)

TOKEN = "ghp_" + "Q9w8E7r6T5y4U3i2O1p0A9s8D7f6G5h4J3k2"
QUERIES = ("short", "vite 构建", "偏好", "body", "hangzhou", "nothing-of-the-kind")


def fill(place: Place, engine: Engine) -> dict[str, Entry]:
    """One entry for each thing that can be true of one."""
    add = engine.store.add
    made = {
        "plain": add(draft("short-answers", "prefers short answers", "Because.\n\n**Why:** time\n")),
        "project": add(
            draft(
                "build",
                "项目用 vite 构建",
                "正文",
                scope=Scope.PROJECT,
                type=MemoryType.PROJECT,
                entities=("Vite", "C++"),
            )
        ),
        "agent": add(
            draft("review", "偏好先给结论: 'yes' # no", scope=Scope.AGENT, agent="main", type=MemoryType.FEEDBACK)
        ),
        "expired": add(draft("address", "lives in hangzhou", valid_until=date(2026, 1, 1))),
        "lasting": add(draft("lease", "ends on the 31st", valid_until=date(2027, 12, 31), links=("usr_00000001", "b"))),
        "archived": add(draft("old-habit", "no longer true", "  indented\r\n\ttabs\r\n")),
        "edited": add(draft("tricky", '@lead: "yes" --- 1e3 🎉', "---\nnot: frontmatter\n---\n")),
    }
    place.clock.advance(days=5)
    made["new"] = add(draft("address", "lives in suzhou"))  # takes the expired name over
    engine.store.archive([made["archived"].id])
    engine.store.edit(made["edited"].id, Changes(confidence=0.25, body="changed\n"), author=AuthorRole.EXTRACTION)
    return made


def found(engine: Engine) -> dict[str, list[tuple[str, float]]]:
    """What searches answer, with their scores."""
    return {
        query: [(hit.entry.id, round(hit.score, 9)) for hit in engine.search(query, limit=20).hits] for query in QUERIES
    }


@pytest.mark.parametrize("vanish", ["unlink", "truncate", "garbage"])
def test_without_its_database_a_home_comes_back_the_same_from_its_files(place: Place, vanish: str) -> None:
    with place.open() as engine:
        fill(place, engine)
        before = durable(engine), found(engine), engine.inject(Request(AgentProfile("main"))).block
        order = engine.listing.ids(Filter())
        lists = {folder: memory_md(folder) for folder in place.folders()}
        files = {path: path.read_bytes() for folder in place.folders() for path in folder.iterdir()}
    for path in place.home.root.glob("spark.db*"):
        path.unlink()
    if vanish == "truncate":
        place.home.database.write_bytes(b"")
    if vanish == "garbage":
        place.home.database.write_bytes(b"not a database" * 1000)
    with place.open() as engine:
        assert (durable(engine), found(engine), engine.inject(Request(AgentProfile("main"))).block) == before
        assert engine.listing.ids(Filter()) == order
        assert {folder: memory_md(folder) for folder in place.folders()} == lists
        assert {path: path.read_bytes() for folder in place.folders() for path in folder.iterdir()} == files
        assert engine.history.changes() == []  # a rebuild is no change
        assert engine.database.opening.created
        assert complaints(place, engine) == []


def test_a_rebuild_never_activates_what_was_archived_or_invalid(place: Place) -> None:
    with place.open() as engine:
        made = fill(place, engine)
    place.home.database.unlink()
    with place.open() as engine:
        assert state_of(engine, made["archived"].id) == "archived"
        assert state_of(engine, made["expired"].id) == "invalid"
        assert state_of(engine, made["new"].id) == "active"


def edit_file(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def test_a_body_changed_by_hand_is_a_new_version_by_the_person(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "typed", confidence=0.7))
        engine.store.edit(entry.id, Changes(body="by a model"), author=AuthorRole.EXTRACTION)
    edit_file(place.path(entry), "by a model", "by hand, ünïcode 手写")
    place.clock.advance(days=1)
    with place.open() as engine:
        adopted = engine.listing.entry(entry.id)
        assert (adopted.version, adopted.author_role) == (3, AuthorRole.MANUAL_USER)
        assert (adopted.updated_at, adopted.created_at) == (place.clock.now_ms(), entry.created_at)
        assert engine.listing.body(entry.id) == "by hand, ünïcode 手写"
        assert matches(engine, "手写") == [entry.id]
        assert [each.body for each in engine.history.revisions(entry.id)] == ["by a model", "typed"]
        line = engine.history.changes(limit=1)[0]
        assert (line.action, line.fields, line.author) == ("hand-edit", ("body",), AuthorRole.MANUAL_USER)
        assert complaints(place, engine) == []  # the file itself says version 3 as well
        engine.history.undo(line.group)
        assert engine.listing.body(entry.id) == "by a model"


def test_a_frontmatter_only_edit_counts_and_everything_else_in_the_file_stays(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "body stays\r\n\n  as it is  "))
    path = place.path(entry)
    edit_file(path, "---\nid:", "---\n# a comment\nmy_tags: [a, b]   # kept\nnested:\n  deep: {x: 1}\nid:")
    edit_file(path, "description: first", "description: second")
    by_hand = path.read_bytes().decode()
    with place.open() as engine:
        adopted = engine.listing.entry(entry.id)
        assert (adopted.description, adopted.version) == ("second", 2)
        engine.store.edit(entry.id, Changes(description="third", type=MemoryType.REFERENCE))
        now = path.read_bytes().decode()
        # Line by line: only the lines of our own fields that changed differ from what the hand wrote.
        ours = ("description:", "version:", "updated_at:", "type:", "author_role:")
        assert [line for line in by_hand.split("\n") if not line.startswith(ours)] == [
            line for line in now.split("\n") if not line.startswith(ours)
        ]
        assert engine.listing.body(entry.id) == "body stays\r\n\n  as it is  "
        assert complaints(place, engine) == []


def test_an_edit_of_a_foreign_key_alone_is_adopted_without_a_new_version(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
    edit_file(place.path(entry), "---\nid:", "---\nmine: yes\nid:")
    changed = place.path(entry).read_bytes()
    with place.open() as engine:
        assert engine.listing.entry(entry.id) == entry
        assert place.path(entry).read_bytes() == changed
        assert engine.history.changes(limit=9) == [engine.history.changes()[-1]]
        assert complaints(place, engine) == []


def test_a_file_that_was_only_touched_is_no_change(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        os.utime(place.path(entry), ns=(1, 1))
        assert engine.refresh() == []
        assert engine.listing.entry(entry.id) == entry
        assert engine.refresh() == []


def test_a_hand_edit_can_archive_rename_and_bring_back(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        path = place.path(entry)
        edit_file(path, "version:", "archived: yes\nversion:")
        assert engine.refresh() == [entry.id]
        assert state_of(engine, entry.id) == "archived"
        path.write_text("".join(x for x in path.read_text("utf-8").splitlines(True) if "archived" not in x), "utf-8")
        edit_file(path, "name: a-fact", "name: b-fact")
        engine.refresh()
        now = engine.listing.entry(entry.id)
        assert (now.name, now.version, state_of(engine, entry.id)) == ("b-fact", 3, "active")
        engine.store.add(draft("a-fact"))
        assert complaints(place, engine) == []


BREAKS = {
    "conflict markers": lambda data: data.replace(b"name:", b"<<<<<<< HEAD\nname:").replace(
        b"type:", b"=======\ntype:"
    ),
    "markers in the body": lambda data: data + b"\n<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> theirs\n",
    "broken yaml": lambda data: data.replace(b"name: ", b'name: "unclosed '),
    "no frontmatter": lambda data: b"just text\n",
    "no closing fence": lambda data: data.replace(b"\n---\n", b"\n"),
    "empty": lambda data: b"",
    "binary": lambda data: bytes(range(256)) * 4,
    "wrong id": lambda data: data.replace(b"usr_00000001", b"usr_0000000f"),
    "another scope": lambda data: data.replace(b"scope: user", b"scope: project"),
    "unknown type": lambda data: data.replace(b"type: user", b"type: gossip"),
    "two lines of description": lambda data: data.replace(b"description: first", b'description: "first\\nsecond"'),
    "a name that is no slug": lambda data: data.replace(b"name: a-fact", b"name: A Fact"),
    "no description": lambda data: data.replace(b"description: first\n", b""),
    "no version number": lambda data: data.replace(b"version:", b"version: many #"),
    "confidence of two": lambda data: data.replace(b"confidence:", b"confidence: 2 #"),
    "no such day": lambda data: data.replace(b"type: user", b"type: user\nvalid_until: 2026-02-30"),
    "no such time": lambda data: data.replace(b"created_at:", b"created_at: yesterday #"),
    "a secret in the body": lambda data: data + b" " + TOKEN.encode(),
    "a secret in the description": lambda data: data.replace(b": first", b": first " + TOKEN.encode()),
    "a secret in a key of one's own": lambda data: data.replace(b"type: user", b"type: user\nmine: " + TOKEN.encode()),
    "half a surrogate pair": lambda data: data.replace(b"type: user", b'type: user\nentities: ["\\uD800"]'),
}


@pytest.mark.parametrize("kind", BREAKS)
def test_a_file_that_is_no_memory_any_more_is_quarantined_untouched_and_told(place: Place, kind: str) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", "original words"))
        kept = engine.store.add(draft("b-fact", "untouched"))
    path = place.path(entry)
    broken = BREAKS[kind](path.read_bytes())
    assert broken != path.read_bytes()
    path.write_bytes(broken)
    with place.open() as engine:
        now = engine.listing.entry(entry.id)
        assert (now.state(place.clock.now_ms()), now.version) == (State.QUARANTINED, 1)
        assert now.file_reason
        assert TOKEN not in now.file_reason
        assert "original" not in now.file_reason
        assert path.read_bytes() == broken
        assert matches(engine, "original") == []
        assert [each.id for each in engine.listing.window(Filter())] == [kept.id]
        assert memory_md(path.parent) == [f"- [b-fact]({kept.file}) — untouched"]
        for verb in (
            lambda: engine.store.edit(entry.id, Changes(description="x")),
            lambda: engine.store.edit(entry.id, Changes(body="y")),
        ):
            with pytest.raises(ValidationFailed):
                verb()
        assert not engine.store.archive([entry.id])[0].ok
        assert path.read_bytes() == broken
        assert engine.refresh() == []
        assert engine.history.restore(entry.id).version == 2
        assert engine.listing.body(entry.id) == "original words"
        assert state_of(engine, entry.id) == "active"


def test_a_quarantined_file_that_is_mended_by_hand_is_active_again(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        path = place.path(entry)
        good = path.read_bytes()
        path.write_bytes(b"<<<<<<<")
        engine.refresh()
        path.write_bytes(good)
        assert engine.refresh() == [entry.id]
        assert engine.listing.entry(entry.id) == entry
        path.write_bytes(b"<<<<<<<")
        engine.refresh()
        path.write_bytes(good.replace(b"first", b"merged"))
        engine.refresh()
        now = engine.listing.entry(entry.id)
        assert (now.description, now.version, state_of(engine, entry.id)) == ("merged", 2, "active")
        assert complaints(place, engine) == []


def test_a_quarantined_file_can_be_deleted(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        place.path(entry).write_bytes(b"<<<<<<<")
        (place.home.memory_user / "stray.md").write_text("no memory", "utf-8")
        engine.refresh()
        assert [each.outcome for each in engine.store.delete([entry.id, "stray"])] == ["done", "done"]
        assert [path.name for path in place.home.memory_user.iterdir()] == ["MEMORY.md"]
        assert memory_md(place.home.memory_user) == []


def test_a_vanished_file_is_missing_not_deleted_and_active_again_when_it_returns(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        path = place.path(entry)
        away = path.rename(path.with_suffix(".away"))
        assert engine.refresh() == [entry.id]
        assert state_of(engine, entry.id) == "missing"
        assert matches(engine, "first") == []
        assert memory_md(path.parent) == []
        assert engine.refresh() == []
        away.rename(path)
        assert engine.refresh() == [entry.id]
        assert engine.listing.entry(entry.id) == entry
        assert matches(engine, "first") == [entry.id]
        assert complaints(place, engine) == []


def test_a_whole_agent_folder_that_vanished_is_missing_not_forgotten(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.AGENT, agent="main"))
    shutil.rmtree(place.home.memory_agents)
    with place.open() as engine:
        assert state_of(engine, entry.id) == "missing"
        engine.history.restore(entry.id)
        assert state_of(engine, entry.id) == "active"
        assert complaints(place, engine) == []


def test_a_missing_entry_can_be_deleted_for_good(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        place.path(entry).unlink()
        engine.refresh()
        assert engine.store.delete([entry.id])[0].outcome == "done"
        assert everything(engine) == []


def test_a_higher_version_from_a_merge_is_taken_as_it_is(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", scope=Scope.PROJECT))
    clone = Place(place.project.parent.parent / "elsewhere")
    shutil.copytree(place.project, clone.project, dirs_exist_ok=True)
    clone.clock.advance(days=2)
    with clone.open() as engine:
        for text in ("second", "third"):
            theirs = engine.store.edit(entry.id, Changes(description=text), author=AuthorRole.EXTRACTION)
    merged = clone.path(entry).read_bytes()
    place.path(entry).write_bytes(merged)
    with place.open() as engine:
        assert engine.listing.entry(entry.id) == theirs
        assert place.path(entry).read_bytes() == merged
        assert [each.entry.description for each in engine.history.revisions(entry.id)] == ["first"]
        line = engine.history.changes(limit=1)[0]
        assert (line.action, line.author, line.before, line.after) == ("adopt", AuthorRole.EXTRACTION, 1, 3)
        assert complaints(place, engine) == []


def test_an_older_version_checked_out_is_a_new_version_here(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        old = place.path(entry).read_bytes()
        engine.store.edit(entry.id, Changes(description="second"))
        place.path(entry).write_bytes(old)
        engine.refresh()
        now = engine.listing.entry(entry.id)
        assert (now.description, now.version, now.author_role) == ("first", 3, AuthorRole.MANUAL_USER)
        assert complaints(place, engine) == []


def test_a_copied_file_is_quarantined_and_the_original_unharmed(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        copy = place.path(entry).with_name("usr_0000abcd.md")
        shutil.copy(place.path(entry), copy)
        other = place.path(entry).with_name("my copy.md")
        shutil.copy(place.path(entry), other)
        engine.refresh()
        assert state_of(engine, entry.id) == "active"
        assert state_of(engine, "usr_0000abcd") == state_of(engine, "my copy") == "quarantined"
        assert "id" in str(engine.listing.entry("usr_0000abcd").file_reason)
        copy.unlink()
        other.unlink()
        engine.refresh()
        assert [each.id for each in everything(engine)] == [entry.id]  # what never was a memory is not missed
        assert complaints(place, engine) == []


def test_two_files_of_one_name_never_are_active_at_once_and_the_second_comes_in_when_the_first_leaves(
    place: Place,
) -> None:
    with place.open() as engine:
        first = engine.store.add(draft("a-fact", "first"))
        twin = place.path(first).with_name("usr_0000beef.md")
        twin.write_bytes(place.path(first).read_bytes().replace(b"usr_00000001", b"usr_0000beef"))
        engine.refresh()
        assert (state_of(engine, first.id), state_of(engine, "usr_0000beef")) == ("active", "quarantined")
        assert first.id in str(engine.listing.entry("usr_0000beef").file_reason)
        assert engine.refresh() == []
        engine.store.archive([first.id])
        assert engine.refresh() == ["usr_0000beef"]
        assert (state_of(engine, first.id), state_of(engine, "usr_0000beef")) == ("archived", "active")
        assert complaints(place, engine) == []


def test_of_two_new_files_with_one_name_one_is_taken(place: Place) -> None:
    folder = place.home.memory_user
    folder.mkdir(parents=True)
    for name in ("usr_0000000a.md", "usr_0000000b.md"):
        (folder / name).write_text("---\ntype: user\nname: a-fact\ndescription: by hand\n---\n", "utf-8")
    with place.open() as engine:
        assert (state_of(engine, "usr_0000000a"), state_of(engine, "usr_0000000b")) == ("active", "quarantined")
        assert complaints(place, engine) == []


def test_a_minimal_file_made_by_hand_becomes_a_memory_and_gets_the_rest_written_into_it(place: Place) -> None:
    folder = place.home.memory_user
    folder.mkdir(parents=True)
    (folder / "usr_0000cafe.md").write_text(
        "---\n# mine\ntype: feedback\nname: 先给结论\ndescription: answer first\n---\nbody\n", "utf-8"
    )
    with place.open() as engine:
        entry = engine.listing.entry("usr_0000cafe")
        assert (entry.version, entry.confidence, entry.author_role) == (1, 1.0, AuthorRole.MANUAL_USER)
        assert state_of(engine, entry.id) == "active"
        assert engine.listing.body(entry.id) == "body\n"
        text = place.path(entry).read_text("utf-8")
        assert "# mine" in text
        assert "id: usr_0000cafe" in text
        assert [each.action for each in engine.history.changes()] == ["adopt"]
        kept = durable(engine)
        assert complaints(place, engine) == []
    place.home.database.unlink()
    with place.open() as engine:
        assert durable(engine) == kept


def test_new_files_by_hand_pass_the_quota_and_come_in_when_there_is_room(place: Place) -> None:
    place.configure(memory__quota__user=2)
    folder = place.home.memory_user
    folder.mkdir(parents=True)
    for number in range(4):
        (folder / f"usr_0000000{number}.md").write_text(
            f"---\ntype: user\nname: fact-{number}\ndescription: by hand\n---\n", "utf-8"
        )
    with place.open() as engine:
        assert engine.listing.count(Filter()) == 2
        waiting = engine.listing.ids(Filter(state=State.QUARANTINED))
        assert len(waiting) == 2
        assert "full" in str(engine.listing.entry(waiting[0]).file_reason)
        engine.store.archive(engine.listing.ids(Filter())[:1])
        engine.refresh()
        assert engine.listing.count(Filter()) == 2
        assert len(engine.listing.ids(Filter(state=State.QUARANTINED))) == 1
        assert complaints(place, engine) == []


def test_a_hand_made_file_takes_the_name_of_an_expired_holder(place: Place) -> None:
    with place.open() as engine:
        old = engine.store.add(draft("address", "old", valid_until=date(2026, 1, 1)))
        place.clock.advance(days=5)
        path = place.home.memory_user / "usr_0000cafe.md"
        path.write_text("---\ntype: user\nname: address\ndescription: new\n---\n", "utf-8")
        engine.refresh()
        assert state_of(engine, "usr_0000cafe") == "active"
        assert engine.listing.entry(old.id).superseded_by == "usr_0000cafe"
        assert state_of(engine, old.id) == "invalid"
        assert complaints(place, engine) == []


def test_a_name_freed_by_hand_is_free_at_once(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        edit_file(place.path(entry), "name: a-fact", "name: b-fact")
        assert engine.store.add(draft("a-fact")).version == 1
        with pytest.raises(AlreadyExists):
            engine.store.add(draft("b-fact"))
        assert complaints(place, engine) == []


def test_a_moved_repository_keeps_its_memories_their_use_and_their_history(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        engine.store.edit(entry.id, Changes(description="second"))
        engine.inject(Request(session="s"))
    place.project = place.project.rename(place.project.with_name("moved"))
    with place.open() as engine:
        assert engine.listing.entry(entry.id).hit_count == 1
        assert len(engine.history.revisions(entry.id)) == 1
        assert [(ref, root) for ref, root, _ in engine.layers.known_workspaces()] == [(entry.scope_ref, place.project)]
        assert complaints(place, engine) == []


def test_two_clones_with_the_same_ids_never_mix(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "common", scope=Scope.PROJECT))
        gone = engine.store.add(draft("b-fact", scope=Scope.PROJECT))
    clone = place.project.parent / "clone"
    shutil.copytree(place.project, clone)
    with place.open(clone) as there:
        there.store.edit(entry.id, Changes(description="only in the clone"))
        there.store.delete([gone.id])
        there.inject(Request(session="s"))
        assert len(there.layers.known_workspaces()) == 2
    with place.open() as here:
        assert here.listing.entry(entry.id).description == "common"
        assert state_of(here, gone.id) == "active"
        assert here.listing.entry(entry.id).hit_count == 0
        assert matches(here, "clone") == []
        assert here.history.revisions(entry.id) == []
        assert complaints(place, here) == []
    with place.open(clone) as there:
        assert matches(there, "clone") == [entry.id]


def test_a_workspace_whose_root_is_gone_is_not_missing(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        user = engine.store.add(draft("a-fact"))
        away = place.project.rename(place.project.with_name("unmounted"))
        engine.refresh()
        assert state_of(engine, entry.id) == "active"
    with place.open(place.home.root.parent) as engine:
        assert [each.id for each in everything(engine)] == [user.id]
        assert len(engine.layers.known_workspaces()) == 1
    away.rename(place.project)
    with place.open() as engine:
        assert engine.listing.entry(entry.id) == entry


def test_linked_worktrees_share_the_project_of_the_main_checkout(place: Place) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", *identity, *words], cwd=place.project, check=True, capture_output=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "start")
    git("worktree", "add", "-q", "../tree")
    with place.open(place.project.parent / "tree") as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
    assert place.path(entry).is_file()
    with place.open() as engine:
        assert [each.id for each in everything(engine)] == [entry.id]
        status = subprocess.run(["git", "status", "--porcelain"], cwd=place.project, capture_output=True, text=True)
        assert entry.id not in status.stdout  # private until someone chooses to commit it


def test_foreign_files_and_folders_among_memories_are_left_alone(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        folder = place.home.memory_user
        (folder / "notes.txt").write_text("not markdown", "utf-8")
        (folder / ".hidden.md").write_text("hidden", "utf-8")
        (folder / "folder.md").mkdir()
        (folder / "usr_00000002.md").mkdir()
        (folder / "dangling.md").symlink_to("nowhere")
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.md")).write_text("name is no UTF-8", "utf-8")
        engine.refresh()
        assert [each.id for each in everything(engine)] == [entry.id]
        assert engine.store.add(draft("b-fact")).id not in ("usr_00000002", entry.id)
        assert engine.refresh() == []


def test_a_memory_file_that_cannot_be_read_is_quarantined_with_the_systems_reason(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        path = place.path(entry)
        path.unlink()
        path.symlink_to(path)  # a loop: nobody can open it
        engine.refresh()
        assert state_of(engine, entry.id) in ("quarantined", "missing")
        assert not engine.store.archive([entry.id])[0].ok
        path.unlink()
        engine.refresh()
        assert engine.history.restore(entry.id).version == 2


def test_the_watchable_facts_name_what_a_refresh_adopted(place: Place) -> None:
    facts: list[object] = []
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        engine.bus.listen(facts.append)
        edit_file(place.path(entry), "first", "second")
        assert engine.refresh() == [entry.id]
        assert entry.id in {each for fact in facts for each in fact.ids}
        facts.clear()
        assert engine.refresh() == []
        assert facts == []


def test_the_name_of_a_memory_in_a_file_of_unix_and_windows_line_ends_reads_the_same(place: Place) -> None:
    folder = place.home.memory_user
    folder.mkdir(parents=True)
    text = "\ufeff---\r\ntype: user\r\nname: a-fact\r\ndescription: from windows\r\n---\r\nbody\r\n"
    (folder / "usr_0000cafe.md").write_bytes(text.encode())
    with place.open() as engine:
        assert engine.listing.entry("usr_0000cafe").description == "from windows"
        assert engine.listing.body("usr_0000cafe") == "body\r\n"
        engine.store.edit("usr_0000cafe", Changes(description="changed"))
        data = (folder / "usr_0000cafe.md").read_bytes()
        assert data.startswith(b"\xef\xbb\xbf---\r\n")
        assert data.count(b"\n") == data.count(b"\r\n")
        assert complaints(place, engine) == []


def test_a_store_of_thousands_is_rebuilt_in_batches(place: Place) -> None:
    place.configure(memory__quota__user=5000)
    with place.open() as engine:
        template = place.path(engine.store.add(draft("entry-0", "number 0"))).read_text("utf-8")
    for number in range(2, 1203):
        text = template.replace("usr_00000001", f"usr_{number:08x}").replace("entry-0", f"entry-{number}")
        (place.home.memory_user / f"usr_{number:08x}.md").write_text(text, "utf-8")
    place.home.database.unlink()
    with place.open() as engine:
        assert engine.listing.count(Filter()) == 1202
        assert len(memory_md(place.home.memory_user)) == 1202
        assert engine.refresh() == []


def test_a_broken_workspace_json_costs_the_project_alone_and_is_left_as_it_is(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        user = engine.store.add(draft("a-fact"))
    identity = place.project / ".spark-agent" / "workspace.json"
    good = identity.read_text("utf-8")
    for text in ("{", "[]", json.dumps({"id": "../../etc"})):
        identity.write_text(text, "utf-8")
        with place.open() as engine:
            assert [each.id for each in everything(engine)] == [user.id]
            with pytest.raises(ValidationFailed):
                engine.store.add(draft("b-fact", scope=Scope.PROJECT))
        assert identity.read_text("utf-8") == text
    identity.write_text(good, "utf-8")
    with place.open() as engine:
        assert engine.listing.entry(entry.id) == entry


def test_memories_copied_to_another_agent_never_stand_in_for_their_originals(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "original", scope=Scope.AGENT, agent="main"))
    shutil.copytree(place.home.memory_agents / "main", place.home.memory_agents / "aaa")
    for rebuild in (False, True):  # "aaa" is read first
        if rebuild:
            place.home.database.unlink()
        with place.open() as engine:
            assert [(each.id, each.scope_ref) for each in engine.listing.window(Filter())] == [(entry.id, "main")]
            [copy] = engine.listing.window(Filter(state=State.QUARANTINED))
            assert "agent main" in str(copy.file_reason)
            assert engine.listing.entry(entry.id).scope_ref == "main"
            # An id that lies in two folders tells nobody which one is meant.
            with pytest.raises(ValidationFailed):
                engine.store.edit(entry.id, Changes(description="changed"))
            assert engine.store.delete([entry.id])[0].outcome == "VALIDATION_FAILED"
    assert place.path(entry).exists()
    shutil.rmtree(place.home.memory_agents / "aaa")
    with place.open() as engine:
        assert engine.store.edit(entry.id, Changes(description="changed")).version == 2
        assert complaints(place, engine) == []


def test_a_renamed_agent_keeps_its_memories_with_use_and_history(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", scope=Scope.AGENT, agent="main", entities=("Vite",)))
        engine.store.edit(entry.id, Changes(description="second"))
        engine.inject(Request(AgentProfile("main"), session="s"))
    for name in ("aaa", "zzz"):  # read before and after the folder it left
        old = next(place.home.memory_agents.iterdir())
        old.rename(place.home.memory_agents / name)
        with place.open() as engine:
            [now] = everything(engine)
            assert (now.id, now.scope_ref, now.version, now.hit_count) == (entry.id, name, 2, 1)
            assert state_of(engine, entry.id) == "active"
            assert len(engine.history.revisions(entry.id)) == 1
            assert len(engine.history.changes()) == 2
            assert matches(engine, "second") == [entry.id]
            assert engine.listing.facets().entities == (("Vite", 1),)
    with place.open() as engine:
        assert engine.store.edit(entry.id, Changes(description="third")).version == 3
        assert complaints(place, engine) == []


READ_ONLY_PROJECT = """
import sys
from pathlib import Path
from engine.errors import SparkError
from engine.memory.listing import Filter
from engine.memory.model import Changes
from engine.paths import find_home
from engine.runtime import open_engine
with open_engine(find_home(Path(sys.argv[1])), Path(sys.argv[2])) as engine:
    for entry in sorted(engine.listing.window(Filter(state=None)), key=lambda each: each.id):
        print(entry.id, entry.description, entry.state(engine.clock.now_ms()))
    try:
        engine.store.edit(sys.argv[3], Changes(description="x"))
    except SparkError as error:
        print(error.code)
    print(engine.refresh())
"""


def test_a_checkout_that_may_only_be_read_is_followed_all_the_same(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first", scope=Scope.PROJECT))
    folder = place.path(entry).parent
    edit_file(place.path(entry), "first", "second")
    (folder / "prj_0000cafe.md").write_text("---\ntype: user\nname: b-fact\ndescription: new\n---\n", "utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o555)
    done = run_python(READ_ONLY_PROJECT, place.home.root, place.project, entry.id, powerless=True)
    folder.chmod(0o700)
    assert done.stdout.splitlines() == [
        f"{entry.id} second active",
        "prj_0000cafe new active",
        "READ_ONLY",
        "[]",
    ], done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_memory_folder_may_be_a_link_to_another_place(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "memory"
    real.mkdir(parents=True)
    place.home.memory_user.parent.mkdir(parents=True)
    place.home.memory_user.symlink_to(real)
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact"))
        engine.store.edit(entry.id, Changes(description="changed"))
        assert (real / entry.file).is_file()
        assert complaints(place, engine) == []
    real.rename(real.with_name("unmounted"))
    with place.open() as engine:
        assert state_of(engine, entry.id) in ("active", "missing")


def test_a_file_that_changes_while_it_is_read_is_read_again(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", "first"))
        for number in range(20):  # same size, within one tick of the file system's clock
            edit_file(place.path(entry), engine.listing.entry(entry.id).description, f"text{number % 10}")
            engine.refresh()
            assert engine.listing.entry(entry.id).description == f"text{number % 10}"
