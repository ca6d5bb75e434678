"""Rows, facets, findings, settings and outcomes as words."""

from pathlib import Path

import pytest

from engine.errors import AlreadyExists, QuotaExceeded, SensitiveContent, ValidationFailed, VersionConflict
from engine.memory.model import ItemResult, Layer, MemoryType, Scope, State
from engine.settings_table import TABLE
from spark_tui.presenters.doctor_lines import Finding, finding_mark, finding_title, summary, worst_first
from spark_tui.presenters.facet_lines import Counts, facet_lines
from spark_tui.presenters.first_steps import Readiness, first_steps
from spark_tui.presenters.memory_rows import Reasons, memory_cells, reason_cells, search_words
from spark_tui.presenters.outcomes import outcome_line, outcome_page
from spark_tui.presenters.problems import problem
from spark_tui.presenters.settings_lines import SettingView, allowed_words, meaning_words, value_word
from spark_tui.presenters.top_words import SearchState, search_word
from tests.presenters.entries import START_MS, an_entry, texts


def test_a_row_says_mark_type_name_description_age_and_hits() -> None:
    cells = memory_cells(an_entry(hit_count=4), START_MS + 3 * 86_400_000)
    assert [cell.text for cell in cells[1:]] == ["user", "rule", "be brief", "3d", "4"]


def test_what_no_longer_applies_is_dim_and_has_another_mark() -> None:
    active, archived = (memory_cells(an_entry(archived=flag), START_MS) for flag in (False, True))
    assert (active[2].style, archived[2].style) == ("text", "dim")
    assert active[0].text != archived[0].text


def test_searched_words_are_marked_in_name_and_description() -> None:
    cells = memory_cells(an_entry(description="偏好函数式组件"), START_MS, search_words("组件写法 RULE"))
    assert cells[2].matches == ((0, 4),)
    assert cells[3].matches == ((5, 7),)


def test_a_hit_shows_its_numbers_and_a_related_entry_its_word() -> None:
    told = [cell.text for cell in reason_cells(Reasons(1, None, 0.0164, 0.5, 1.0, 0.0082))]
    assert told == ["1", "-", "0.0164", "0.50", "1.00", "0.0082"]
    assert [cell.text for cell in reason_cells("related")] == ["", "", "", "", "", "related"]


def layer(scope: Scope, ref: str | None, key: str, label: str) -> Layer:
    return Layer(scope, ref, key, Path("/x"), label)


LAYERS = (
    layer(Scope.USER, None, "user", "user"),
    layer(Scope.PROJECT, "ws_1", "project:1", "alpha"),
    layer(Scope.AGENT, "codex", "agent:codex", "codex"),
)
QUOTAS = {Scope.USER: 100, Scope.PROJECT: 200, Scope.AGENT: 50}


def test_facets_are_a_tree_of_scopes_with_quotas_then_types_states_and_entities() -> None:
    counts = Counts(
        {"user": 3, "agent:codex": 1}, {MemoryType.FEEDBACK: 4}, {State.ACTIVE: 4, State.EXPIRED: 1}, [("git", 2)]
    )
    lines = facet_lines(counts, LAYERS, [("/w/beta", "beta")], QUOTAS, frozenset({"type:feedback"}))
    told = [(line.key, line.depth, line.count) for line in lines if not line.heading]
    assert told == [
        ("scope:user", 0, "3/100"),
        ("branch:project", 0, ""),
        ("scope:project", 1, "0/200"),
        ("workspace:/w/beta", 1, ""),
        ("scope:agent", 0, ""),
        ("agent:codex", 1, "1/50"),
        ("type:feedback", 0, "4"),
        ("state:active", 0, "4"),
        ("state:expired", 0, "1"),
        ("entity:git", 0, "2"),
    ]
    assert [line.key for line in lines if line.selected] == ["type:feedback"]


def test_facets_without_anything_are_left_out() -> None:
    lines = facet_lines(Counts({}, {}, {}, ()), LAYERS[:1], [], QUOTAS, frozenset())
    assert [line.label.strip() for line in lines if line.heading] == ["Scopes"]


def test_the_checklist_marks_itself_off() -> None:
    ready = Readiness(True, "e5", "alpha", "~/spark")
    told = "\n".join(texts(first_steps(ready)))
    assert "search finds by words and by meaning" in told
    assert "project memories go to alpha" in told
    lacking = "\n".join(texts(first_steps(Readiness(False, None, None, "~/spark"))))
    assert "memory is switched off" in lacking
    assert "no workspace here" in lacking


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (SearchState(True, "e5", 3, 3, None), "hybrid search"),
        (SearchState(True, "e5", 1, 3, None), "vectors 1/3"),
        (SearchState(True, None, 0, 3, None), "words only"),
        (SearchState(True, "e5", 3, 3, "no answer"), "words only"),
        (SearchState(False, "e5", 3, 3, None), "memory off"),
    ],
)
def test_search_is_one_word_of_the_top_line(state: SearchState, words: str) -> None:
    assert search_word(state)[0] == words


def test_errors_say_what_happened_and_the_next_step() -> None:
    assert problem(AlreadyExists("…", id="usr_1")) == "an active memory of that name exists already (usr_1)"
    assert problem(QuotaExceeded("…", count=5, quota=5)) == "this layer is full: 5 of 5"
    assert "api-key" in problem(SensitiveContent("…", "keep secrets elsewhere", kind="api-key"))
    assert problem(VersionConflict("…", current_version=3, base_version=2)).endswith("at version 3, you began at 2")
    assert problem(ValidationFailed("odd", "use it", suggestion="even")) == "odd (hint: use even)"
    assert problem(ValidationFailed("odd", "spark-tui memory list shows it")) == "odd"


def test_outcomes_count_what_was_done_and_list_what_was_not() -> None:
    results = [ItemResult("a", "done"), ItemResult("b", "NOT_FOUND", "no memory b here"), ItemResult("c", "unchanged")]
    assert outcome_line("archive", results, {}) == "archived 2 memories, 1 was refused"
    assert outcome_line("delete", results[:1], {"a": "rule"}) == "deleted rule"
    page = texts(outcome_page(results, {"b": "gone"}))
    assert page[:2] == ["gone  b  NOT_FOUND", "  no memory b here"]


def test_every_setting_has_words_of_its_own() -> None:
    for each in TABLE:
        if not each.internal:
            view = SettingView(each.key, "", "", each.allowed, "the engine's words", False)
            assert meaning_words(view) != "the engine's words", each.key
            assert allowed_words(each.allowed)


def test_values_read_as_people_write_them() -> None:
    assert [value_word(each) for each in (True, False, 7.0, 0.01, "", "local")] == [
        "on",
        "off",
        "7",
        "0.01",
        "-",
        "local",
    ]


def test_findings_come_worst_first_with_a_word_for_each() -> None:
    rows = [Finding("version", "info", "Versions", "", None), Finding("layer:user", "ok", "Layer user", "", None),
            Finding("tokens", "warn", "Token counts", "", None), Finding("database", "fail", "Database", "", None)]  # fmt: skip
    assert [each.id for each in worst_first(rows)] == ["database", "tokens", "version", "layer:user"]
    assert [finding_mark(each)[0].split()[1] for each in rows] == ["fact", "works", "limited", "broken"]
    assert finding_title(rows[1]) == "Layer user"
    assert summary(rows) == ("1 thing is broken", "error")
    assert summary(rows[:2]) == ("everything works", "good")
