"""OpenAI's protocol against a server that speaks it: what is asked, what comes back, what is left out when refused."""

import asyncio
from typing import Any

import pytest

from engine.providers.chat import ChatModel, ChatRequest, Message, Role, Schema, Stop
from engine.settings_providers import ProviderKind
from spark_tui.demo.model_server import SAMPLING, ModelServer
from spark_tui.demo.steps import Delay, Ending, RefuseMaxTokens, RefuseSchema, Say
from tests.providers.chatting import COLOURS, KEY, SECRET, SYSTEM, openai, whole

pytestmark = pytest.mark.parametrize("way", ["complete", "stream"])
SCHEMA_QUESTION = ChatRequest((Message(Role.USER, "as JSON please"),), schema=COLOURS)


async def test_a_question_is_asked_as_the_protocol_wants_it(model_server: ModelServer, way: str) -> None:
    model: ChatModel = openai(model_server.base_url)
    assert (model.provider, model.model) == ("mine", "scripted")
    await whole(openai(model_server.base_url), way)
    (request,) = model_server.requests

    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body: dict[str, Any] = {
        "model": "scripted",
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": SECRET}],
        "max_tokens": 500,
    }
    streams = {"stream": True, "stream_options": {"include_usage": True}}
    assert request.body == body | (streams if way == "stream" else {})
    assert not set(SAMPLING) & set(request.body)


async def test_an_answer_comes_with_model_usage_and_reasoning(model_server: ModelServer, way: str) -> None:
    model_server.then(Say("颜色 blue", reasoning="first I thought", cached=3))
    reply = await whole(openai(model_server.base_url), way)

    assert (reply.text, reply.reasoning, reply.stop, reply.model) == (
        "颜色 blue",
        "first I thought",
        Stop.END,
        "scripted",
    )
    assert reply.usage is not None
    assert (reply.usage.cache_read, reply.usage.cache_write) == (3, 0)
    assert reply.usage.input > 0
    assert reply.usage.output > 0


@pytest.mark.parametrize(("ending", "stop"), [(Ending.LENGTH, Stop.LENGTH), (Ending.REFUSED, Stop.REFUSED)])
async def test_the_reason_of_the_end_is_told(model_server: ModelServer, way: str, ending: Ending, stop: Stop) -> None:
    model_server.then(Say("half an ans", ending=ending))
    reply = await whole(openai(model_server.base_url), way)

    assert (reply.text, reply.stop) == ("half an ans", stop)


async def test_missing_usage_is_no_failure(model_server: ModelServer, way: str) -> None:
    model_server.then(Say("fine", usage=False))
    reply = await whole(openai(model_server.base_url), way)

    assert (reply.text, reply.usage) == ("fine", None)


async def test_without_a_key_none_is_sent(model_server: ModelServer, way: str) -> None:
    await whole(openai(model_server.base_url, key=None), way)

    assert "authorization" not in model_server.requests[0].headers


async def test_half_a_surrogate_pair_is_sent_as_something_a_server_can_read(
    model_server: ModelServer, way: str
) -> None:
    await whole(openai(model_server.base_url), way, ChatRequest((Message(Role.USER, "broken \ud800 text"),)))

    assert model_server.requests[0].prompt == "broken ? text"


async def test_the_schema_is_asked_for_strictly_when_it_is_strict(model_server: ModelServer, way: str) -> None:
    model_server.then(Say('["red"]'), Say('["red"]'))
    model = openai(model_server.base_url)
    reply = await whole(model, way, SCHEMA_QUESTION)
    loose = Schema("loose", {"type": "object", "properties": {"items": {"type": "array"}}})
    await whole(model, way, ChatRequest(SCHEMA_QUESTION.messages, schema=loose))

    assert reply.text == '{"items": ["red"]}'
    asked = [request.body["response_format"]["json_schema"] for request in model_server.requests]
    assert asked == [
        {"name": "colours", "schema": COLOURS.content, "strict": True},
        {"name": "loose", "schema": loose.content, "strict": False},
    ]


