"""The gates that judge model output: their bars on the labelled sets, their order, and what no text can do to them."""

import math
import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.extraction.answer import DraftItem
from engine.memory.gate_log import Gate
from engine.memory.gates.confidence import confidence_doubt
from engine.memory.gates.evaluation import Report, evaluate
from engine.memory.gates.filler import filled
from engine.memory.gates.labelled import PACKAGED, Language, Part, load
from engine.memory.gates.order import judge
from engine.memory.gates.transient import LOOKED_AT, transient_reason, transient_words
from engine.memory.model import MemoryType, Scope

GATES = (Gate.TRANSIENT, Gate.SENSITIVE)
GOOD = DraftItem(Scope.PROJECT, MemoryType.PROJECT, "built-with-vite", "The web app is built with Vite", confidence=0.9)
SECRET = filled("sk-ant-api03-{{url:60}}")


def report(gate: Gate, part: Part | None) -> Report:
    """How a gate does on one part of the shipped sets, or on both."""
    return next(each for each in evaluate(load(part=part)) if each.gate is gate)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("part", Part)
def test_a_gate_is_right_about_what_it_drops_and_misses_little(gate: Gate, part: Part) -> None:
    score = report(gate, part).total
    assert score.precision is not None
    assert score.recall is not None
    assert score.precision >= 0.95
    assert score.recall >= 0.9


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_is_as_good_in_either_language(gate: Gate) -> None:
    for language in (Language.CHINESE, Language.ENGLISH):
        score = report(gate, Part.HELD).languages[language.value]
        assert (score.precision or 0) >= 0.95, language
        assert (score.recall or 0) >= 0.9, language


@pytest.mark.parametrize("gate", GATES)
def test_the_sets_are_large_bilingual_and_full_of_near_misses(gate: Gate) -> None:
    examples = [each for each in load() if each.gate is gate]
    held = [each for each in examples if each.part is Part.HELD]
    assert len(examples) >= 260
    assert len(held) >= 150
    for part in Part:
        counted = Counter((each.drop, each.language is Language.ENGLISH) for each in examples if each.part is part)
        assert len(counted) == 4, part
        assert min(counted.values()) >= 20, part
    assert 0.4 <= sum(each.drop for each in held) / len(held) <= 0.6


def test_no_example_stands_twice_and_no_set_holds_a_token_of_its_own() -> None:
    texts = [" ".join(each.text.casefold().split()) for each in load()]
    assert [text for text, count in Counter(texts).items() if count > 1] == []
    written = "".join(path.read_text("utf-8") for path in PACKAGED)
    tokens = re.findall(r"AKIA[A-Z0-9]{16}|gh[pos]_[A-Za-z0-9]{36}|sk-ant-[A-Za-z0-9_-]{40,}", written)
    assert [token for token in tokens if "EXAMPLE" not in token and "xxxx" not in token] == []


@pytest.mark.parametrize("drop", [True, False])
def test_what_the_specification_names_is_judged_as_it_says(drop: bool) -> None:
    transient = ["临时关闭校验", "当前 CPU 占用 95%", "这次先不要写测试", "今天在改登录页", "今日待办是登录页", "此刻服务不可用",
                 "刚才重启了服务", "实时温度 82 度", "星期三下午开会", "还差 3 个文件", "temporarily disabled the linter",
                 "the build is red right now", "busy with the importer today", "answer in English this time",
                 "keep REST for now", "currently fixing the login", "port 3000 is in use", "7 of 12 tests pass"]  # fmt: skip
    lasting = ["合同 2026-12-31 到期", "临时文件目录是 tmp/", "TodayPanel renders the agenda", "电流 current 的单位是毫安",
               "nowrap-ellipsis keeps a cell on one line", "know-how-base lives in the wiki", "realtime sync architecture",
               "实时同步架构", "当前项目用 Arco Design 作为长期约定", "currentUser comes from the session",
               "always run the tests right before pushing", "每次提交前跑测试", "每周四发版"]  # fmt: skip
    texts = transient if drop else lasting
    assert [text for text in texts if (transient_reason("some-name", text) is not None) is not drop] == []


@pytest.mark.parametrize(
    ("name", "description", "code"),
    [
        ("left", "还差 3 个文件", "progress_count"),
        ("left", "7 of 12 tests pass", "progress_count"),
        ("cpu", "CPU usage is 95 %", "reading"),
        ("port", "端口 3000 被占用", "reading"),
        ("meeting", "星期三下午开会", "weekday"),
        ("reply", "Answer in English this time", "session_request"),
        ("merged", "The user just merged the branch", "just_did"),
        ("auth-off", "临时关闭了鉴权", "temporary"),
        ("queue", "User is debugging the queue", "passing_state"),
        ("server", "The server is slow right now", "now"),
        ("skip-linter-for-now", "The linter is skipped", "now"),
    ],
)
def test_the_reason_says_what_kind_of_moment_it_is_and_none_of_the_text(name: str, description: str, code: str) -> None:
    refused = judge(replace(GOOD, name=name, description=description))
    assert refused is not None
    assert (refused.gate, refused.reason) == (Gate.TRANSIENT, f"transient: {code}")


