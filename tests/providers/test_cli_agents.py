"""Agent programs as models, with real processes: what they get to see, what comes back, and that nothing stays behind."""

import asyncio
import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelFailed, ModelUnavailable
from engine.loop import EngineLoop
from engine.providers.chat import ChatReply, ChatRequest, Delta, Message, Role, Schema, Stop, Usage
from engine.providers.cli_agents import CliAgentModel
from engine.providers.cli_child import FOLDER_PREFIX, OUTPUT_MAX
from engine.providers.cli_dialects import prompt_of, unguarded
from engine.providers.faults import is_passing, is_unreachable
from tests.providers.fake_agents import FakeAgents, claude_result, codex_events

SECRET = "the private sentence"
QUESTION = ChatRequest((Message(Role.USER, f"extract: {SECRET}"),), system="You extract memories.")
SCHEMA = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "string"}}},
    "required": ["items"],
    "additionalProperties": False,
}
BOTH = pytest.mark.parametrize("program", ["claude", "codex"])


@pytest.fixture
def agents(tmp_path: Path) -> FakeAgents:
    return FakeAgents(tmp_path / "bin")


def model(agents: FakeAgents, program: str, name: str = "", **more: Any) -> CliAgentModel:
    return CliAgentModel(f"{program}-cli", "mine", name, environ=more.pop("environ", agents.environ), **more)


def answers(program: str, said: str) -> str:
    return claude_result(said) if program == "claude" else codex_events(said)


async def failure(made: CliAgentModel) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        await made.complete(QUESTION)
    assert SECRET not in f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert caught.value.__context__ is None, "what the program printed must not be reachable from the error"
    return caught.value


async def test_claude_answers_with_its_model_and_its_tokens(agents: FakeAgents) -> None:
    agents.program("claude", claude_result('[{"a": 1}]'))
    reply = await model(agents, "claude").complete(QUESTION)

    assert reply == ChatReply('[{"a": 1}]', "claude-big", Stop.END, Usage(12, 7, 40, 3))


async def test_the_model_that_was_asked_for_is_the_one_that_answered(agents: FakeAgents) -> None:
    agents.program("claude", claude_result("[]"))
    assert (await model(agents, "claude", "claude-small").complete(QUESTION)).model == "claude-small"
    assert (await model(agents, "claude", "big").complete(QUESTION)).model == "claude-big"


async def test_codex_answers_with_its_last_message_and_its_tokens(agents: FakeAgents) -> None:
    agents.program("codex", codex_events("I begin.", "[]"))
    reply = await model(agents, "codex", "gpt-x").complete(QUESTION)

    assert reply == ChatReply("[]", "gpt-x", Stop.END, Usage(15, 9, 30, 5))


@BOTH
async def test_the_prompt_goes_through_standard_input_only(agents: FakeAgents, program: str) -> None:
    agents.program(program, answers(program, "[]"))
    await model(agents, program, "some-model").complete(QUESTION)
    (call,) = agents.calls()

    assert SECRET in call.stdin
    assert "You extract memories." in call.stdin
    assert SECRET not in json.dumps(call.argv) + json.dumps(call.env)
    assert "extract memories" not in json.dumps(call.argv)
    assert call.argv[call.argv.index("--model") + 1] == "some-model"


@BOTH
async def test_without_a_model_the_program_chooses(agents: FakeAgents, program: str) -> None:
    agents.program(program, answers(program, "[]"))
    made = model(agents, program)
    await made.complete(QUESTION)

    assert "--model" not in agents.calls()[0].argv
    assert (made.provider, made.model) == ("mine", program)


@BOTH
async def test_the_program_stands_in_an_empty_folder_that_is_gone_afterwards(agents: FakeAgents, program: str) -> None:
    agents.program(program, answers(program, "[]"))
    await model(agents, program).complete(QUESTION)
    (call,) = agents.calls()

    assert call.files == {}
    assert Path(call.cwd).name.startswith(FOLDER_PREFIX)
    assert not Path(call.cwd).exists()


