"""The model server itself, asked with plain HTTP: both protocols, every step of a script, and its end."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from spark_tui.demo.model_server import SAMPLING, ModelServer
from spark_tui.demo.steps import (
    CloseKeepAlive,
    Cut,
    Delay,
    Ending,
    ErrorAfter200,
    Fail,
    Hang,
    HangUp,
    Malformed,
    Redirect,
    RefuseMaxTokens,
    RefuseSchema,
    Say,
    Shape,
    SlowBytes,
    Step,
)
from tests.demo.asking import ANTHROPIC, OPENAI, Asker, Protocol
from tests.demo.asking import client as plain_client

TEXT = "a rather long answer, 中文 too, in several pieces"
SCHEMA = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "string"}}},
    "required": ["items"],
    "additionalProperties": False,
}
BOTH = pytest.mark.parametrize("protocol", [OPENAI, ANTHROPIC], ids=lambda each: each.name)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def ask(server: ModelServer) -> Iterator[Asker]:
    with plain_client() as client:
        yield Asker(server, client)


@BOTH
def test_a_step_is_said_whole_and_streamed_alike(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Say(TEXT, reasoning="let me think"), Say(TEXT, reasoning="let me think"))

    whole = protocol.said(ask.whole(protocol).json())
    streamed = protocol.joined(ask.stream(protocol))

    assert whole == streamed == (TEXT, "let me think")
    assert [request.is_stream for request in server.requests] == [False, True]


@BOTH
def test_steps_go_before_rules_and_rules_before_the_default(
    server: ModelServer, ask: Asker, protocol: Protocol
) -> None:
    server.when(("typo", "fix"), Say("rule"), times=1)
    server.when("typo", Say("other rule"))
    server.then(Say("step"))

    answers = [protocol.said(ask.whole(protocol, "fix this typo").json())[0] for _ in range(3)]

    assert answers == ["step", "rule", "other rule"]
    assert protocol.said(ask.whole(protocol, "something else").json())[0] == "[]"


@BOTH
def test_the_system_text_belongs_to_the_prompt(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.when("you extract memories", Say("as extractor"))
    assert protocol.said(ask.whole(protocol, system="you extract memories").json())[0] == "as extractor"


@BOTH
def test_tokens_are_counted_the_same_streamed_or_not(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Say("x" * 40, cached=2), Say("x" * 40, cached=2))
    prompt = "y" * 17

    whole = ask.whole(protocol, prompt).json()["usage"]
    events = ask.stream(protocol, prompt, **({"stream_options": {"include_usage": True}} if protocol is OPENAI else {}))

    if protocol is OPENAI:
        assert (whole["prompt_tokens"], whole["completion_tokens"], whole["total_tokens"]) == (5, 10, 15)
        assert whole["prompt_tokens_details"]["cached_tokens"] == 2
        assert events[-2].content["usage"] == whole
        assert events[-2].content["choices"] == []
    else:
        assert (whole["input_tokens"], whole["cache_read_input_tokens"], whole["output_tokens"]) == (3, 2, 10)
        assert events[0].content["message"]["usage"]["input_tokens"] == 3
        assert events[-2].content["usage"]["output_tokens"] == 10


def test_an_openai_stream_has_its_frame(server: ModelServer, ask: Asker) -> None:
    server.then(Say(TEXT))
    raw = ask.whole(OPENAI, stream=True).text

    assert raw.startswith(": keep-alive\n\n")
    assert raw.endswith("data: [DONE]\n\n")
    assert "usage" not in raw


def test_an_anthropic_stream_has_its_frame(server: ModelServer, ask: Asker) -> None:
    server.then(Say("short", reasoning="hm"))
    names = [event.name for event in ask.stream(ANTHROPIC)]

    assert names == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@BOTH
@pytest.mark.parametrize("ending", Ending)
def test_the_reason_for_the_end_is_told_in_the_words_of_the_protocol(
    server: ModelServer, ask: Asker, protocol: Protocol, ending: Ending
) -> None:
    server.then(Say("x", ending=ending), Say("x", ending=ending))
    wanted = protocol.endings[ending]

    assert protocol.ending(ask.whole(protocol).json()) == wanted
    assert protocol.stream_ending(ask.stream(protocol)) == wanted


@BOTH
def test_an_answer_longer_than_the_limit_is_cut_to_it(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Say("x" * 100))
    document = ask.whole(protocol, max_tokens=5).json()

    assert protocol.said(document)[0] == "x" * 20
    assert protocol.ending(document) == protocol.endings[Ending.LENGTH]


ITEMS = '[{"a": 1}, {"a": 2}]'


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (Shape.PLAIN, ITEMS),
        (Shape.FENCED, f"```json\n{ITEMS}\n```"),
        (Shape.WRAPPED, f'{{"memories": {ITEMS}}}'),
        (Shape.TRAILING_COMMA, '[\n  {"a": 1,},\n  {"a": 2,},\n]'),
        (Shape.SINGLE, '{"a": 1}'),
        (Shape.EMPTY, "[]"),
    ],
)
def test_json_is_written_in_the_shapes_of_models(server: ModelServer, ask: Asker, shape: Shape, text: str) -> None:
    server.then(Say(ITEMS, shape))
    assert OPENAI.said(ask.whole(OPENAI).json())[0] == text


def test_prose_stands_around_the_json_and_broken_json_is_broken(server: ModelServer, ask: Asker) -> None:
    server.then(Say(ITEMS, Shape.PROSE), Say(ITEMS, Shape.BROKEN))
    prose, broken = (OPENAI.said(ask.whole(OPENAI).json())[0] for _ in range(2))

    assert ITEMS in prose
    assert not prose.startswith("[")
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken)


@BOTH
def test_a_schema_is_followed_but_only_by_a_plain_answer(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Say('["one"]'), Say('["one"]', Shape.AS_IS))
    wish = protocol.schema_wish(SCHEMA)
    followed, as_is = (protocol.said(ask.whole(protocol, **wish).json())[0] for _ in range(2))

    assert json.loads(followed) == {"items": ["one"]}
    assert as_is == '["one"]'


@BOTH
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503, 529])
def test_a_failure_has_the_body_of_its_protocol(
    server: ModelServer, ask: Asker, protocol: Protocol, status: int, stream: bool
) -> None:
    server.then(Fail(status, retry_after=2))
    answer = ask.whole(protocol, stream=stream)

    assert answer.status_code == status
    assert answer.headers["retry-after"] == "2"
    assert isinstance(answer.json()["error"]["message"], str)
    assert (answer.json().get("type") == "error") is (protocol is ANTHROPIC)


def test_a_failure_repeats_what_a_client_must_not_repeat(server: ModelServer, ask: Asker) -> None:
    server.then(Fail(500), Fail(502, raw="<html>bad gateway</html>"))

    said = ask.whole(OPENAI, "my private prompt", headers={"authorization": "Bearer sk-private"}).text
    assert "my private prompt" in said
    assert "sk-private" in said
    assert ask.whole(OPENAI).text == "<html>bad gateway</html>"


@BOTH
def test_a_cut_stream_ends_after_exactly_that_much_text(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Cut(17, Say(TEXT)))
    events = ask.broken_stream(protocol, httpx.RemoteProtocolError)

    assert protocol.joined(events)[0] == TEXT[:17]


@BOTH
@pytest.mark.parametrize(
    ("step", "failure"),
    [
        (Cut(5, Say(TEXT)), httpx.RemoteProtocolError),
        (Cut(5, Say(TEXT), reset=True), httpx.TransportError),
        (HangUp(), httpx.RemoteProtocolError),
        (HangUp(reset=True), httpx.ReadError),
    ],
)
def test_a_connection_can_break_in_each_way(
    server: ModelServer, ask: Asker, protocol: Protocol, step: Step, failure: type[Exception]
) -> None:
    server.then(step)
    with pytest.raises(failure):
        ask.whole(protocol)
    assert protocol.said(ask.whole(protocol).json())[0] == "[]"


@BOTH
def test_an_error_can_come_in_the_midst_of_a_good_stream(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(ErrorAfter200(5, Say(TEXT)), ErrorAfter200(5))
    events = ask.stream(protocol)

    assert protocol.joined(events[:-1])[0] == TEXT[:5]
    assert events[-1].content["error"]["message"] == "Overloaded"
    whole = ask.whole(protocol)
    assert (whole.status_code, whole.json()["error"]["message"]) == (200, "Overloaded")


@BOTH
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_chunk_can_be_malformed(server: ModelServer, ask: Asker, protocol: Protocol, goes_on: bool) -> None:
    server.then(Malformed(5, Say(TEXT), goes_on=goes_on))
    events = ask.stream(protocol)
    (bad,) = (at for at, event in enumerate(events) if event.malformed)

    assert protocol.joined(events[:bad])[0] == TEXT[:5]
    assert protocol.joined(events[bad + 1 :])[0] == (TEXT[5:] if goes_on else "")


@BOTH
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("step", [Hang(), Hang(3, Say(TEXT)), Delay(before=60)])
def test_a_client_waits_in_vain_for_a_server_that_hangs(
    server: ModelServer, ask: Asker, protocol: Protocol, step: Step, stream: bool
) -> None:
    server.then(step)
    with pytest.raises(httpx.ReadTimeout):
        ask.whole(protocol, stream=stream, timeout=0.2)
    assert protocol.said(ask.whole(protocol).json())[0] == "[]"


@BOTH
def test_slow_answers_arrive_whole(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Delay(0.01, 0.001, Say(TEXT)), SlowBytes(0.0001, Say("x")), SlowBytes(0.0001, Say("x")))

    assert protocol.joined(ask.stream(protocol))[0] == TEXT
    assert protocol.joined(ask.stream(protocol))[0] == "x"
    assert protocol.said(ask.whole(protocol).json())[0] == "x"


def test_a_redirect_leads_where_the_script_says(server: ModelServer, ask: Asker) -> None:
    server.then(Redirect("https://elsewhere.invalid/v1", 308))
    answer = ask.whole(OPENAI)

    assert (answer.status_code, answer.headers["location"]) == (308, "https://elsewhere.invalid/v1")


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_the_connection_of_a_good_answer_turns_out_stale(
    server: ModelServer, ask: Asker, protocol: Protocol, stream: bool
) -> None:
    server.then(CloseKeepAlive())
    first = ask.whole(protocol, stream=stream)

    assert first.headers["connection"] == "keep-alive"
    with pytest.raises(httpx.RemoteProtocolError):
        ask.whole(protocol)
    assert protocol.said(ask.whole(protocol).json())[0] == "[]"
    assert len(server.requests) == 2, "the request on the stale connection was never seen"


def test_a_server_may_also_close_at_once_in_spite_of_its_promise(server: ModelServer, ask: Asker) -> None:
    server.then(CloseKeepAlive(Say("bye"), at_next_request=False))
    answer = ask.whole(OPENAI)

    assert answer.headers["connection"] == "keep-alive"
    assert OPENAI.said(answer.json())[0] == "bye"


@BOTH
def test_a_schema_is_refused_until_nobody_asks_for_one(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(RefuseSchema(Say("accepted"), weaker=False))
    wishes = [protocol.schema_wish(SCHEMA)]
    weaker = {"response_format": {"type": "json_object"}} if protocol is OPENAI else protocol.forced_tool(SCHEMA)
    wishes.append(weaker)

    assert [ask.whole(protocol, "as json", **wish).status_code for wish in wishes] == [400] * len(wishes)
    assert protocol.said(ask.whole(protocol).json())[0] == "accepted"
    assert protocol.said(ask.whole(protocol).json())[0] == "[]"


@BOTH
def test_a_forced_tool_is_called_with_what_is_said(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Say('["one"]'), Say('["one"]'))
    wish = protocol.forced_tool(SCHEMA)

    whole = protocol.called(ask.whole(protocol, **wish).json())
    streamed = protocol.joined_call(ask.stream(protocol, **wish))

    assert whole == streamed == ("found", {"items": ["one"]})


@BOTH
def test_a_tool_may_be_called_unforced(server: ModelServer, ask: Asker, protocol: Protocol) -> None:
    server.then(Say('{"query": "fox"}', tool="memory_search"), Say('{"query": "fox"}', tool="memory_search"))
    document, events = ask.whole(protocol).json(), ask.stream(protocol)

    assert protocol.called(document) == protocol.joined_call(events) == ("memory_search", {"query": "fox"})
    assert protocol.ending(document) == protocol.stream_ending(events) == protocol.tool_ending


def test_a_server_that_knows_no_schemas_may_know_tools(server: ModelServer, ask: Asker) -> None:
    server.then(RefuseSchema(Say('["x"]')))

    assert ask.whole(ANTHROPIC, **ANTHROPIC.schema_wish(SCHEMA)).status_code == 400
    assert ANTHROPIC.called(ask.whole(ANTHROPIC, **ANTHROPIC.forced_tool(SCHEMA)).json())[1] == {"items": ["x"]}


def test_a_server_that_knows_no_schemas_may_know_json_objects(server: ModelServer, ask: Asker) -> None:
    server.then(RefuseSchema(Say("{}")))

    assert ask.whole(OPENAI, "json please", **OPENAI.schema_wish(SCHEMA)).status_code == 400
    assert ask.whole(OPENAI, "json please", response_format={"type": "json_object"}).status_code == 200


def test_a_name_of_the_limit_is_refused_until_the_other_is_used(server: ModelServer, ask: Asker) -> None:
    server.then(RefuseMaxTokens(), RefuseMaxTokens(field="max_completion_tokens"))

    refused = ask.whole(OPENAI, max_tokens=10)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "unsupported_parameter"
    assert "Use 'max_completion_tokens' instead" in refused.json()["error"]["message"]
    assert ask.whole(OPENAI, max_completion_tokens=10).status_code == 200
    assert ask.whole(OPENAI, max_completion_tokens=10).status_code == 400
    assert ask.whole(OPENAI, max_tokens=10).status_code == 200


STRICT = {"type": "json_schema", "json_schema": {"name": "x", "strict": True}}


@pytest.mark.parametrize(
    "change",
    [
        {"model": None},
        {"messages": None},
        {"messages": []},
        {"messages": "text"},
        {"messages": [{"role": "robot", "content": "x"}]},
        {"messages": [{"role": "user"}]},
        {"max_tokens": 0},
        {"max_tokens": 5, "max_completion_tokens": 5},
        {"stream_options": {"include_usage": True}},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "xml"}},
        {"response_format": STRICT | {"json_schema": {"name": "x", "schema": {"type": "array"}}}},
        {"response_format": STRICT | {"json_schema": {**SCHEMA, "name": "x", "strict": True, "schema": {
            **SCHEMA, "required": []}}}},
        {"max_output": 5},
    ],
)  # fmt: skip
def test_openai_refuses_what_its_server_refuses(server: ModelServer, ask: Asker, change: dict[str, Any]) -> None:
    server.then(Say("kept for the good request"))
    answer = ask.whole(OPENAI, **change)

    assert answer.status_code == 400
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert OPENAI.said(ask.whole(OPENAI).json())[0] == "kept for the good request"


@pytest.mark.parametrize(
    "change",
    [
        {"model": None},
        {"messages": None},
        {"max_tokens": None},
        {"max_tokens": 0},
        {"messages": []},
        {"messages": [{"role": "system", "content": "x"}]},
        {"messages": [{"role": "assistant", "content": "x"}]},
        {"messages": [{"role": "user", "content": " "}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
        {"response_format": {"type": "json_object"}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}},
        {"tool_choice": {"type": "tool", "name": "nothing"}},
        {"headers": {"anthropic-version": None}},
    ],
)
def test_anthropic_refuses_what_its_server_refuses(server: ModelServer, ask: Asker, change: dict[str, Any]) -> None:
    server.then(Say("kept for the good request"))
    answer = ask.whole(ANTHROPIC, **change)

    assert answer.status_code == 400
    assert answer.json()["type"] == "error"
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert ANTHROPIC.said(ask.whole(ANTHROPIC).json())[0] == "kept for the good request"


@BOTH
def test_a_key_is_demanded_when_there_is_one(protocol: Protocol) -> None:
    with ModelServer(api_key="right") as server, plain_client() as client:
        ask = Asker(server, client)
        assert ask.whole(protocol).status_code == 401
        assert ask.whole(protocol, headers=protocol.key("wrong")).status_code == 401
        assert ask.whole(protocol, headers=protocol.key("right")).status_code == 200


@BOTH
def test_unknown_models_and_refused_fields_are_told(protocol: Protocol) -> None:
    with ModelServer(models=["big"], refuses=SAMPLING) as server, plain_client() as client:
        ask = Asker(server, client)
        assert ask.whole(protocol, model="small").status_code == 404
        assert ask.whole(protocol, model="big", temperature=0).status_code == 400
        assert ask.whole(protocol, model="big").status_code == 200


def test_models_are_listed_in_three_dialects() -> None:
    with ModelServer(models=["big", "small"]) as server, plain_client() as client:
        openai = client.get(f"{server.base_url}/models").json()
        anthropic = client.get(f"{server.base_url}/models", headers={"anthropic-version": "2023-06-01"}).json()
        ollama = client.get(f"{server.root_url}/api/tags").json()

    assert [each["id"] for each in openai["data"]] == ["big", "small"]
    assert [each["id"] for each in anthropic["data"]] == ["big", "small"]
    assert [each["name"] for each in ollama["models"]] == ["big", "small"]


def test_embeddings_are_the_same_at_every_run(ask: Asker) -> None:
    one, two, other = (
        ask.post("/embeddings", {"model": "m", "input": text}) for text in ("red fox", "red fox", "seven")
    )

    assert one.json()["data"] == two.json()["data"] != other.json()["data"]
    assert [row["index"] for row in ask.post("/embeddings", {"model": "m", "input": ["a", "b"]}).json()["data"]] == [
        0,
        1,
    ]
    assert ask.post("/embeddings", {"model": "m", "input": []}).status_code == 400


def test_paths_nobody_serves_and_bodies_nobody_reads(server: ModelServer, ask: Asker) -> None:
    assert ask.post("/responses", {"model": "m"}).status_code == 404
    assert ask.client.post(f"{server.base_url}/chat/completions", content=b"{not json").status_code == 400
    assert ask.client.get(f"{server.base_url}/chat/completions").status_code == 405


def test_what_arrived_can_be_read(server: ModelServer, ask: Asker) -> None:
    ask.whole(OPENAI, "what I asked", headers={"Authorization": "Bearer key"})
    (request,) = server.wait_for(1)

    assert (request.method, request.path, request.prompt) == ("POST", "/v1/chat/completions", "what I asked")
    assert request.headers["authorization"] == "Bearer key"
    assert request.body["model"] == "scripted"
    assert "Bearer" not in repr(request)


def test_each_step_is_given_once_however_many_ask_at_once() -> None:
    steps = [Say(str(number)) for number in range(200)]
    with ModelServer(steps) as server, ThreadPoolExecutor(16) as pool:

        def worker(turn: int) -> list[str]:
            protocol = (OPENAI, ANTHROPIC)[turn % 2]
            with plain_client() as client:
                return [protocol.joined(Asker(server, client).stream(protocol))[0] for _ in range(20)]

        said = [text for texts in pool.map(worker, range(10)) for text in texts]

    assert sorted(said, key=int) == [step.text for step in steps]
    assert len(server.requests) == 200


def test_the_server_ends_at_once_with_everything_it_started() -> None:
    before = set(threading.enumerate())
    steps = [Hang(), Hang(2, Say(TEXT)), Delay(before=600), SlowBytes(600)]
    with ThreadPoolExecutor(len(steps)) as pool:
        with ModelServer(steps) as server:
            asked = [pool.submit(_ask_once, server, stream) for stream in (False, True, False, True)]
            server.wait_for(4)
        left = {thread for thread in set(threading.enumerate()) - before if not thread.name.startswith("ThreadPool")}
        assert all(isinstance(each.exception(10), httpx.TransportError) for each in asked)

    assert left == set()


def test_a_client_that_leaves_is_counted(server: ModelServer, ask: Asker) -> None:
    server.then(Hang())
    with pytest.raises(httpx.ReadTimeout):
        ask.whole(OPENAI, timeout=0.05)
    while not server.abandoned:
        ask.whole(OPENAI)

    assert server.abandoned == 1


def _ask_once(server: ModelServer, stream: bool) -> httpx.Response:
    with plain_client(60) as client:
        return Asker(server, client).whole(OPENAI, stream=stream)
