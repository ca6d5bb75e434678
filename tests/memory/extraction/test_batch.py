"""What of an answer goes no further, before any model is asked again."""

from dataclasses import replace

import pytest

from engine.memory.extraction.answer import DraftItem
from engine.memory.extraction.batch import Reason, Verdict, judge_batch
from engine.memory.extraction.known import Known
from engine.memory.extraction.prompt import PROMPT_EXAMPLES
from engine.memory.model import MemoryType, Scope

VITE = DraftItem(Scope.PROJECT, MemoryType.PROJECT, "build", "项目用 Vite 构建", "**Why:** 快", 0.9)
VIM = DraftItem(Scope.USER, MemoryType.USER, "editor", "Uses vim", confidence=0.9)


def verdicts(*items: DraftItem, known: tuple[Known, ...] = ()) -> list[Verdict]:
    """The verdicts alone."""
    return [each.verdict for each in judge_batch(items, known)]


def test_different_facts_go_on_in_their_order() -> None:
    assert [each.item for each in judge_batch((VITE, VIM), ())] == [VITE, VIM]
    assert verdicts(VITE, VIM) == [Verdict.KEEP, Verdict.KEEP]


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda each: each.name)
def test_an_item_copied_from_the_prompt_is_dropped_also_when_it_was_retold(example: DraftItem) -> None:
    copies = [example, replace(example, name="other"), replace(example, description="Something else entirely", body="")]
    for copy in copies:
        [judged] = judge_batch([copy], ())
        assert (judged.verdict, judged.reason) == (Verdict.DUPLICATE, Reason.PROMPT_EXAMPLE)


def test_the_same_text_twice_is_kept_once_whatever_its_name_scope_or_punctuation() -> None:
    repeats = [
        replace(VITE, name="bundler"),
        replace(VITE, scope=Scope.USER),
        replace(VITE, description="项目用 ｖite 构建。"),
    ]
    judged = judge_batch([VITE, *repeats], ())
    assert [each.verdict for each in judged] == [Verdict.KEEP] + [Verdict.DUPLICATE] * 3
    assert {(each.reason, each.of) for each in judged[1:]} == {(Reason.BATCH_REPEAT, "build")}


def test_the_same_name_with_the_same_body_is_a_repeat_and_with_another_text_is_not() -> None:
    reworded = replace(VITE, description="构建工具是 Vite")
    assert verdicts(VITE, reworded) == [Verdict.KEEP, Verdict.DUPLICATE]
    assert verdicts(VITE, replace(reworded, body="another")) == [Verdict.KEEP, Verdict.KEEP]
    assert verdicts(VITE, replace(reworded, scope=Scope.USER)) == [Verdict.KEEP, Verdict.KEEP]
    assert verdicts(VIM, replace(VIM, description="Uses emacs")) == [Verdict.KEEP, Verdict.KEEP]


def test_an_opposite_is_no_repeat() -> None:
    assert verdicts(VIM, replace(VIM, description="Uses vim no more")) == [Verdict.KEEP, Verdict.KEEP]


def test_restating_an_active_entry_is_noop_and_names_it() -> None:
    known = (Known("prj_00000001", Scope.PROJECT, "构建", "项目用 vite 构建。"),)
    [judged] = judge_batch([VITE], known)
    assert (judged.verdict, judged.reason, judged.of) == (Verdict.NOOP, Reason.RESTATES, "prj_00000001")


def test_what_holds_everywhere_is_not_said_again_for_one_project_but_a_wider_scope_is_news() -> None:
    for_all = (Known("usr_00000001", Scope.USER, "editor", "uses vim"),)
    for_one = (Known("prj_00000001", Scope.PROJECT, "editor", "uses vim"),)
    assert verdicts(replace(VIM, scope=Scope.PROJECT), known=for_all) == [Verdict.NOOP]
    assert verdicts(VIM, known=for_one) == [Verdict.KEEP]
    assert verdicts(replace(VIM, scope=Scope.AGENT), known=for_one) == [Verdict.KEEP]
