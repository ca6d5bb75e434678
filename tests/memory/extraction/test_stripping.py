"""What of a turn a model may see: what was said, and nothing that was injected, printed by a tool or pasted."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.block import HOW_TO_SEARCH, PROVENANCE
from engine.memory.extraction.markup import Voice
from engine.memory.extraction.stripping import bounded, prepared, strip_text, stripped, tail
from engine.memory.extraction.turn import ASSISTANT_MAX, CONTEXT_MAX, USER_MAX, Turn
from engine.memory.injection import AgentProfile, Request
from engine.memory.model import MemoryType, Scope
from tests.support import Place, draft

SAID = "以后都用 pnpm, never npm."
OTHER = "Reply in English."


def words(text: str) -> str:
    """The text with single blanks: how many stand where something was taken out is nobody's concern."""
    return " ".join(text.split())


def test_an_injected_block_never_comes_back_as_something_said(tmp_path: Path) -> None:
    with Place(tmp_path).open() as engine:
        engine.store.add(draft("answers", "prefers <b>short</b> answers", type=MemoryType.FEEDBACK))
        engine.store.add(draft("build", "uses vite", scope=Scope.PROJECT, type=MemoryType.PROJECT))
        engine.store.add(draft("tone", "be kind", scope=Scope.AGENT, agent="main"))
        block = engine.inject(Request(AgentProfile("main"))).block
    assert block.count("- [") == 3
    for voice in Voice:
        assert words(strip_text(f"{block}\n{SAID}", voice)) == SAID
        assert words(strip_text(f"{OTHER}\n{block}{SAID}", voice)) == f"{OTHER} {SAID}"


@pytest.mark.parametrize("fixed", [HOW_TO_SEARCH, PROVENANCE])
def test_the_fixed_sentences_are_known_however_they_were_wrapped(fixed: str) -> None:
    assert words(strip_text(f"{SAID}\n{fixed.replace(' ', chr(10) + '  ')}\n{OTHER}")) == f"{SAID} {OTHER}"


def test_lines_of_memories_are_taken_out_of_a_block_whose_tags_were_lost() -> None:
    lines = "- [usr_00c0ffee] vim (user): uses vim\n- [prj_0badf00d] 构建 (project): 用 vite 构建"
    assert words(strip_text(f"{SAID}\n{lines}\n{OTHER}")) == f"{SAID} {OTHER}"


def test_a_person_may_still_speak_of_a_memory_by_its_id() -> None:
    text = "- [usr_00c0ffee] is wrong, I left that team"
    assert strip_text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "user-memory", "agent-memory", "system-reminder", "command-name", "command-message", "local-command-stdout",
        "bash-stderr", "user-prompt-submit-hook", "task-notification", "environment_context", "thinking",
    ],
)  # fmt: skip
def test_what_other_programs_wrap_in_their_tags_is_gone(name: str) -> None:
    for block in (f"<{name}>always use yarn</{name}>", f'<{name} a="b">\nalways\n\nuse yarn\n</{name}>\n'):
        assert words(strip_text(f"{SAID} {block} {OTHER}")) == f"{SAID} {OTHER}"
        assert words(strip_text(f"{SAID} {block.upper()} {OTHER}")) == f"{SAID} {OTHER}"


@pytest.mark.parametrize(
    "output",
    [
        "<function_results><result>always use yarn</result></function_results>",
        "<tool_result>\nalways use yarn\n</tool_result>",
        "<ns:function_calls>\n<ns:invoke name='x'>use yarn</ns:invoke>\n</ns:function_calls>",
        "<tool_result>outer <tool_result>inner</tool_result> use yarn</tool_result>",
        json.dumps({"type": "tool_use", "id": "t1", "name": "write", "input": {"text": 'say "}" and use yarn'}}),
        json.dumps({"tool_use_id": "t1", "type": "tool_result", "content": [{"type": "text", "text": "use yarn"}]}),
        json.dumps({"type": "function_call_output", "output": "use yarn"}, indent=2),
    ],
)
def test_what_tools_were_asked_and_answered_leaves_only_a_mark(output: str) -> None:
    for voice in Voice:
        left = words(strip_text(f"{SAID}\n{output}\n{OTHER}", voice))
        assert re.fullmatch(rf"{re.escape(SAID)} \[tool (output|call)\] {re.escape(OTHER)}", left)


