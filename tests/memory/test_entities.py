"""One normal form for each thing a memory names, shared within a layer and forgotten with its last memory (02 §2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.entities import ALIASES, cleaned, kind_of, normalised_entity
from engine.memory.model import Changes, Scope
from engine.runtime import Engine
from tests.support import Place, draft


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("Arco Design", "arco"),
        ("@arco-design/web-react", "arco-design"),
        ("react.js", "react"),
        ("React", "react"),
        ("ReactJS", "react"),
        ("postgres", "postgresql"),
        ("PostgreSQL", "postgresql"),
        ("Node.js", "node.js"),
        ("nodejs", "node.js"),
        ("C++", "c++"),
        ("C#", "c#"),
        (".NET", ".net"),
        ("Ｖｉｔｅ", "vite"),
        ("  two   words ", "two words"),
        ("组件库", "组件库"),
        ("js", "javascript"),
    ],
)
def test_names_of_one_thing_have_one_normal_form(written: str, normal: str) -> None:
    expected = ALIASES.get(normal, normal)
    assert normalised_entity(written) == expected


def test_a_package_and_its_library_are_one() -> None:
    assert normalised_entity("@arco-design/web-react") == normalised_entity("Arco Design") == "arco"
    assert normalised_entity("@types/react") == normalised_entity("react.js") == "react"


@given(st.text(max_size=40) | st.text("aAjJsStT.x/@-_ ş", max_size=12))
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    normal = normalised_entity(text)
    assert normalised_entity(normal) == normal


@given(st.lists(st.text(max_size=200), max_size=8))
def test_cleaned_names_are_single_lines_without_twins(names: list[str]) -> None:
    kept = cleaned(names)
    assert cleaned(kept) == kept
    assert len({normalised_entity(name) for name in kept}) == len(kept)
    for name in kept:
        assert name == " ".join(name.split())
        assert 0 < len(name) <= 120


@given(st.text(max_size=60))
def test_every_name_has_a_kind(name: str) -> None:
    assert kind_of(name) in ("person", "library", "module", "system")


def stored(engine: Engine) -> set[tuple[str, str]]:
    with engine.database.read() as connection:
        return set(connection.execute("SELECT layer, normalised FROM memory_entity"))


def test_entities_are_shared_in_a_layer_and_go_with_their_last_memory(place: Place) -> None:
    with place.open() as engine:
        one = engine.store.add(draft("one", entities=("React", "Vite")))
        two = engine.store.add(draft("two", entities=("react.js",)))
        other = engine.store.add(draft("three", entities=("React",), scope=Scope.AGENT, agent="main"))
        assert stored(engine) == {("user", "react"), ("user", "vite"), ("agent:main", "react")}
        engine.store.edit(one.id, Changes(entities=("Rollup",)))
        assert stored(engine) == {("user", "react"), ("user", "rollup"), ("agent:main", "react")}
        engine.store.delete([two.id])
        assert stored(engine) == {("user", "rollup"), ("agent:main", "react")}
        engine.store.delete([one.id, other.id])
        assert stored(engine) == set()


def test_search_brings_active_neighbours_along_within_the_layer(place: Place) -> None:
    with place.open() as engine:
        hit = engine.store.add(draft("build", "bundled with care", entities=("Vite",)))
        near = engine.store.add(draft("near", "something else", entities=("vite.js", "Other")))
        archived = engine.store.add(draft("archived", "something else again", entities=("Vite",)))
        engine.store.archive([archived.id])
        engine.store.add(draft("far", "elsewhere", entities=("Vite",), scope=Scope.AGENT, agent="main"))
        found = engine.search("bundled")
        assert [each.entry.id for each in found.hits] == [hit.id]
        assert [each.id for each in found.related] == [near.id]


def test_names_are_kept_as_they_were_first_written(place: Place) -> None:
    with place.open() as engine:
        entry = engine.store.add(draft("one", entities=("ReAct", "react.js", " Arco   Design ", "")))
        assert entry.entities == ("ReAct", "Arco Design")
        assert engine.listing.entry(entry.id).entities == ("ReAct", "Arco Design")
