"""A form's text fields as a draft or as changes: only what was changed, checked by the engine's rules."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.memory.model import UNSET, MemoryType, Scope, slug
from spark_tui.presenters.form_values import (
    FormProblem,
    all_changes,
    changes_of,
    draft_of,
    entities_of,
    new_values,
    suggested_name,
    values_of,
)
from tests.presenters.entries import an_entry

TODAY = date(2026, 1, 31)


def test_a_filled_form_becomes_a_draft_with_a_name_of_its_own() -> None:
    values = {
        **new_values(Scope.AGENT, MemoryType.REFERENCE, "codex"),
        "description": "Runs offline",
        "validity": "+1d",
    }
    draft = draft_of(values, TODAY)
    assert (draft.scope, draft.agent, draft.name, draft.valid_until) == (
        Scope.AGENT,
        "codex",
        "runs-offline",
        date(2026, 2, 1),
    )


def test_an_agent_left_in_the_field_of_another_scope_counts_for_nothing() -> None:
    values = {**new_values(Scope.USER), "description": "fine", "agent": "../evil"}
    assert draft_of(values, TODAY).agent is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("description", " "), ("description", "x" * 201), ("name", "No Slug"), ("validity", "soon"), ("type", "opinion")],
)
def test_what_is_wrong_is_said_of_its_field(field: str, value: str) -> None:
    with pytest.raises(FormProblem) as problem:
        draft_of({**new_values(), "description": "fine", field: value}, TODAY)
    assert problem.value.field == field


def test_an_untouched_form_changes_nothing() -> None:
    entry = an_entry(entities=("git", "tmux"))
    changes = changes_of(values_of(entry, "body"), entry, "body", TODAY)
    assert all(
        getattr(changes, name) is None
        for name in ("name", "description", "body", "type", "entities", "confidence", "links")
    )
    assert changes.valid_until is UNSET


def test_only_the_changed_field_is_a_change() -> None:
    entry = an_entry()
    changes = changes_of({**values_of(entry, "body"), "body": ""}, entry, "body", TODAY)
    assert (changes.body, changes.description, changes.valid_until) == ("", None, UNSET)


def test_keeping_mine_writes_every_field() -> None:
    entry = an_entry()
    changes = all_changes(values_of(entry, "body"), TODAY)
    assert (changes.name, changes.body, changes.valid_until) == (entry.name, "body", None)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, b", ("a", "b")),
        ("组件，样式、git；tmux", ("组件", "样式", "git", "tmux")),
        (" , ,", ()),
        ("Arco Design", ("Arco Design",)),
    ],
)
def test_entities_stand_between_commas_of_both_languages(text: str, names: tuple[str, ...]) -> None:
    assert entities_of(text) == names


@given(some.text(max_size=300))
def test_a_suggested_name_is_always_one_the_engine_takes_or_empty(description: str) -> None:
    name = suggested_name(description)
    assert name == slug(name)
    assert len(name) <= 48
