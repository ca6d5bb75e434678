"""Streams that break, stall, lie or never end; cancelled calls; connections that went stale."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ModelFailed
from engine.loop import EngineLoop
from engine.providers.chat import ChatReply, Stop
from engine.settings_providers import Timeouts
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import (
    CloseKeepAlive,
    Cut,
    Delay,
    Ending,
    ErrorAfter200,
    Fail,
    Hang,
    Malformed,
    Say,
    SlowBytes,
)
from tests.providers.chatting import BOTH, QUESTION, QUICK, Make, anthropic, failure_of, openai, streamed, whole

both = pytest.mark.parametrize("make", BOTH, ids=lambda make: make.__name__)
TEXT = "one two three four five six"
SAID = Say(TEXT, piece=4)


@both
@pytest.mark.parametrize(
    "step",
    [Cut(8, SAID), Cut(8, SAID, reset=True), ErrorAfter200(8, SAID), Malformed(8, SAID), Malformed(8, SAID, goes_on=True),
     Hang(8, SAID)],
    ids=lambda step: type(step).__name__,
)  # fmt: skip
async def test_a_stream_that_breaks_ends_with_what_arrived(model_server: ModelServer, make: Make, step: Cut) -> None:
    model_server.then(step, Say("not asked again"))
    _, reply = await streamed(make(model_server.base_url, timeouts=QUICK))

    assert (reply.text, reply.stop) == (TEXT[:8], Stop.INCOMPLETE)
    assert len(model_server.requests) == 1


@both
@pytest.mark.parametrize(
    ("step", "fault"),
    [(Cut(0, SAID), "cut"), (ErrorAfter200(0, SAID), "overloaded"), (ErrorAfter200(0, SAID, "strange"), "server"),
     (Malformed(0, SAID), "bad_answer"), (Hang(0, SAID), "timeout")],
    ids=lambda step: type(step).__name__,
)  # fmt: skip
async def test_a_stream_that_breaks_before_anything_arrived_fails(
    model_server: ModelServer, make: Make, step: Cut, fault: str
) -> None:
    model_server.then(step)
    assert (await failure_of(make(model_server.base_url, timeouts=QUICK), "stream")).details["fault"] == fault


@both
@pytest.mark.parametrize(
    "step", [Cut(30, SAID), Hang(30, SAID), ErrorAfter200(30, SAID)], ids=lambda step: type(step).__name__
)
async def test_an_answer_in_one_piece_that_breaks_fails(model_server: ModelServer, make: Make, step: Cut) -> None:
    model_server.then(step)
    failure = await failure_of(make(model_server.base_url, timeouts=QUICK), "complete")
    assert failure.details["fault"] in ("cut", "timeout", "overloaded")


@both
async def test_pieces_come_one_after_the_other_and_are_counted(model_server: ModelServer, make: Make) -> None:
    model_server.then(Say("one two three four", piece=4, reasoning="hm", cached=3))
    pieces, reply = await streamed(make(model_server.base_url))

    assert [piece.text for piece in pieces if piece.text] == ["one ", "two ", "thre", "e fo", "ur"]
    assert reply.usage is not None
    assert (reply.usage.cache_read, reply.usage.output > 1) == (3, True)


@both
async def test_a_slow_stream_is_read_as_long_as_it_moves(model_server: ModelServer, make: Make) -> None:
    model_server.then(SlowBytes(0.001, Say("slow but sure")), Delay(between=0.15, answer=SAID))
    model = make(model_server.base_url, timeouts=Timeouts(2.0, 1.0, 1.0))

    assert [(await streamed(model))[1].text for _ in range(2)] == ["slow but sure", TEXT]


@both
async def test_a_whole_answer_has_an_end_however_it_moves(model_server: ModelServer, make: Make) -> None:
    model_server.then(Delay(between=0.1, answer=Say("x" * 500, piece=1)))
    _, reply = await streamed(make(model_server.base_url, timeouts=Timeouts(0.2, 1.0, 1.0, whole=0.5)))
    assert reply.stop is Stop.INCOMPLETE
    assert 0 < len(reply.text) < 500


@both
async def test_a_second_try_is_within_the_time_of_the_whole_call(model_server: ModelServer, make: Make) -> None:
    model_server.then(Fail(503, retry_after=2), Say("too late"))
    model = make(model_server.base_url, timeouts=Timeouts(2.0, 2.0, 1.0, whole=1.0))
    assert (await failure_of(model, "complete")).details["fault"] == "overloaded"
    assert len(model_server.requests) == 1


@both
@pytest.mark.parametrize("way", ["complete", "stream"])
@pytest.mark.parametrize("at_next_request", [True, False])
async def test_a_connection_that_went_stale_is_no_failure(
    model_server: ModelServer, make: Make, way: str, at_next_request: bool
) -> None:
    steps = [CloseKeepAlive(Say(f"answer {n}"), at_next_request) for n in range(4)]
    model_server.then(*steps)
    model = make(model_server.base_url)

    assert [(await whole(model, way)).text for _ in range(4)] == [f"answer {n}" for n in range(4)]


@both
async def test_a_connection_is_used_again_after_a_whole_stream(model_server: ModelServer, make: Make) -> None:
    model = make(model_server.base_url)
    port = _port(model_server)
    for _ in range(3):
        await streamed(model)
        assert len(_connections(port)) == 1
    await model.close()
    assert not _connections(port)
    assert (await whole(model, "stream")).text == "[]"


@both
@pytest.mark.parametrize("way", ["complete", "stream"])
@pytest.mark.parametrize(
    "step", [Hang(), Hang(8, SAID), Delay(between=5.0, answer=SAID)], ids=["headers", "body", "slow"]
)
async def test_a_cancelled_call_leaves_no_connection(
    model_server: ModelServer, make: Make, way: str, step: Hang | Delay
) -> None:
    model_server.then(step if way == "stream" or isinstance(step, Hang) else Hang())
    call = asyncio.create_task(whole(make(model_server.base_url), way))
    await asyncio.to_thread(model_server.wait_for, 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert not _connections(_port(model_server))


@both
async def test_a_call_can_be_cancelled_at_any_moment(model_server: ModelServer, make: Make) -> None:
    model = make(model_server.base_url)
    await whole(model, "stream")
    for moment in range(40):
        call = asyncio.create_task(whole(model, "stream"))
        for _ in range(moment):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    assert (await whole(model, "stream")).text == "[]"
    await model.close()
    assert not _connections(_port(model_server))


@both
async def test_a_reader_that_stops_early_leaves_no_connection(model_server: ModelServer, make: Make) -> None:
    model_server.then(Hang(8, SAID))
    pieces = make(model_server.base_url).stream(QUESTION)
    assert not isinstance(await anext(pieces), ChatReply)
    await pieces.aclose()  # type: ignore[attr-defined]

    assert not _connections(_port(model_server))


def test_a_thread_that_waits_is_freed_when_the_loop_ends(model_server: ModelServer) -> None:
    model_server.then(Hang())
    loop = EngineLoop()
    future = loop.submit(openai(model_server.base_url).complete(QUESTION))
    model_server.wait_for(1)
    loop.close()

    assert future.cancelled()
    assert not _connections(_port(model_server))


Pieces = list[bytes]
_SSE = {"content-type": "text/event-stream"}
_OPENAI = b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n'
_ANTHROPIC = b'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": {"text": "hi"}}\n\n'


@asynccontextmanager
async def raw_server(pieces: Pieces, headers: dict[str, str] = _SSE, pause: float = 0.0) -> AsyncIterator[str]:
    """Answers 200 with these bytes and hangs up: what no server that knows a protocol would send."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        told = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 200 OK\r\nconnection: close\r\n{told}\r\n".encode())
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        writer.close()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def asked(make: Make, pieces: Pieces, **more: object) -> ChatReply | ModelFailed:
    """What comes of a stream of these bytes."""
    async with raw_server(pieces, **more) as url:  # type: ignore[arg-type]
        model = make(url, timeouts=Timeouts(2.0, 2.0, 2.0), retries=False)
        try:
            return (await streamed(model))[1]
        except ModelFailed as failure:
            return failure
        finally:
            await model.close()


_shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "choices", "delta", "content", "text", "usage", "error", "finish_reason", "message",
                         "content_block", "stop_reason", "reasoning_content", "prompt_tokens", "input_tokens", "model"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@st.composite
def _streams(draw: Callable[[st.SearchStrategy[bytes]], bytes]) -> Pieces:
    import json

    event = _shapes.map(lambda value: f"data: {json.dumps(value)}\n\n".encode())
    part = st.one_of(
        st.binary(max_size=40),
        event,
        st.sampled_from([_OPENAI, _ANTHROPIC, b": alive\n\n", b"data: [DONE]\n\n", b"\r"]),
    )
    return draw(st.lists(part, max_size=8))  # type: ignore[arg-type, return-value]


@both
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=_streams())
def test_random_bytes_as_a_stream_raise_nothing_but_a_model_failure(make: Make, pieces: Pieces) -> None:
    outcome = asyncio.run(asyncio.wait_for(asked(make, pieces), 20))
    assert isinstance(outcome, ChatReply | ModelFailed)


@both
@settings(max_examples=60)
@given(
    body=st.binary(max_size=200) | _shapes.map(repr).map(str.encode),
    packed=st.sampled_from(["", "gzip", "br", "deflate"]),
)
def test_random_bytes_as_an_answer_raise_nothing_but_a_model_failure(make: Make, body: bytes, packed: str) -> None:
    async def ask() -> object:
        headers = {"content-type": "application/json", **({"content-encoding": packed} if packed else {})}
        async with raw_server([body], headers) as url:
            model = make(url, timeouts=Timeouts(2.0, 2.0, 2.0), retries=False)
            try:
                return await model.complete(QUESTION)
            except ModelFailed as failure:
                return failure
            finally:
                await model.close()

    assert isinstance(asyncio.run(asyncio.wait_for(ask(), 20)), ChatReply | ModelFailed)