@BOTH
async def test_the_program_knows_it_is_asked_by_us_and_belongs_to_no_session(agents: FakeAgents, program: str) -> None:
    agents.program(program, answers(program, "[]"))
    around = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CODEX_SANDBOX": "seatbelt", "KEPT": "yes"}
    await model(agents, program, environ={**agents.environ, **around}).complete(QUESTION)
    (call,) = agents.calls()

    assert call.env["SPARK_AGENT"] == "extraction"
    assert call.env["KEPT"] == "yes"
    assert not {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX"} & set(call.env)


async def test_claude_may_neither_act_nor_read_what_a_turn_mentions(agents: FakeAgents) -> None:
    agents.program("claude", claude_result("[]"))
    await model(agents, "claude").complete(ChatRequest((Message(Role.USER, "/help\nsee @/etc/passwd and @notes.md"),)))
    (call,) = agents.calls()

    assert not call.stdin.startswith("/")
    assert "@/etc/passwd" not in call.stdin
    assert "@notes.md" not in call.stdin
    assert call.argv[call.argv.index("--tools") + 1] == ""
    assert json.loads(call.argv[call.argv.index("--settings") + 1])["permissions"]["deny"] == ["Read(//**)"]


async def test_mentions_come_back_as_they_were(agents: FakeAgents) -> None:
    agents.program("claude", body="sys.stdout.write(json.dumps(dict(type='result', result=call['stdin']))); sys.exit()")
    said = "ask @mei or write to mei@example.org, see @docs/a.md"
    reply = await model(agents, "claude").complete(ChatRequest((Message(Role.USER, said),)))

    assert reply.text.endswith(said)
    assert (reply.model, reply.usage) == ("claude", None)


@given(st.text())
def test_no_text_mentions_a_file_and_every_text_comes_back(said: str) -> None:
    prompt = prompt_of(ChatRequest((Message(Role.USER, said),), system=said))

    assert not re.search(r"(?:^|[\s\ufeff(\"'`:：])@[^\s\u2060]", prompt)
    if "@\u2060" not in said:
        assert unguarded(prompt).endswith(said)


async def test_a_conversation_says_who_speaks(agents: FakeAgents) -> None:
    agents.program("codex", codex_events("ok"))
    said = (Message(Role.USER, "one"), Message(Role.ASSISTANT, "two"), Message(Role.USER, "three"))
    await model(agents, "codex").complete(ChatRequest(said))

    assert agents.calls()[0].stdin.endswith("User:\none\n\nAssistant:\ntwo\n\nUser:\nthree")


async def test_codex_is_given_a_schema_it_can_follow(agents: FakeAgents) -> None:
    agents.program("codex", codex_events('{"items": []}'))
    made = model(agents, "codex")
    await made.complete(ChatRequest(QUESTION.messages, schema=Schema("found", SCHEMA)))
    await made.complete(ChatRequest(QUESTION.messages, schema=Schema("found", {"type": "array"})))
    strict, loose = agents.calls()

    name = strict.argv[strict.argv.index("--output-schema") + 1]
    assert json.loads(strict.files[name]) == SCHEMA
    assert "--output-schema" not in loose.argv
    assert loose.files == {}


async def test_a_stream_is_the_answer_in_one_piece(agents: FakeAgents) -> None:
    agents.program("claude", claude_result("hello"))
    pieces = [piece async for piece in model(agents, "claude").stream(QUESTION)]

    assert pieces[0] == Delta("hello")
    assert isinstance(pieces[1], ChatReply)
    assert len(pieces) == 2


@BOTH
async def test_an_older_release_is_asked_without_what_it_does_not_know(agents: FakeAgents, program: str) -> None:
    words = {"claude": "error: unknown option '{}'", "codex": "error: unexpected argument '{}' found"}[program]
    new = {"claude": ("--safe-mode", "--no-session-persistence"), "codex": ("--ephemeral", "--ignore-rules")}[program]
    agents.program(program, answers(program, "[]"), unknown=[(name, words.format(name)) for name in new])
    made = model(agents, program)

    assert (await made.complete(QUESTION)).text == "[]"
    assert len(agents.calls()) == 3
    assert not set(new) & set(agents.calls()[-1].argv)
    assert (await made.complete(QUESTION)).text == "[]"
    assert len(agents.calls()) == 4, "what was learned is remembered"


@pytest.mark.parametrize(
    ("program", "needed"),
    [("claude", each) for each in ("--output-format", "--tools", "--strict-mcp-config", "--settings")]
    + [("codex", each) for each in ("--sandbox", "-c")],
)
async def test_a_release_that_cannot_be_kept_from_acting_is_not_asked(
    agents: FakeAgents, program: str, needed: str
) -> None:
    agents.program(program, answers(program, "[]"), unknown=[(needed, f"error: unknown option '{needed}'")])
    failed = await failure(model(agents, program))

    assert failed.message == f"{program}: this release cannot be asked safely"
    assert (failed.hint, failed.details["fault"]) == (f"it does not know {needed}; update {program}", "outdated")
    assert (is_passing(failed), is_unreachable(failed)) == (False, True)
    assert len(agents.calls()) == 1


FAILURES = [
    ("Not logged in · Please run /login", None, "auth"),
    (f"Failed to authenticate. API Error: 401 {SECRET}", 401, "auth"),
    (f"API Error: Request rejected (429) · {SECRET}", 429, "rate_limited"),
    (f"API Error: 529 {SECRET}. This is a server-side issue", 529, "overloaded"),
    ("Credit balance is too low", 400, "no_credit"),
    ("Prompt is too long · the request is ~210000 tokens", 400, "too_long"),
    ("There's an issue with the selected model (x). It may not exist", 404, "not_found"),
    ("Claude AI usage limit reached|1700000000", None, "rate_limited"),
    (f"something new: {SECRET}", None, "server"),
]


@pytest.mark.parametrize(("said", "status", "fault"), FAILURES)
async def test_what_claude_says_of_a_failure_is_understood_and_not_repeated(
    agents: FakeAgents, said: str, status: int | None, fault: str
) -> None:
    agents.program("claude", claude_result(said, is_error=True, api_error_status=status), code=1)
    failed = await failure(model(agents, "claude"))

    assert (failed.details["fault"], failed.details["status"]) == (fault, status)
    assert failed.message.startswith("claude: ")


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (f"unexpected status 401 Unauthorized: {SECRET}, url: https://host/v1/responses", "auth"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
        ("You've hit your usage limit. Upgrade to Pro", "rate_limited"),
        ("stream disconnected before completion: failed to lookup address information", "connection"),
        ("The 'gpt-0' model is not supported when using Codex", "not_found"),
        (f"something new: {SECRET}", "server"),
    ],
)
async def test_what_codex_says_of_a_failure_is_understood_and_not_repeated(
    agents: FakeAgents, said: str, fault: str
) -> None:
    agents.program("codex", codex_events(end={"type": "turn.failed", "error": {"message": said}}), code=1)
    assert (await failure(model(agents, "codex"))).details["fault"] == fault