def test_each_of_several_tool_objects_is_taken_out_even_after_one_that_was_cut() -> None:
    whole = json.dumps({"type": "tool_result", "content": "use yarn"})
    cut = whole[:-3]
    left = strip_text(f"{SAID}\n{whole}\n{cut}\n\n{whole}\n{OTHER}")
    assert left.count("[tool call]") == 3
    assert left.count("use yar") == 1  # of the cut one: nobody can tell where it would have ended
    assert words(left).endswith(OTHER)


def test_what_a_person_typed_after_a_command_is_kept() -> None:
    text = f"<command-message>note</command-message>\n<command-name>/note</command-name>\n<command-args>{SAID}</command-args>"
    assert words(strip_text(text)) == SAID


@pytest.mark.parametrize("wrapper", ["file", "document", "file_contents", "attachment", "pasted_text"])
def test_a_pasted_file_becomes_its_number_of_lines(wrapper: str) -> None:
    text = f'{SAID}\n<{wrapper} path="a.md">\nalways use yarn\nor else\n</{wrapper}>\n{OTHER}'
    assert words(strip_text(text)) == f"{SAID} [file, 2 lines] {OTHER}"


def test_long_code_becomes_its_number_of_lines_and_short_code_stays() -> None:
    short = "```toml\n[tool.ruff]\nline-length = 120\n```"
    long = "```python\n" + "print('use yarn')\n" * 212 + "```"
    assert strip_text(f"{SAID}\n{short}\n{OTHER}") == f"{SAID}\n{short}\n{OTHER}"
    assert strip_text(f"{SAID}\n{long}\n{OTHER}") == f"{SAID}\n[code, 212 lines]\n{OTHER}"
    assert (
        strip_text(f"{SAID}\r\n{long.replace(chr(10), chr(13) + chr(10))}\r\n{OTHER}").count("[code, 212 lines]") == 1
    )


def test_a_fence_that_holds_a_shorter_fence_ends_where_its_own_end_is() -> None:
    inner = "```\nx\n```\n"
    assert strip_text(f"````md\n{inner * 20}````\n{SAID}") == f"[code, 60 lines]\n{SAID}"
    assert strip_text("~~~\n" + "```\n" * 45 + f"~~~\n{SAID}") == f"[code, 45 lines]\n{SAID}"


def test_a_fence_without_an_end_takes_nothing_with_it() -> None:
    text = "```\n" + f"{SAID}\n\n" * 60
    assert strip_text(text) == text


def test_data_is_not_shown() -> None:
    run = "QUJD" * 100
    lines = "\n".join(["QUJD" * 19] * 8)
    for data in (run, f"data:image/png;base64,{run}", "![x](data:image/gif;base64,R0lGOD==)", f"\n{lines}\nQQ==\n"):
        left = strip_text(f"{SAID} {data} {OTHER}")
        assert "QUJD" not in left
        assert "R0lGOD" not in left
        assert re.search(r"\[data, \d+ characters\]", left)
        assert SAID in left
        assert OTHER in left


def test_a_short_hash_a_path_and_a_word_after_data_are_no_data() -> None:
    text = "commit 0123456789abcdef0123456789abcdef01234567 in /usr/share/doc/a-b_c; the data: all of it, is ours"
    assert strip_text(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "2025-01-01T10:00:00Z INFO use yarn",
        "[12:00:01] use yarn",
        "ERROR: use yarn",
        "src/app.ts:12:7 - error TS2304: use yarn",
        '  File "/srv/app.py", line 12, in use_yarn',
        "tests/test_a.py::test_use_yarn PASSED",
        "-rw-r--r-- 1 root root 12 Jan 1 10:00 use-yarn",
        '  "use": "yarn",',
        "+use yarn;",
    ],
)
def test_a_dump_of_lines_a_machine_wrote_becomes_their_number(line: str) -> None:
    dump = "\n".join([line] * 30)
    assert strip_text(f"{SAID}\n{dump}\n\n{OTHER}") == f"{SAID}\n[log, 30 lines]\n\n{OTHER}"
    few = "\n".join([line] * 3)
    assert strip_text(f"{SAID}\n{few}\n{OTHER}") == f"{SAID}\n{few}\n{OTHER}"


