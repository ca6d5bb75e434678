"""Which layers a person and a session see, where each lies, and how a project keeps its number (02 §1)."""

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.clock import DAY_MS
from engine.errors import SparkError, ValidationFailed
from engine.memory.model import Scope
from tests.support import Place, draft, everything, state_of


def test_nothing_is_made_in_a_project_before_its_first_memory(place: Place) -> None:
    with place.open() as engine:
        assert engine.layers.project() is None
        assert [layer.key for layer in engine.layers.person()] == ["user"]
        engine.store.add(draft("a-fact"))
        engine.search("anything")
        assert not (place.project / ".spark-agent").exists()
        with pytest.raises(SparkError):
            engine.store.add(draft("Not A Slug", scope=Scope.PROJECT))
        assert not (place.project / ".spark-agent").exists()
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        assert (place.project / ".spark-agent" / "workspace.json").is_file()
        assert [layer.key for layer in engine.layers.person()] == ["user", "project:1"]


def test_a_session_sees_its_agent_and_never_another(place: Place) -> None:
    with place.open() as engine:
        for agent in ("main", "other"):
            engine.store.add(draft("a-fact", scope=Scope.AGENT, agent=agent))
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        assert [layer.key for layer in engine.layers.person()] == ["user", "project:1", "agent:main", "agent:other"]
        assert [layer.key for layer in engine.layers.session("main")] == ["user", "project:1", "agent:main"]
        assert [layer.key for layer in engine.layers.session(None)] == ["user", "project:1"]
        with pytest.raises(ValidationFailed):
            engine.layers.session("../main")


def test_folders_among_the_agents_that_are_no_agent_ids_are_no_layers(place: Place) -> None:
    for name in (".git", "with space", "a.", "ok"):
        (place.home.memory_agents / name).mkdir(parents=True)
    (place.home.memory_agents / "file").write_text("", "utf-8")
    with place.open() as engine:
        assert [layer.ref for layer in engine.layers.agents()] == ["ok"]


def test_every_key_leads_back_to_its_folder(place: Place) -> None:
    with place.open() as engine:
        engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        engine.store.add(draft("a-fact", scope=Scope.AGENT, agent="main"))
        for layer in engine.layers.person():
            assert engine.layers.folder_of(layer.key) == layer.folder
            assert engine.layers.by_key(layer.key) == layer
        assert engine.layers.folder_of("project:99") is None
        assert engine.layers.by_key("project:99") is None


def test_a_project_begun_by_another_process_appears_by_itself(place: Place) -> None:
    with place.open() as running, place.open() as other:
        assert running.layers.project() is None
        entry = other.store.add(draft("a-fact", scope=Scope.PROJECT))
        assert [each.id for each in everything(running)] == [entry.id]
        assert running.store.add(draft("b-fact", scope=Scope.PROJECT)).scope_ref == entry.scope_ref


def test_binding_another_folder_changes_what_is_seen_and_where_is_written(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    with place.open() as engine:
        here = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        engine.bind(other)
        assert everything(engine) == []
        there = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        assert (other / ".spark-agent" / "memory" / there.file).is_file()
        engine.bind(place.project)
        assert [each.id for each in everything(engine)] == [here.id]
        assert {root for _, root, _ in engine.layers.known_workspaces()} == {place.project, other}


def test_a_subfolder_belongs_to_its_repository(place: Place) -> None:
    subprocess.run(["git", "init", "-q"], cwd=place.project, check=True)
    deep = place.project / "src" / "deep"
    deep.mkdir(parents=True)
    with place.open(deep) as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
    assert place.path(entry).is_file()


def test_the_latest_project_is_the_first_of_the_known_ones(place: Place) -> None:
    other = place.project.parent / "beta"
    other.mkdir()
    for folder in (place.project, other):
        with place.open(folder) as engine:
            engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        place.clock.advance(ms=DAY_MS // 3)
    with place.open() as engine:
        assert next(root for _, root, _ in engine.layers.known_workspaces()) == other
    place.clock.advance(ms=2 * DAY_MS)
    with place.open(place.project) as engine:
        engine.layers.project()
        assert next(root for _, root, _ in engine.layers.known_workspaces()) == place.project


def test_a_copy_takes_no_number_while_its_original_is_there_and_a_move_does(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("a-fact", scope=Scope.PROJECT))
    copy = place.project.parent / "copy"
    shutil.copytree(place.project, copy)
    with place.open(copy) as engine:
        assert engine.layers.project().key == "project:2"
    shutil.rmtree(copy)
    moved = place.project.rename(place.project.with_name("moved"))
    with place.open(moved) as engine:
        assert engine.layers.project().key == "project:1"
        assert state_of(engine, entry.id) == "active"


@pytest.mark.parametrize("where", ["home", "above", "inside", "user-home", "root", "gone"])
def test_places_that_are_no_projects_say_so(place: Place, where: str) -> None:
    folders = {
        "home": place.home.root,
        "above": place.home.root.parent,
        "inside": place.home.root / "memory",
        "user-home": Path.home(),
        "root": Path("/"),
        "gone": place.project / "nowhere",
    }
    (place.home.root / "memory").mkdir()
    with place.open(folders[where]) as engine:
        assert engine.layers.project() is None
        with pytest.raises(ValidationFailed) as caught:
            engine.store.add(draft("a-fact", scope=Scope.PROJECT))
        assert caught.value.hint
        assert engine.store.add(draft("a-fact")).version == 1  # user memories work anywhere