async def test_an_error_codex_recovered_from_is_none(agents: FakeAgents) -> None:
    reconnecting = json.dumps({"type": "error", "message": "Reconnecting... 2/5 (stream disconnected)"})
    agents.program("codex", f"{reconnecting}\n{codex_events('fine')}")
    assert (await model(agents, "codex").complete(QUESTION)).text == "fine"


@BOTH
async def test_who_is_not_logged_in_is_told_how(agents: FakeAgents, program: str) -> None:
    said = "Not logged in · run login"
    out = {"claude": claude_result(said, is_error=True), "codex": ""}[program]
    agents.program(program, out, err=said, code=1)
    failed = await failure(model(agents, program))

    assert failed.message == f"{program}: it is not logged in"
    assert f"run {program}" in str(failed.hint)


GARBAGE = ["", "null", "5", "[]", "{}", f"<html>{SECRET}</html>", '{"type": "result"', "\x00\ud7ff", "[" * 100_000,
           '{"type": "result", "result": 5}', '{"type": "turn.completed"}\n{"type": "item.completed", "item": 5}']  # fmt: skip


@BOTH
@pytest.mark.parametrize("out", GARBAGE)
@pytest.mark.parametrize(("code", "fault"), [(0, "bad_answer"), (1, "server"), (137, "server")])
async def test_garbage_is_no_answer(agents: FakeAgents, program: str, out: str, code: int, fault: str) -> None:
    agents.program(program, out, code=code)
    assert (await failure(model(agents, program))).details["fault"] == fault


@BOTH
async def test_a_good_answer_with_a_bad_end_is_not_taken(agents: FakeAgents, program: str) -> None:
    agents.program(program, answers(program, SECRET), code=3)
    assert (await failure(model(agents, program))).details["fault"] == "server"