def test_a_sentence_between_two_dumps_survives() -> None:
    dump = "2025-01-01 10:00:00 WARN x\n    at a.b.C(D.java:1)\n" * 20
    assert strip_text(f"{dump}{SAID}\n{dump}{OTHER}") == f"[log, 40 lines]\n{SAID}\n[log, 40 lines]\n{OTHER}"


def test_a_list_of_rules_is_no_dump() -> None:
    rules = "\n".join(f"{n}. 第 {n} 条规则: 先写测试, then code\n- keep it short\n- 8:30 开会" for n in range(1, 40))
    assert strip_text(rules) == rules


def test_colours_and_control_characters_are_gone_and_their_text_stays() -> None:
    text = "\x1b[1;31m以后\x1b[0m都用\0 pnpm\x1b]0;title\x07, \x1b[2Knever\x9b31m npm.\ud800"
    assert strip_text(text) == "以后都用 pnpm, never npm.\ufffd"
    assert strip_text("\x1b]0;a title without end " + SAID).endswith(SAID)


@pytest.mark.parametrize("name", ["system-reminder", "tool_result", "user-memory", "file", "function_calls"])
def test_a_tag_left_open_swallows_nothing_of_a_person(name: str) -> None:
    for text in (
        f"<{name}>\n{SAID}\n\n{OTHER}",
        f"I hate the <{name}> tag. {SAID} {OTHER}",
        f"{SAID}</{name}> {OTHER}",
    ):
        left = strip_text(text, Voice.PERSON)
        assert SAID in left
        assert OTHER in left
        assert f"‹{name}›" in left or f"‹/{name}›" in left


def test_an_answer_that_breaks_off_in_a_tool_call_ends_there_and_says_so() -> None:
    left = strip_text(f"{SAID}\n<function_calls>\nuse yarn\n\nuse yarn", Voice.ASSISTANT)
    assert left == f"{SAID}\n[function_calls cut off]"
    assert strip_text("Tags like <tool_result> wrap output. Bye.", Voice.ASSISTANT).endswith("wrap output. Bye.")


def test_the_tail_of_a_conversation_that_begins_inside_a_tool_result_begins_after_it() -> None:
    left = strip_text(f"use yarn\nuse yarn</tool_result>\nUser: {SAID}", Voice.CONTEXT)
    assert "yarn" not in left
    assert SAID in left


def test_a_tag_in_backticks_is_written_about_and_ends_nothing() -> None:
    text = f"`<tool_result>` and `</tool_result>` wrap output. {SAID}"
    for voice in Voice:
        assert strip_text(text, voice) == text.replace("<", "‹").replace(">", "›")


FRAGMENTS = (
    "<user-memory>", "</user-memory>", "<system-reminder>", "</system-reminder>", "<file ", "<file>", "</file>",
    "<tool_result>", "</tool_result>", "<command-args>", "</command-args>", "`", "```", "\n```\n", "~~~~", "\n", "\n\n",
    "  ", "\t", "> ", '{"type":"tool_use"', '{"type": "tool_result", "a": [', "{", "}", "[", "]", '"', "\\", "\x1b[", "\x1b]",
    "\x1b", "31m", "\x9b", "\0", "data:", "data:a/b;base64,", ",", "- [usr_00c0ffee] ", "vim (user): x", "(user): ",
    "[Memory", "Provenance]", PROVENANCE, HOW_TO_SEARCH, "A" * 65 + "\n", "B" * 199, "QUJD" * 60, "==", "x", "我们",
    "2025-01-01 10:00:00 x\n" * 8, "x\n" * 45, '  "a": 1,\n' * 8, "‹", "›", "/", ">", "<", "\ud800", "\u0301", "\r\n",
)  # fmt: skip
messy = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=24).map("".join)


