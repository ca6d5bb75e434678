"""Our clients of both protocols against llama.cpp's server: what two sides understand that never met before."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from engine.config import Settings
from engine.errors import ModelFailed
from engine.loop import EngineLoop
from engine.paths import find_home
from engine.providers.chat import ChatModel, ChatReply, ChatRequest, Delta, Message, Role, Schema, Stop
from engine.providers.chat_choice import chat_model
from engine.providers.faults import ModelFault
from engine.providers.local_servers import offers
from tests.peer.conftest import KEY, serving
from tests.peer.serve_smollm2 import CONTEXT
from tests.providers.scripted import provider_config

# One process of it is enough for a run whose tests are shared out among several.
pytestmark = pytest.mark.xdist_group("peer")
KINDS = ("openai-compatible", "anthropic")
SECRET = "the private sentence"
COLOUR = Schema(
    "answer",
    {
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)


def asked(text: str, limit: int = 12, schema: Schema | None = None) -> ChatRequest:
    return ChatRequest((Message(Role.USER, text),), "You answer briefly.", limit, schema)


HELLO = asked("Say hello.")


def model_at(folder: Path, url: str, kind: str, key: str = KEY) -> ChatModel:
    """The model as the settings of a home name it."""
    home = find_home(folder / kind)
    home.root.mkdir(parents=True, exist_ok=True)
    home.config.write_text(provider_config(url, kind, models=["smollm2"], key_env="PEER_KEY"), "utf-8")
    return chat_model(Settings.load(home.config), home, "mine", environ={"PEER_KEY": key})


@pytest.fixture(params=KINDS)
async def model(request: pytest.FixtureRequest, peer: str, tmp_path: Path) -> AsyncIterator[ChatModel]:
    made = model_at(tmp_path, f"{peer}/v1", request.param)
    yield made
    await made.close()


async def streamed(model: ChatModel, request: ChatRequest) -> tuple[list[Delta], ChatReply]:
    pieces = [piece async for piece in model.stream(request)]
    reply = pieces.pop()
    assert isinstance(reply, ChatReply)
    return [piece for piece in pieces if isinstance(piece, Delta)], reply


async def test_an_answer_comes_whole(model: ChatModel) -> None:
    reply = await model.complete(HELLO)

    assert reply.text.strip()
    assert reply.model == "smollm2"
    assert reply.stop is Stop.LENGTH


async def test_an_answer_comes_in_pieces(model: ChatModel) -> None:
    deltas, reply = await streamed(model, HELLO)

    assert len(deltas) > 5
    assert "".join(delta.text for delta in deltas) == reply.text
    assert reply.stop is Stop.LENGTH


async def test_an_answer_may_end_by_itself(model: ChatModel) -> None:
    request = asked("Answer with one word: yes or no. Is the sky blue?", 200)

    assert (await model.complete(request)).stop is Stop.END
    assert (await streamed(model, request))[1].stop is Stop.END


async def test_tokens_are_counted_whole_and_streamed(model: ChatModel) -> None:
    usages = [(await model.complete(HELLO)).usage, (await streamed(model, HELLO))[1].usage]

    assert all(usage is not None and usage.output == HELLO.max_tokens for usage in usages)
    prompts = {usage.input + usage.cache_read for usage in usages if usage is not None}
    assert len(prompts) == 1, "cached or not, the prompt is as long"
    assert min(prompts) > 10


async def test_a_schema_is_followed_where_the_protocol_has_one(peer: str, tmp_path: Path) -> None:
    model = model_at(tmp_path, f"{peer}/v1", "openai-compatible")
    request = asked("What colour is the sky? Answer as JSON.", 60, COLOUR)
    replies = [await model.complete(request), (await streamed(model, request))[1]]
    await model.close()

    assert all(json.loads(reply.text)["colour"] in ("red", "blue") for reply in replies)


async def test_a_schema_the_server_does_not_know_costs_no_answer(peer: str, tmp_path: Path) -> None:
    # llama.cpp passes over Anthropic's field for it, so the answer is whatever the prompt made of it.
    model = model_at(tmp_path, f"{peer}/v1", "anthropic")
    reply = await model.complete(asked("What colour is the sky?", 60, COLOUR))
    await model.close()

    assert reply.text.strip()


async def test_calls_after_a_streamed_answer_find_a_connection(model: ChatModel) -> None:
    for _ in range(4):
        deltas, _reply = await streamed(model, asked("Say hello.", 2))
        assert deltas
        assert (await model.complete(asked("Say hello.", 2))).text


async def test_the_server_closes_a_connection_after_a_hundred_answers(model: ChatModel) -> None:
    replies = [await model.complete(asked("Hi", 1)) for _ in range(104)]
    assert all(reply.usage is not None and reply.usage.output == 1 for reply in replies)


async def test_an_answer_nobody_waits_for_does_not_block_the_next(model: ChatModel) -> None:
    stream = model.stream(asked("Write a very long story about a fox.", 800))
    assert isinstance(await anext(stream), Delta)
    await stream.aclose()  # type: ignore[attr-defined]

    assert (await model.complete(HELLO)).text


async def test_several_at_once_are_answered_one_after_the_other(model: ChatModel) -> None:
    replies = await asyncio.gather(*(model.complete(asked(f"Say {number}.", 3)) for number in range(4)))
    assert all(reply.text for reply in replies)


async def failure(model: ChatModel, request: ChatRequest) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        await model.complete(request)
    with pytest.raises(ModelFailed) as streamed_too:
        await streamed(model, request)
    await model.close()
    assert caught.value.details == streamed_too.value.details
    assert SECRET not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


async def test_a_prompt_too_long_is_told_as_that(model: ChatModel) -> None:
    failed = await failure(model, asked(f"{SECRET} " * CONTEXT))
    assert failed.details["fault"] is ModelFault.TOO_LONG


@pytest.mark.parametrize("kind", KINDS)
async def test_a_wrong_path_is_told_as_that(peer: str, tmp_path: Path, kind: str) -> None:
    failed = await failure(model_at(tmp_path, f"{peer}/elsewhere", kind), HELLO)
    assert (failed.details["fault"], failed.details["status"]) == (ModelFault.NOT_FOUND, 404)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_wrong_key_is_told_as_that(peer: str, tmp_path: Path, kind: str) -> None:
    failed = await failure(model_at(tmp_path, f"{peer}/v1", kind, "sk-wrong"), HELLO)
    assert (failed.details["fault"], failed.details["status"]) == (ModelFault.AUTH, 401)
    assert "sk-wrong" not in failed.message


def test_the_engine_asks_it_from_a_thread(peer: str, tmp_path: Path) -> None:
    loop = EngineLoop()
    try:
        model = model_at(tmp_path, f"{peer}/v1", "openai-compatible")
        assert loop.run(model.complete(HELLO)).text
        loop.run(model.close())
    finally:
        loop.close()


async def test_it_is_offered_as_a_local_server() -> None:
    with serving() as address:
        port = urlsplit(address).port
        assert port is not None
        found = await offers({"PATH": ""}, {"ollama": 1, "lm-studio": 1, "llama-server": port}, seconds=5)

    assert [(offer.base_url, offer.models) for offer in found] == [(f"{address}/v1", ("smollm2",))]
