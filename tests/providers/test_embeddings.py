"""The endpoint embedder against a real server: what it brings home, what it refuses, and what it never tells."""

import logging
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import EmbeddingFailed, ValidationFailed
from engine.providers.embeddings import BATCH_MAX, EndpointEmbedder
from engine.providers.http import Limits
from engine.providers.keys import store_key
from engine.providers.protocols import Embedder
from engine.vector import unit
from tests.providers.embedding_server import DIMENSION, Answer, EmbeddingServer, embedding

KEY = "sk-canary-0123456789abcdef"
SECRET = "the private sentence"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def embedder(server: EmbeddingServer, **options: object) -> EndpointEmbedder:
    given = {"key": KEY, "pause": lambda seconds: None} | options
    return EndpointEmbedder("mine", server.url, "test-model", **given)  # type: ignore[arg-type]


def test_vectors_come_back_at_length_one_in_the_order_of_the_texts(server: EmbeddingServer) -> None:
    made: Embedder = embedder(server)
    texts = [f"text number {number}" for number in range(5)]
    vectors = made.passages(texts)

    assert vectors == [unit(embedding(text)) for text in texts]
    assert made.query(texts[0]) == vectors[0]
    assert len(array("f", vectors[0])) == DIMENSION


def test_a_request_is_what_the_protocol_asks_for(server: EmbeddingServer) -> None:
    embedder(server).passages(["one", "two"])
    (request,) = server.requests

    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "test-model", "input": ["one", "two"]}


@pytest.mark.parametrize("answer", [Answer.OUT_OF_ORDER, Answer.WITHOUT_INDEX])
def test_the_index_decides_which_vector_belongs_to_which_text(server: EmbeddingServer, answer: Answer) -> None:
    server.script.append(answer)
    texts = ["first", "second", "third"]

    assert embedder(server).passages(texts) == [unit(embedding(text)) for text in texts]


def test_many_texts_are_asked_for_in_batches(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(2 * BATCH_MAX + 1)]

    assert len(embedder(server).passages(texts)) == len(texts)
    assert [len(request.body["input"]) for request in server.requests] == [BATCH_MAX, BATCH_MAX, 1]
    assert [text for request in server.requests for text in request.body["input"]] == texts


def test_no_texts_ask_for_nothing(server: EmbeddingServer) -> None:
    assert embedder(server).passages([]) == []
    assert server.requests == []


def test_the_dimension_is_discovered_once(server: EmbeddingServer) -> None:
    made = embedder(server)

    assert (made.dimension(), made.dimension()) == (DIMENSION, DIMENSION)
    assert len(server.requests) == 1


def test_blank_long_and_broken_texts_are_sent_as_something_an_endpoint_takes(server: EmbeddingServer) -> None:
    assert len(embedder(server).passages(["", " \n ", "x" * 50_000, "half a pair \ud800"])) == 4
    sent = server.requests[0].body["input"]

    assert all(text.strip() for text in sent)
    assert max(map(len, sent)) == 4_000
    assert "\ud800" not in "".join(sent)


