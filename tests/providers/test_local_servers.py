"""What is found on this machine when a person asks: real servers on real ports, programs in a real folder."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from engine.providers.local_servers import PLACES, Offer, offers, programs
from spark_tui.demo.model_server import ModelServer
from tests.providers.fake_agents import FakeAgents
from tests.support import child_environment

NOWHERE = {"PATH": ""}


def port_of(server: ModelServer) -> int:
    return urlsplit(server.root_url).port or 0


@pytest.fixture
def silence() -> Iterator[dict[str, int]]:
    """Ports at which nobody listens, one for each place."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused, and nobody else gets it meanwhile
        yield dict.fromkeys((place.name for place in PLACES), taken.getsockname()[1])


@contextmanager
def answering(*pieces: bytes, hang: bool = False) -> Iterator[int]:
    """A port that answers every connection with these bytes, then closes it or says no more."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = threading.Event()

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if done.is_set():
                        return
                    connection.recv(10_000)
                    try:
                        for piece in pieces:
                            connection.sendall(piece)
                    except OSError:
                        continue
                    if hang:
                        done.wait(30)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            done.set()
            socket.create_connection(listener.getsockname()).close()
            thread.join()


async def test_each_kind_of_server_is_offered_with_its_models() -> None:
    with ModelServer(models=["qwen3:4b", "gemma3:1b"]) as ollama, ModelServer(models=["local-model"]) as other:
        ports = {"ollama": port_of(ollama), "lm-studio": port_of(other), "llama-server": port_of(other)}
        found = await offers(NOWHERE, ports)

    assert [(offer.kind, offer.name, offer.base_url, offer.models) for offer in found] == [
        ("ollama", "ollama", ollama.base_url, ("qwen3:4b", "gemma3:1b")),
        ("openai-compatible", "lm-studio", other.base_url, ("local-model",)),
        ("openai-compatible", "llama-server", other.base_url, ("local-model",)),
    ]
    assert found[0].how == f"ollama answers at 127.0.0.1:{port_of(ollama)}"
    assert [request.path for request in ollama.requests] == ["/api/tags"]
    assert [request.path for request in other.requests] == ["/v1/models"] * 2


async def test_where_nobody_listens_nothing_is_offered(silence: dict[str, int]) -> None:
    assert await offers(NOWHERE, silence) == ()


def http(body: bytes, status: bytes = b"200 OK", headers: bytes = b"") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n" + headers + b"\r\n" + body


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00" * 10_000,
        http(b'{"models": [{"name": "x"}]}', b"404 Not Found"),
        http(b'{"models": [{"name": "x"}]}', b"301 Moved", b"Location: http://192.0.2.1/\r\n"),
        http(b"<html>hello</html>"),
        http(b"[]"),
        http(b'{"data": {"id": "x"}}'),
        http(b'{"object": "list", "data": "x"}'),
        http(b'{"models": 5}'),
        http(b"[" * 100_000),
        http(b'{"models": ["' + b"x" * 5_000_000),
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000_000,
    ],
    ids=range(13),
)
async def test_what_is_no_model_server_is_not_offered(silence: dict[str, int], answer: bytes) -> None:
    with answering(answer) as port:
        assert await offers(NOWHERE, {**silence, "ollama": port, "llama-server": port}) == ()


async def test_a_server_that_does_not_answer_holds_nobody_up(silence: dict[str, int]) -> None:
    whole = http(b'{"object": "list", "data": [{"id": "quick"}]}')
    with answering(hang=True) as stuck, answering(whole) as quick, answering(whole[:-9], hang=True) as slow:
        ports = {"ollama": stuck, "lm-studio": quick, "llama-server": slow}
        found = await offers(NOWHERE, ports, seconds=0.3)

    assert [(offer.name, offer.models) for offer in found] == [("lm-studio", ("quick",))]


async def test_a_server_that_keeps_the_connection_open_is_read_to_its_told_length(silence: dict[str, int]) -> None:
    body = b'{"models": [{"name": "one"}, {"name": ""}, {"name": "one"}, 5]}'
    told = http(body, headers=b"content-length: %d\r\nConnection: keep-alive\r\n" % len(body))
    with answering(told[:40], told[40:], hang=True) as port:
        (found,) = await offers(NOWHERE, {**silence, "ollama": port}, seconds=10)

    assert found.models == ("one",)


async def test_a_server_without_a_model_is_offered_all_the_same(silence: dict[str, int]) -> None:
    with answering(http(b'{"object": "list", "data": []}')) as port:
        (found,) = await offers(NOWHERE, {**silence, "lm-studio": port})
    assert found.models == ()


async def test_programs_on_path_are_offered_and_not_started(silence: dict[str, int], tmp_path: Path) -> None:
    agents = FakeAgents(tmp_path / "bin")
    agents.program("codex")
    (agents.folder / "claude").write_text("not executable")

    assert programs(agents.environ) == (Offer("codex-cli", "codex", "", (), "codex is on PATH"),)
    agents.program("claude")
    assert [offer.kind for offer in await offers(agents.environ, silence)] == ["claude-cli", "codex-cli"]
    assert agents.calls() == []


def test_nothing_is_asked_before_a_person_asks() -> None:
    code = "import sys\nsys.addaudithook(lambda event, _: event.startswith('socket.') and sys.exit(event))\n"
    code += "import engine.providers.local_servers"
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