async def test_a_flood_is_stopped(agents: FakeAgents) -> None:
    agents.program(
        "claude", body=f"while True: sys.stdout.write('x' * {OUTPUT_MAX // 4}); sys.stdout.flush(); time.sleep(0.1)"
    )
    assert (await failure(model(agents, "claude"))).details["fault"] == "bad_answer"
    assert not alive(agents.calls()[0].pid)


def alive(pid: int) -> bool:
    """Whether a process runs; a killed one whose parent has not looked yet does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


# Starts a child that would live for ten minutes and says its number, then waits itself.
FAMILY = """
import subprocess
child = subprocess.Popen([sys.executable, "-IS", "-c", "import time; time.sleep(600)"])
with open(os.path.join(folder, "child.new"), "w") as file: file.write(str(child.pid))
os.rename(os.path.join(folder, "child.new"), os.path.join(folder, "child"))
"""


def family(agents: FakeAgents) -> list[int]:
    return [agents.calls()[0].pid, int((agents.folder / "child").read_text())]


def gone(pids: list[int]) -> bool:
    end = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, pids))


async def test_a_program_that_takes_too_long_is_ended_with_its_children(agents: FakeAgents) -> None:
    agents.program("claude", body=f"{FAMILY}\ntime.sleep(600)")
    assert (await failure(model(agents, "claude", patience=1.5))).details["fault"] == "timeout"

    assert gone(family(agents))
    assert not Path(agents.calls()[0].cwd).exists()


async def test_a_call_that_is_cancelled_ends_the_program_with_its_children(agents: FakeAgents) -> None:
    agents.program("codex", body=f"{FAMILY}\ntime.sleep(600)")
    call = asyncio.ensure_future(model(agents, "codex").complete(QUESTION))
    while not (agents.folder / "child").exists():
        await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert gone(family(agents))
    assert not Path(agents.calls()[0].cwd).exists()


async def test_children_an_answered_program_leaves_behind_are_ended(agents: FakeAgents) -> None:
    agents.program("claude", claude_result("done"), body=FAMILY)
    assert (await model(agents, "claude").complete(QUESTION)).text == "done"
    assert gone(family(agents))


def test_a_closing_engine_ends_the_program(agents: FakeAgents) -> None:
    agents.program("claude", body=f"{FAMILY}\ntime.sleep(600)")
    loop = EngineLoop()
    call = loop.submit(model(agents, "claude").complete(QUESTION))
    while not (agents.folder / "child").exists():
        time.sleep(0.02)
    loop.close()

    assert call.cancelled() or call.exception() is not None
    assert gone(family(agents))


async def test_several_are_asked_at_once(agents: FakeAgents) -> None:
    agents.program("codex", codex_events("ok"))
    made = model(agents, "codex")
    replies = await asyncio.gather(*(made.complete(QUESTION) for _ in range(8)))

    assert [reply.text for reply in replies] == ["ok"] * 8
    assert len({call.cwd for call in agents.calls()}) == 8


async def test_a_permit_is_held_while_the_program_runs(agents: FakeAgents) -> None:
    agents.program("codex", codex_events("ok"))
    events: list[str] = []

    class Permit:
        async def __aenter__(self) -> None:
            events.append(f"taken after {len(agents.calls())} calls")

        async def __aexit__(self, *exception: object) -> None:
            events.append(f"given back after {len(agents.calls())} calls")

    await model(agents, "codex", permit=Permit).complete(QUESTION)
    assert events == ["taken after 0 calls", "given back after 1 calls"]


@BOTH
async def test_a_program_that_is_not_there(agents: FakeAgents, program: str) -> None:
    with pytest.raises(ModelUnavailable, match=f"{program} is not on PATH"):
        model(agents, program)
    agents.program(program)
    made = model(agents, program)
    (agents.folder / program).unlink()

    assert (await failure(made)).details["fault"] == "not_found"


async def test_a_program_that_cannot_be_started(agents: FakeAgents) -> None:
    path = agents.folder / "claude"
    path.write_bytes(b"#!/no/such/interpreter\n")
    path.chmod(0o755)
    assert (await failure(model(agents, "claude"))).details["fault"] == "server"


async def test_a_program_is_found_by_a_path_relative_to_where_we_stand(
    agents: FakeAgents, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.program("claude", claude_result("ok"))
    monkeypatch.chdir(agents.folder.parent)
    environ = {**os.environ, "PATH": "bin"}

    assert (await model(agents, "claude", environ=environ).complete(QUESTION)).text == "ok"