@pytest.mark.parametrize(
    "answer",
    [
        Answer.TWICE_THE_SAME_INDEX,
        Answer.STRANGE_INDEX,
        Answer.TOO_FEW,
        Answer.WRONG_DIMENSION,
        Answer.NAN,
        Answer.INFINITE,
        Answer.HUGE_NUMBER,
        Answer.ZERO,
        Answer.EMPTY_EMBEDDING,
        Answer.TEXT_IN_EMBEDDING,
        Answer.NULL_EMBEDDING,
        Answer.NOT_JSON,
        Answer.DEEP_JSON,
        Answer.OTHER_JSON,
        Answer.REDIRECT_AS_GET,
        Answer.REDIRECT_NOWHERE,
    ],
)
def test_an_answer_without_usable_vectors_fails_and_tells_neither_key_nor_text(
    server: EmbeddingServer, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script.append(answer)
    with pytest.raises(EmbeddingFailed) as failure:
        embedder(server).passages(["harmless", SECRET])

    assert server.address in failure.value.message
    assert len(server.requests) == 1
    assert_nothing_leaks(failure.value, caplog)


def assert_nothing_leaks(failure: EmbeddingFailed, caplog: pytest.LogCaptureFixture) -> None:
    told = f"{failure.message} {failure.hint} {failure!r} {failure.__cause__!r} {caplog.text}"
    assert KEY not in told
    assert SECRET not in told


def test_a_dimension_that_changes_between_calls_is_refused(server: EmbeddingServer) -> None:
    made = embedder(server)
    made.query("one")
    server.script.append(Answer.WRONG_DIMENSION)

    with pytest.raises(EmbeddingFailed, match="33 dimensions instead of 32"):
        made.query("two")


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_fails_at_once(server: EmbeddingServer, status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.script.append(Answer(str(status)))
    with pytest.raises(EmbeddingFailed) as failure:
        embedder(server).query(SECRET)

    assert failure.value.message == f"HTTP {status} from {server.address}"
    assert failure.value.hint
    assert len(server.requests) == 1
    assert_nothing_leaks(failure.value, caplog)


@pytest.mark.parametrize(
    "answer", [Answer.STATUS_429, Answer.STATUS_500, Answer.STATUS_503, Answer.HANG_UP, Answer.CUT]
)
def test_what_may_pass_is_tried_once_more(server: EmbeddingServer, answer: Answer) -> None:
    pauses: list[float] = []
    server.script.append(answer)

    assert embedder(server, pause=pauses.append).query("text") == unit(embedding("text"))
    assert len(server.requests) == 2
    assert pauses == [2.0 if answer is Answer.STATUS_429 else 0.5]  # as the endpoint asked, else shortly


@pytest.mark.parametrize("answer", [Answer.STATUS_429, Answer.STATUS_500, Answer.HANG_UP])
def test_what_does_not_pass_fails_after_the_second_try(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with EmbeddingServer(always=answer) as server, pytest.raises(EmbeddingFailed) as failure:
        embedder(server).query(SECRET)

    assert len(server.requests) == 2
    assert_nothing_leaks(failure.value, caplog)


@pytest.mark.parametrize("answer", [Answer.SLOW, Answer.DRIPPING])
def test_an_endpoint_that_does_not_finish_is_given_up(answer: Answer) -> None:
    hasty = Limits(connect=1.0, idle=0.2, whole=0.2)
    with EmbeddingServer(always=answer, patience=30.0) as server, pytest.raises(EmbeddingFailed, match="did not"):
        embedder(server, limits=hasty).query("text")


def test_an_endless_answer_is_cut_off() -> None:
    with EmbeddingServer([Answer.LONG]) as server, pytest.raises(EmbeddingFailed, match="longer than 1000000 bytes"):
        embedder(server, limits=Limits(answer=1_000_000)).query("text")


def test_nobody_listening_is_said_with_the_host_alone() -> None:
    with EmbeddingServer() as server:
        address = server.address
    with pytest.raises(EmbeddingFailed, match=f"no connection to {address}"):
        embedder(server).query(SECRET)


def test_a_redirect_within_the_host_is_followed_with_the_key(server: EmbeddingServer) -> None:
    server.script.append(Answer.REDIRECT_HERE)

    assert embedder(server).query("text") == unit(embedding("text"))
    assert [request.path for request in server.requests] == ["/v1/embeddings", "/v1/embeddings/"]
    assert server.requests[1].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[1].body == server.requests[0].body


def test_a_redirect_in_a_circle_ends() -> None:
    with EmbeddingServer(always=Answer.REDIRECT_HERE) as server, pytest.raises(EmbeddingFailed, match="in a circle"):
        embedder(server).query("text")
    assert len(server.requests) < 10


def test_a_redirect_to_another_host_is_not_followed(server: EmbeddingServer) -> None:
    with (
        EmbeddingServer([Answer.REDIRECT_ELSEWHERE], elsewhere=server.url) as first,
        pytest.raises(EmbeddingFailed, match="another host"),
    ):
        embedder(first).query("text")

    assert server.requests == []


def test_the_key_is_read_from_the_environment_at_each_call(server: EmbeddingServer) -> None:
    environ = {"MY_KEY": "first-key"}
    made = embedder(server, key=None, key_env="MY_KEY", environ=environ)
    made.query("text")
    environ["MY_KEY"] = "second-key\n"
    made.query("text")

    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer first-key",
        "Bearer second-key",
    ]
    del environ["MY_KEY"]
    with pytest.raises(EmbeddingFailed, match="is not set"):
        made.query("text")
    environ["MY_KEY"] = f"{KEY}é"
    with pytest.raises(EmbeddingFailed) as failure:
        made.query("text")
    assert KEY not in f"{failure.value} {failure.value.hint}"


def test_a_stored_key_goes_to_the_address_it_was_stored_for_alone(server: EmbeddingServer, tmp_path: Path) -> None:
    store_key("mine", KEY, tmp_path, server.url)
    embedder(server, key=None, home=tmp_path).query("text")
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    with EmbeddingServer() as other, pytest.raises(EmbeddingFailed, match="stored for another address") as failure:
        embedder(other, key=None, home=tmp_path).query("text")
    assert other.requests == []
    assert KEY not in f"{failure.value.message} {failure.value.hint}"


def test_without_a_key_none_is_sent(server: EmbeddingServer) -> None:
    embedder(server, key=None).query("text")

    assert "authorization" not in server.requests[0].headers


def test_nothing_about_an_embedder_shows_its_key(server: EmbeddingServer) -> None:
    made = embedder(server)

    assert KEY not in f"{made!r} {made} {made.model}"
    assert made.model == "mine:test-model"
    assert made.is_local is False


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:1234",
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "https:///v1",
        "http://user:secret@host/v1",
        "http://host:99999/v1",
        "http://host/v1?key=secret",
        "http://[::1",
    ],
)
def test_a_base_url_must_be_http_to_a_host_and_nothing_more(url: str) -> None:
    with pytest.raises(ValidationFailed) as failure:
        EndpointEmbedder("mine", url, "model")
    assert "secret" not in failure.value.message


@pytest.mark.parametrize("key", ["", " ", "two words", "späte", "line\nbreak"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(key: str) -> None:
    with pytest.raises(ValidationFailed) as failure:
        EndpointEmbedder("mine", "http://localhost/v1", "model", key=key)
    assert not key.strip() or key not in failure.value.message


def test_several_threads_share_an_embedder_that_is_released_under_them(server: EmbeddingServer) -> None:
    made = embedder(server)
    results: dict[int, list[bytes]] = {}
    failures: list[Exception] = []

    def work(number: int) -> None:
        try:
            results[number] = [made.query(f"text {number} {turn}") for turn in range(10)]
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        made.release()
        threads[0].join(0.005)
    for thread in threads:
        thread.join()

    assert failures == []
    assert results == {n: [unit(embedding(f"text {n} {turn}")) for turn in range(10)] for n in range(4)}
