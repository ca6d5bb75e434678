"""What a call to either kind of endpoint fails with: status × body × header, and what is never told."""

import logging
import socket

import pytest

from engine.errors import ModelFailed
from engine.providers.faults import ModelFault, is_passing, is_unreachable
from engine.settings_providers import Timeouts
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail, Hang, HangUp, Malformed, Redirect, Say
from tests.providers.chatting import BOTH, KEY, SECRET, Make, Pauses, anthropic, failure_of, openai, whole

both = pytest.mark.parametrize("make", BOTH, ids=lambda make: make.__name__)
either_way = pytest.mark.parametrize("way", ["complete", "stream"])
TABLE = [
    (400, None, "bad_request", 1), (401, None, "auth", 1), (402, None, "no_credit", 1), (403, None, "forbidden", 1),
    (404, None, "not_found", 1), (405, None, "not_found", 1), (409, None, "bad_request", 1), (410, None, "not_found", 1),
    (413, None, "too_long", 1), (418, None, "bad_request", 1), (422, None, "bad_request", 1),
    (429, None, "rate_limited", 2), (500, None, "server", 2), (502, None, "server", 2), (503, None, "overloaded", 2),
    (504, None, "timeout", 2), (529, None, "overloaded", 2), (599, None, "server", 2),
    (401, "rate_limit_error", "auth", 1), (400, "invalid_api_key", "auth", 1), (404, "model_not_found", "not_found", 1),
    (400, "context_length_exceeded", "too_long", 1), (429, "insufficient_quota", "no_credit", 1),
    (400, "billing_error", "no_credit", 1), (400, "content_filter", "refused", 1), (400, "overloaded_error", "overloaded", 2),
    (500, "authentication_error", "auth", 1), (500, "timeout_error", "timeout", 2), (400, "strange_new_word", "bad_request", 1),
]  # fmt: skip
UNREACHABLE = {"auth", "no_credit", "forbidden", "not_found", "bad_url", "connection"}
PASSING = {"rate_limited", "overloaded", "server", "timeout", "cut", "bad_answer"}


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def assert_nothing_leaks(failure: ModelFailed, logged: pytest.LogCaptureFixture) -> None:
    chain = [failure, failure.__cause__, failure.__context__]
    told = f"{failure.message} {failure.hint} {failure.details} {chain!r} {logged.text}"
    assert KEY not in told
    assert SECRET not in told
    assert "private" not in told