EVENTS = [(openai, _OPENAI), (anthropic, _ANTHROPIC)]


@pytest.mark.parametrize(("make", "event"), EVENTS)
async def test_a_stream_cut_at_any_byte_is_read_the_same(make: Make, event: bytes) -> None:
    whole_stream = b"\xef\xbb\xbf: alive\r\n\r\n" + event.replace(b"\n", b"\r\n") + event.replace(b"hi", "嗨".encode())
    for at in range(0, len(whole_stream), 7):
        reply = await asked(make, [whole_stream[:at], whole_stream[at:]])
        assert isinstance(reply, ChatReply)
        assert (reply.text, reply.stop) == ("hi嗨", Stop.INCOMPLETE)


@pytest.mark.parametrize(("make", "event"), EVENTS)
async def test_comments_keep_a_stream_alive_and_the_last_blank_line_may_be_missing(make: Make, event: bytes) -> None:
    reply = await asked(make, [b": OPENROUTER PROCESSING\n\n"] * 5 + [event.rstrip(b"\n")], pause=0.02)
    assert isinstance(reply, ChatReply)
    assert reply.text == "hi"


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/octet-stream", "text/event-stream; charset=latin-1"]
)
async def test_a_stream_may_be_called_by_another_name(content_type: str) -> None:
    event = _OPENAI.replace(b"hi", "嗨".encode())
    reply = await asked(openai, [event, b"data: [DONE]\n\n"], headers={"content-type": content_type})
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.stop) == ("嗨", Stop.END)


async def test_a_server_that_does_not_stream_is_understood() -> None:
    body = b'{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}'
    reply = await asked(openai, [body], headers={"content-type": "application/json"})
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.stop) == ("whole", Stop.END)


async def test_an_endless_line_and_an_endless_answer_are_given_up() -> None:
    for piece in (b"x" * 1_000_000, b'data: {"a": "%s"}\n\n' % (b"x" * 1_000_000)):
        outcome = await asked(openai, [piece] * 20)
        assert isinstance(outcome, ModelFailed)
        assert outcome.details["fault"] == "bad_answer"


async def test_the_end_is_known_before_the_connection_says_so() -> None:
    done = _OPENAI + b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    reply = await asked(openai, [done, b""], pause=1.0)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.stop) == ("hi", Stop.END)


@pytest.mark.parametrize("ending", list(Ending))
async def test_what_breaks_after_the_last_word_does_no_harm(ending: Ending) -> None:
    reason = {Ending.END: "stop", Ending.LENGTH: "length", Ending.REFUSED: "content_filter"}[ending]
    told = b'data: {"choices": [{"delta": {}, "finish_reason": "%s"}]}\n\n' % reason.encode()
    reply = await asked(openai, [_OPENAI, told, b'data: {"bro'])
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.stop.value) == ("hi", ending.value)


def _port(server: ModelServer) -> int:
    return int(server.root_url.rpartition(":")[2])


def _connections(port: int) -> list[object]:
    """This process's own open connections to a port."""
    found = psutil.Process().net_connections("tcp")
    return [each for each in found if each.raddr and each.raddr.port == port and each.status == "ESTABLISHED"]