def test_a_person_sees_the_words_that_made_it_a_moment() -> None:
    assert transient_words("build", "The deploy is frozen today") == ("today",)
    assert transient_words("for-now", "skip the linter") == ("for now",)
    assert transient_words("tabs", "indent with tabs") == ()


def test_a_mentioned_word_times_nothing_and_a_quoted_statement_does() -> None:
    assert transient_reason("wording", 'Docs never say "right now"') is None
    assert transient_reason("wording", "栏目名叫“此时此刻”") is None
    assert transient_reason("wording", '"skip the tests this time, I will write them later"') is not None


@pytest.mark.parametrize(
    ("confidence", "reason"),
    [
        (None, "confidence: missing"),
        (math.nan, "confidence: not_a_number"),
        (-0.1, "confidence: out_of_range"),
        (1.01, "confidence: out_of_range"),
        (math.inf, "confidence: out_of_range"),
        (95, "confidence: out_of_range"),
        (0.59999, "confidence: below_0.6"),
        (0, "confidence: below_0.6"),
    ],
)
def test_an_item_the_model_was_not_sure_of_is_dropped(confidence: float | None, reason: str) -> None:
    refused = judge(replace(GOOD, confidence=confidence))
    assert refused is not None
    assert (refused.gate, refused.reason) == (Gate.CONFIDENCE, reason)


@pytest.mark.parametrize("confidence", [0.6, 0.75, 1, 1.0])
def test_an_item_the_model_was_sure_of_passes(confidence: float) -> None:
    assert judge(replace(GOOD, confidence=confidence)) is None


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text())
def test_whatever_stands_for_a_confidence_only_a_number_from_six_tenths_to_one_passes(value: object) -> None:
    sure = isinstance(value, int | float) and not isinstance(value, bool) and 0.6 <= value <= 1
    assert (confidence_doubt(value) is None) is sure


@pytest.mark.parametrize(
    "item",
    [
        replace(GOOD, description=f"the key is {SECRET}"),
        replace(GOOD, body=f"**Why:** {SECRET}"),
        replace(GOOD, entities=("Vite", SECRET)),
        replace(GOOD, links=(f"https://wiki.example/{SECRET}",)),
        replace(GOOD, evidence=f"use {SECRET}"),
        replace(GOOD, name="staging-db-password", description="Hunter2!2024"),
    ],
)
def test_a_secret_anywhere_in_an_item_drops_it_and_is_not_told(item: DraftItem) -> None:
    refused = judge(item)
    assert refused is not None
    assert refused.gate is Gate.SENSITIVE
    assert re.fullmatch(r"sensitive: [a-z-]+", refused.reason)


def test_the_gates_are_asked_in_their_order() -> None:
    bad = replace(GOOD, description=f"today the key is {SECRET}", confidence=0.1)
    for gate, better in (
        (Gate.TRANSIENT, bad),
        (Gate.CONFIDENCE, replace(bad, description=f"the key is {SECRET}")),
        (Gate.SENSITIVE, replace(bad, description=f"the key is {SECRET}", confidence=0.9)),
    ):
        refused = judge(better)
        assert refused is not None
        assert refused.gate is gate
    assert judge(GOOD) is None


WORDS = ("today", "for now", "until", "还差", "3", "个", "7 of 12", "正在", "先用", "等", "“", '"', "'", "`", "every", "每",
         "user is", "cpu", "占用", "%", "port 3000", ",", "，", "。", ". ", "\n", "x.y", "a/b",
         "-", "ﬁ", "\u200b", "\0")  # fmt: skip
TEXTS = (
    st.text()
    | st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join)
    | st.lists(st.sampled_from(WORDS)).map("".join)
)


@given(name=st.text(), description=TEXTS, confidence=st.none() | st.floats())
def test_any_item_is_judged_and_the_reason_is_a_code(name: str, description: str, confidence: float | None) -> None:
    item = replace(GOOD, name=name, description=description, confidence=confidence)
    refused = judge(item)
    assert refused == judge(item)
    assert refused is None or re.fullmatch(r"(transient|confidence|sensitive): [a-z0-9_.-]+", refused.reason)


@given(head=TEXTS, tail=TEXTS)
def test_a_text_is_read_no_further_than_what_can_be_stored_of_it(head: str, tail: str) -> None:
    start = (head + " " * LOOKED_AT)[:LOOKED_AT]
    assert transient_reason("name", start + tail) is transient_reason("name", start)


@pytest.mark.parametrize(
    "unit", ["1", "'x' ", "a ", "x.y ", "还差", "one of ", "the load ", "until ", "先用", "“", "\n", "今日"]
)
def test_a_megabyte_costs_no_more_than_what_is_read_of_it(unit: str) -> None:
    """The work is bounded by what is handed to the patterns; a rule quadratic in this text would not come back."""
    text = unit * (1_000_000 // len(unit))
    assert transient_reason(text, text) is transient_reason(text[:LOOKED_AT], text[:LOOKED_AT])


def test_a_template_gives_the_same_text_each_time_and_an_unknown_form_is_refused() -> None:
    template = "{{b62:20}} {{card:4539:16}} {{cnid:310104:19780415:331}} {{cnid15:310104:780415:331}} {{uuid}}"
    assert filled(template) == filled(template)
    assert "{{" not in filled(template)
    with pytest.raises(ValueError, match="no such form"):
        filled("{{poem:4:5:6}}")