@both
@either_way
@pytest.mark.parametrize(("status", "kind", "fault", "tries"), TABLE)
async def test_a_status_and_its_body_are_one_fault(
    model_server: ModelServer, make: Make, way: str, status: int, kind: str | None, fault: str, tries: int,
    logged: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    model_server.then(*[Fail(status, kind)] * 3)
    failure = await failure_of(make(model_server.base_url), way)
    host = model_server.base_url.split("/")[2]

    assert (failure.code, failure.details["fault"], failure.details["status"]) == ("MODEL_FAILED", fault, status)
    assert failure.message.startswith(f"HTTP {status} from {host}: ")
    assert len(model_server.requests) == tries
    assert (is_unreachable(failure), is_passing(failure)) == (fault in UNREACHABLE, fault in PASSING)
    assert_nothing_leaks(failure, logged)


@both
@pytest.mark.parametrize(
    ("status", "raw", "fault"),
    [
        (400, '{"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}', "too_long"),
        (400, '{"error": "the request exceeds the available context size"}', "too_long"),
        (400, '{"error": {"message": "Your credit balance is too low to access the API"}}', "no_credit"),
        (404, "<html>not here</html>", "not_found"),
        (500, "", "server"),
        (503, "[" * 100_000, "overloaded"),
        (400, '{"error": {"code": 7, "type": null, "message": [1]}}', "bad_request"),
        (401, "x" * 300_000, "auth"),
        (400, '"\\ud800"', "bad_request"),
        (422, '{"detail": [{"loc": ["body", "model"], "msg": "unknown", "input": {"max_tokens": 3}}]}', "bad_request"),
    ],
)
async def test_bodies_of_other_kinds_are_understood_or_left_alone(
    model_server: ModelServer, make: Make, status: int, raw: str, fault: str
) -> None:
    model_server.then(*[Fail(status, raw=raw)] * 2)
    assert (await failure_of(make(model_server.base_url), "complete")).details["fault"] == fault


@both
@pytest.mark.parametrize(
    ("retry_after", "paused", "told"),
    [(None, [0.5], None), (0, [0.0], 0.0), (2, [2.0], 2.0), (1.5, [1.5], 1.5), (5, [5.0], 5.0), (6, [], 6.0),
     (3600, [], 3600.0), ("Fri, 31 Dec 2099 23:59:59 GMT", [0.5], None), ("-1", [0.5], None), ("nan", [0.5], None)],
)  # fmt: skip
async def test_the_wait_a_server_asks_for_is_kept_up_to_five_seconds(
    model_server: ModelServer, make: Make, retry_after: float | str | None, paused: list[float], told: float | None
) -> None:
    pauses = Pauses()
    model_server.then(*[Fail(429, retry_after=retry_after)] * 2)
    failure = await failure_of(make(model_server.base_url, pause=pauses), "complete")

    assert pauses.asked == paused
    assert failure.details.get("retry_after") == told


@both
@either_way
@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_what_passes_is_answered_at_the_second_try(
    model_server: ModelServer, make: Make, way: str, status: int
) -> None:
    model_server.then(Fail(status), Say("here I am"))
    assert (await whole(make(model_server.base_url), way)).text == "here I am"


@both
@pytest.mark.parametrize("step", [Fail(429), Fail(500), HangUp(), HangUp(reset=True)])
async def test_a_caller_can_do_without_second_tries(model_server: ModelServer, make: Make, step: Fail | HangUp) -> None:
    model_server.then(step, Say("too late"))
    await failure_of(make(model_server.base_url, retries=False), "complete")
    assert len(model_server.requests) == 1


@both
@either_way
async def test_a_server_that_always_hangs_up_is_asked_twice(model_server: ModelServer, make: Make, way: str) -> None:
    model_server.then(*[HangUp()] * 3)
    failure = await failure_of(make(model_server.base_url), way)

    assert (failure.details["fault"], is_passing(failure)) == ("cut", True)
    assert len(model_server.requests) == 2


@both
@either_way
async def test_nobody_listening_is_told_as_no_connection(
    make: Make, way: str, logged: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    failure = await failure_of(make(f"http://127.0.0.1:{port}/v1"), way)

    assert failure.message == f"127.0.0.1:{port}: no connection"
    assert (failure.details["fault"], is_unreachable(failure)) == ("connection", True)
    assert_nothing_leaks(failure, logged)


@both
@pytest.mark.parametrize("url", ["http://no-such-host.invalid/v1", "http://a..b/v1", "http://" + "x" * 300 + "/v1"])
async def test_a_host_that_does_not_exist_is_unreachable(make: Make, url: str) -> None:
    assert is_unreachable(await failure_of(make(url), "complete"))


@both
@either_way
async def test_a_silent_server_is_given_up(model_server: ModelServer, make: Make, way: str) -> None:
    model_server.then(Hang())
    failure = await failure_of(make(model_server.base_url, timeouts=Timeouts(0.1, 0.1, 0.1)), way)

    assert (failure.details["fault"], is_passing(failure)) == ("timeout", True)
    assert len(model_server.requests) == 1


@both
@pytest.mark.parametrize(
    "chunk",
    [
        "<html>",
        "",
        "null",
        "[]",
        '{"choices": []}',
        '{"content": "text"}',
        "[" * 100_000,
        '{"choices": [{}]}',
        "9" * 5_000,
    ],
)
async def test_an_answer_that_is_none_is_a_bad_one(model_server: ModelServer, make: Make, chunk: str) -> None:
    model_server.then(Malformed(chunk=chunk))
    failure = await failure_of(make(model_server.base_url), "complete")

    assert (failure.details["fault"], is_passing(failure)) == ("bad_answer", True)


@pytest.mark.parametrize(("make", "path"), [(openai, "/v1/chat/completions"), (anthropic, "/v1/messages")])
@either_way
async def test_a_redirect_within_the_host_is_followed_with_the_key(
    model_server: ModelServer, make: Make, path: str, way: str
) -> None:
    model_server.then(Redirect(path, 308), Say("here"))

    assert (await whole(make(model_server.base_url), way)).text == "here"
    first, second = model_server.requests
    assert second.body == first.body
    assert KEY in second.headers.get("authorization", "") + second.headers.get("x-api-key", "")


@both
async def test_a_redirect_to_another_host_is_not_followed(
    model_server: ModelServer, make: Make, logged: pytest.LogCaptureFixture
) -> None:
    with ModelServer() as other:
        model_server.then(Redirect(f"{other.base_url}/messages"))
        failure = await failure_of(make(model_server.base_url), "complete")

        assert other.requests == []
    assert "another host" in failure.message
    assert (failure.details["fault"], is_unreachable(failure)) == ("bad_url", True)
    assert_nothing_leaks(failure, logged)


@pytest.mark.parametrize(("make", "path"), [(openai, "/v1/chat/completions"), (anthropic, "/v1/messages")])
@pytest.mark.parametrize(("status", "to"), [(302, None), (303, None), (307, "http://[/"), (307, None)])
async def test_a_redirect_that_leads_nowhere_ends(
    model_server: ModelServer, make: Make, path: str, status: int, to: str | None
) -> None:
    model_server.then(*[Redirect(to or path, status)] * 9)
    assert (await failure_of(make(model_server.base_url), "complete")).details["fault"] == "bad_url"
    assert len(model_server.requests) <= 4


@both
@either_way
async def test_a_missing_variable_is_told_without_asking_anybody(
    model_server: ModelServer, make: Make, way: str
) -> None:
    failure = await failure_of(make(model_server.base_url, key=" "), way)

    assert failure.details["fault"] == ModelFault.AUTH
    assert model_server.requests == []


@both
async def test_nothing_about_a_model_shows_its_key(make: Make) -> None:
    model = make("https://host/v1")
    assert KEY not in f"{model!r} {model} {vars(model)}"
