"""Anthropic's protocol against a server that speaks it: headers, cache breakpoint, schema, events."""

import json

import pytest

from engine.errors import ValidationFailed
from engine.providers.anthropic_chat import AnthropicChat
from engine.providers.chat import ChatRequest, Message, Role, Schema, Stop
from spark_tui.demo.model_server import SAMPLING, ModelServer
from spark_tui.demo.steps import Ending, RefuseSchema, Say
from tests.providers.chatting import COLOURS, KEY, SECRET, SYSTEM, anthropic, failure_of, terms, whole

pytestmark = pytest.mark.parametrize("way", ["complete", "stream"])
SCHEMA_QUESTION = ChatRequest((Message(Role.USER, "as JSON please"),), schema=COLOURS)


@pytest.mark.parametrize("slash", ["", "/", "/v1", "/v1/"])
async def test_a_question_is_asked_as_the_protocol_wants_it(model_server: ModelServer, way: str, slash: str) -> None:
    await whole(anthropic(model_server.root_url + slash), way)
    (request,) = model_server.requests

    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.body == {
        "model": "scripted",
        "max_tokens": 500,
        "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": SECRET}],
    } | ({"stream": True} if way == "stream" else {})
    assert not set(SAMPLING) & set(request.body)


async def test_the_version_is_the_providers(model_server: ModelServer, way: str) -> None:
    await whole(AnthropicChat("mine", model_server.root_url, "m", terms(), version="2030-01-01"), way)

    assert model_server.requests[0].headers["anthropic-version"] == "2030-01-01"


async def test_an_answer_comes_with_model_usage_and_reasoning(model_server: ModelServer, way: str) -> None:
    model_server.then(Say("颜色 blue", reasoning="first I thought", cached=3))
    reply = await whole(anthropic(model_server.base_url), way)

    assert (reply.text, reply.reasoning, reply.stop, reply.model) == (
        "颜色 blue",
        "first I thought",
        Stop.END,
        "scripted",
    )
    assert reply.usage is not None
    assert (reply.usage.cache_read, reply.usage.cache_write) == (3, 0)
    assert reply.usage.input > 0
    assert reply.usage.output > 1


@pytest.mark.parametrize(("ending", "stop"), [(Ending.LENGTH, Stop.LENGTH), (Ending.REFUSED, Stop.REFUSED)])
async def test_the_reason_of_the_end_is_told(model_server: ModelServer, way: str, ending: Ending, stop: Stop) -> None:
    model_server.then(Say("half an ans", ending=ending))
    reply = await whole(anthropic(model_server.base_url), way)

    assert (reply.text, reply.stop) == ("half an ans", stop)


async def test_the_schema_is_asked_for_by_its_field(model_server: ModelServer, way: str) -> None:
    model_server.then(Say('["red"]'))
    model = anthropic(model_server.base_url)

    assert (await whole(model, way, SCHEMA_QUESTION)).text == '{"items": ["red"]}'
    asked = model_server.requests[0].body
    assert asked["output_config"] == {"format": {"type": "json_schema", "schema": COLOURS.content}}
    assert "tools" not in asked
    assert model.structured == "output_config"


async def test_a_model_without_that_field_is_given_a_tool_to_fill_in(model_server: ModelServer, way: str) -> None:
    step = RefuseSchema(Say('["red"]'))
    model_server.then(step, step)
    model = anthropic(model_server.base_url)
    for _ in range(2):
        reply = await whole(model, way, SCHEMA_QUESTION)
        assert (json.loads(reply.text), reply.stop) == ({"items": ["red"]}, Stop.END)

    first, second, third = (request.body for request in model_server.requests)
    assert "output_config" in first
    assert second["tool_choice"] == third["tool_choice"] == {"type": "tool", "name": "colours"}
    assert second["tools"][0]["input_schema"] == COLOURS.content


async def test_a_strict_server_that_knows_neither_is_asked_in_words(way: str) -> None:
    with ModelServer(default=Say('["red"]'), refuses=["output_config", "tools", "tool_choice"]) as server:
        model = anthropic(server.base_url)
        assert (await whole(model, way, SCHEMA_QUESTION)).text == '["red"]'
        assert set(server.requests[-1].body) - {"stream"} == {"model", "max_tokens", "messages"}
        assert model.structured == "plain"


async def test_a_schema_the_protocol_cannot_take_is_asked_for_in_words_without_being_refused(
    model_server: ModelServer, way: str
) -> None:
    array = Schema("list", {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}})
    await whole(anthropic(model_server.base_url), way, ChatRequest(SCHEMA_QUESTION.messages, schema=array))
    (request,) = model_server.requests

    assert not {"output_config", "tools"} & set(request.body)


async def test_a_server_that_takes_the_system_text_only_as_a_string_gets_one(way: str) -> None:
    with ModelServer(default=Say("fine"), refuses=["system"]) as server:
        assert (await failure_of(anthropic(server.base_url), way)).details["fault"] == "bad_request"
        assert [type(request.body["system"]) for request in server.requests] == [list, str]


def test_a_base_url_with_a_login_is_refused_unseen(way: str) -> None:
    with pytest.raises(ValidationFailed) as failure:
        anthropic("https://user:secret@host")
    assert "secret" not in failure.value.message