@pytest.mark.parametrize(("json_object", "tried"), [(True, ["json_schema", "json_object"]),
                                                    (False, ["json_schema", "json_object", None])])  # fmt: skip
async def test_a_refused_schema_is_asked_for_less_strictly_and_never_again(
    model_server: ModelServer, way: str, json_object: bool, tried: list[str | None]
) -> None:
    step = RefuseSchema(Say('["red"]'), weaker=json_object)
    model_server.then(step, step)
    model = openai(model_server.base_url)
    for _ in range(2):
        assert "red" in (await whole(model, way, SCHEMA_QUESTION)).text

    asked = [request.body.get("response_format", {}).get("type") for request in model_server.requests]
    assert asked == [*tried, tried[-1]]
    assert model.structured == (tried[-1] or "plain")
    assert (await whole(openai(model_server.base_url), way)).stop is Stop.END  # another one begins anew


@pytest.mark.parametrize(
    ("kind", "refused"),
    [(ProviderKind.OPENAI, "max_completion_tokens"), (ProviderKind.OLLAMA, "max_tokens")],
)
async def test_the_other_name_of_the_token_limit_is_used_from_then_on(
    model_server: ModelServer, way: str, kind: str, refused: str
) -> None:
    names = {"max_tokens", "max_completion_tokens"}
    model_server.then(RefuseMaxTokens(Say("one"), field=refused), Say("two"))
    model = openai(model_server.base_url, kind)
    assert [(await whole(model, way)).text for _ in range(2)] == ["one", "two"]

    asked = [names & set(request.body) for request in model_server.requests]
    assert asked == [{refused}, names - {refused}, names - {refused}]


async def test_a_server_that_knows_neither_name_decides_the_limit_itself(way: str) -> None:
    with ModelServer(default=Say("ok"), refuses=["max_tokens", "max_completion_tokens"]) as server:
        assert (await whole(openai(server.base_url), way)).text == "ok"
        assert len(server.requests) == 3
        assert not {"max_tokens", "max_completion_tokens"} & set(server.requests[-1].body)


async def test_a_server_may_refuse_several_things_at_once(way: str) -> None:
    with ModelServer(default=Say('["x"]'), refuses=["max_tokens", "response_format", "stream_options"]) as server:
        model = openai(server.base_url)
        assert (await whole(model, way, SCHEMA_QUESTION)).text == '["x"]'
        asked = len(server.requests)
        assert (await whole(model, way, SCHEMA_QUESTION)).text == '["x"]'
        assert len(server.requests) == asked + 1


async def test_questions_at_once_do_not_mix(model_server: ModelServer, way: str) -> None:
    for name in "abcdefgh":
        model_server.when(f"say {name}", Say(name * 40, piece=3))
    model = openai(model_server.base_url)
    asked = [ChatRequest((Message(Role.USER, f"say {name}"),)) for name in "abcdefgh"]
    replies = await asyncio.gather(*(whole(model, way, request) for request in asked))

    assert [reply.text for reply in replies] == [name * 40 for name in "abcdefgh"]


async def test_questions_refused_at_once_give_up_one_way_together(way: str) -> None:
    with ModelServer(default=Say("ok"), refuses=["max_tokens"]) as server:
        model = openai(server.base_url)
        replies = await asyncio.gather(*(whole(model, way) for _ in range(8)))
        await whole(model, way)

        assert {reply.text for reply in replies} == {"ok"}
        assert server.requests[-1].body["max_completion_tokens"] == 500


async def test_closing_lets_the_answer_being_read_come_to_its_end(model_server: ModelServer, way: str) -> None:
    model_server.then(Delay(before=0.1, between=0.02, answer=Say("a long answer", piece=2)))
    model = openai(model_server.base_url)
    call = asyncio.create_task(whole(model, way))
    await asyncio.to_thread(model_server.wait_for, 1)
    await model.close()

    assert (await call).text == "a long answer"
    assert (await whole(model, way)).text == "[]"
