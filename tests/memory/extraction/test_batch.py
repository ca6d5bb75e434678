"""What of an answer goes no further, before any model is asked again."""

from dataclasses import replace

import pytest

from engine.memory.extraction.answer import DraftItem
from engine.memory.extraction.batch import Reason, judge_batch
from engine.memory.extraction.prompt import PROMPT_EXAMPLES
from engine.memory.model import MemoryType, Scope

VITE = DraftItem(Scope.PROJECT, MemoryType.PROJECT, "build", "项目用 Vite 构建", "**Why:** 快", 0.9)
VIM = DraftItem(Scope.USER, MemoryType.USER, "editor", "Uses vim", confidence=0.9)


def test_different_facts_go_on() -> None:
    assert judge_batch((VITE, VIM)) == (None, None)


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda each: each.name)
def test_an_item_copied_from_the_prompt_is_dropped_also_when_it_was_retold(example: DraftItem) -> None:
    copies = [example, replace(example, name="other"), replace(example, description="Something else entirely", body="")]
    for copy in copies:
        assert judge_batch([copy]) == (Reason.PROMPT_EXAMPLE,)


def test_the_same_text_twice_is_kept_once_whatever_its_name_scope_or_punctuation() -> None:
    repeats = [
        replace(VITE, name="bundler"),
        replace(VITE, scope=Scope.USER),
        replace(VITE, description="项目用 ｖite 构建。"),
    ]
    assert judge_batch([VITE, *repeats]) == (None, *[Reason.BATCH_REPEAT] * 3)


def test_the_same_name_with_the_same_body_is_a_repeat_and_with_another_text_is_not() -> None:
    reworded = replace(VITE, description="构建工具是 Vite")
    assert judge_batch((VITE, reworded)) == (None, Reason.BATCH_REPEAT)
    assert judge_batch((VITE, replace(reworded, body="another"))) == (None, None)
    assert judge_batch((VITE, replace(reworded, scope=Scope.USER))) == (None, None)
    assert judge_batch((VIM, replace(VIM, description="Uses emacs"))) == (None, None)


def test_an_opposite_is_no_repeat() -> None:
    assert judge_batch((VIM, replace(VIM, description="Uses vim no more"))) == (None, None)