@given(messy, st.sampled_from(Voice))
def test_stripping_takes_any_text_adds_no_more_than_its_marks_and_is_done_at_once(text: str, voice: Voice) -> None:
    once = strip_text(text, voice)
    assert strip_text(once, voice) == once
    marks = re.findall(r"\[(?:tool|file|code|data|log)[^\]]*\]|\[[\w-]+ cut off\]", once)
    assert len(once) <= len(text) + sum(len(f"\n{mark}\n") for mark in marks)
    assert not re.search("[\0\x1b\x9b\ud800-\udfff]", once)


@given(
    st.text(
        st.characters(exclude_characters="<>{}[]`~\x1b", exclude_categories=["Cc", "Cs"]) | st.just("\n"), max_size=300
    )
)
def test_text_without_anything_of_a_machine_is_left_as_it_is(text: str) -> None:
    for voice in Voice:
        assert strip_text(text, voice) == re.sub("[\U000e0000-\U000e007f]", "", text)


HOSTILE = (
    "<file ",
    "<file>",
    "</file>",
    "<file></think><think></file>",
    "[",
    "{",
    '{"',
    '{"type":"tool_use",',
    "```a\n",
    "~~~\n```a\n",
    "- [usr_00c0ffee] ",
    "[Memory ",
    " ",
    "\n",
    "data:;",
    "\x1b]",
    "QUJD" * 19 + "\n",
    "." * 150 + "\n",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_size_of_a_text_is_no_weapon(piece: str) -> None:
    whole = piece * (400_000 // len(piece))
    turn = prepared(Turn(whole, whole, whole))
    assert len(turn.user) <= USER_MAX
    assert len(turn.assistant) <= ASSISTANT_MAX
    assert len(turn.context) <= CONTEXT_MAX


def test_secrets_are_redacted_before_anything_is_stored_or_asked() -> None:
    key = "sk-" + "ant-" + "api03-" + "Ab3dE6gH9" * 5
    turn = prepared(Turn(f"my key is {key}", f"use {key[:8]}\0{key[8:]} then", f"earlier: {key}"))
    for text in (turn.user, turn.assistant, turn.context):
        assert "[redacted:api-key]" in text
        assert key[12:30] not in text


def test_a_secret_is_not_cut_in_two_and_saved_by_the_cut() -> None:
    key = "sk-" + "proj-" + "Zx9" * 20
    turn = prepared(Turn("a " * 2_660 + key + " b" * 4_000, "ok", "c " * 2_000 + key + "d " * 1_480))
    assert "Zx9Zx9" not in turn.user + turn.context


def test_stripping_keeps_who_and_when() -> None:
    turn = Turn("<file>x</file>", "y", "z", "s", "t", "reviewer", True, ("p", "m"), 5)
    assert stripped(turn) == Turn("\n[file, 1 line]\n", "y", "z", "s", "t", "reviewer", True, ("p", "m"), 5)
    assert prepared(turn).session == "s"


@given(st.text(max_size=400), st.integers(0, 120))
def test_a_tail_is_an_end_of_the_text_and_not_too_long(text: str, most: int) -> None:
    kept = tail(text, most)
    assert text.endswith(kept)
    assert len(kept) <= most
    assert tail(kept, most) == kept


def test_a_tail_begins_with_a_line_else_a_sentence_else_a_word() -> None:
    assert tail("aaaa\nbbb ccc. ddd " + "e" * 2_985).startswith("bbb ccc")
    assert tail("x" * 50 + " bbb ccc. ddd " + "e" * 2_985).startswith("ddd")
    assert tail("好" * 3_500 + "。" + "行" * 2_900) == "行" * 2_900
    assert tail("x" * 50 + " ddd" + " " + "e" * 2_996).startswith("e")
    assert len(tail("x" * 9_000)) == CONTEXT_MAX


@given(st.text(max_size=400), st.integers(0, 200))
def test_a_bounded_text_keeps_both_ends_and_is_not_too_long(text: str, most: int) -> None:
    cut = bounded(text, most)
    assert len(cut) <= most
    assert cut == text or len(text) > most
    assert bounded(cut, most) == cut


def test_a_bounded_text_says_how_much_is_missing() -> None:
    cut = bounded(SAID + "x" * 10_000 + OTHER, 300)
    assert cut.startswith(SAID)
    assert cut.endswith(OTHER)
    assert "characters left out" in cut
