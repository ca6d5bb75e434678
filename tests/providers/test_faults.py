"""The table of faults for errors that are not of a call, and what the job queue makes of each."""

import asyncio

import httpx
import pytest

from engine.errors import EmbeddingFailed, ModelFailed, ModelUnavailable
from engine.providers.faults import (
    TABLE,
    ModelFault,
    classify,
    classify_event,
    failed,
    fault_of,
    is_passing,
    is_unreachable,
    transport_fault,
)


@pytest.mark.parametrize("fault", list(ModelFault))
def test_every_fault_has_a_sentence_and_at_most_one_way_on(fault: ModelFault) -> None:
    failure = failed(fault, "host:1", 418)

    assert failure.message == f"HTTP 418 from host:1: {TABLE[fault].sentence}"
    assert failed(fault, "host:1").message == f"host:1: {TABLE[fault].sentence}"
    assert fault_of(failure) is fault
    assert not (is_passing(failure) and is_unreachable(failure))
    if TABLE[fault].retryable:
        assert is_passing(failure)


def test_only_failures_of_models_are_passing_or_unreachable() -> None:
    for error in (
        ValueError(),
        EmbeddingFailed("x"),
        ModelFailed("x"),
        ModelFailed("x", fault="strange"),
        asyncio.CancelledError(),
    ):
        assert (is_passing(error), is_unreachable(error), fault_of(error)) == (False, False, None)
    assert is_unreachable(ModelUnavailable("nothing configured"))
    assert not is_passing(ModelUnavailable("nothing configured"))


def test_both_bodies_are_read_whichever_field_says_it() -> None:
    openai = {
        "error": {"message": "no", "type": "invalid_request_error", "param": None, "code": "context_length_exceeded"}
    }
    anthropic = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    assert classify(400, openai) is ModelFault.TOO_LONG
    assert classify(529, anthropic) is ModelFault.OVERLOADED
    assert classify_event(anthropic) is ModelFault.OVERLOADED
    assert classify_event({"error": "the request exceeds the available context size"}) is ModelFault.TOO_LONG
    assert classify_event({"error": True}) is ModelFault.SERVER


@pytest.mark.parametrize("status", [100, 204, 304])
def test_what_is_neither_an_answer_nor_an_error_is_a_wrong_address(status: int) -> None:
    assert classify(status, None) is ModelFault.BAD_URL


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (httpx.ConnectTimeout("x"), "timeout"),
        (httpx.PoolTimeout("x"), "timeout"),
        (TimeoutError(), "timeout"),
        (httpx.ConnectError("x"), "connection"),
        (httpx.ProxyError("x"), "connection"),
        (httpx.UnsupportedProtocol("x"), "bad_url"),
        (httpx.InvalidURL("x"), "bad_url"),
        (httpx.DecodingError("x"), "bad_answer"),
        (httpx.RemoteProtocolError("x"), "cut"),
        (httpx.ReadError("x"), "cut"),
    ],
)
def test_errors_below_the_protocol_are_faults_too(error: Exception, fault: str) -> None:
    assert transport_fault(error) == fault
