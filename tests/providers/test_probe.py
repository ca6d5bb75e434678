"""What a provider's model can do, found by asking it over HTTP, and kept without an answer or a key."""

from pathlib import Path

import pytest

from engine.clock import ManualClock
from engine.errors import ModelFailed
from engine.paths import Home
from engine.providers.findings import Finding, forget_probe, keep_probe, kept_probes, probes_file
from engine.providers.probe import embedding_capability, try_model
from engine.settings_providers import Provider
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Cut, Fail, Say, Shape
from tests.providers.chatting import BOTH, KEY, Make

both = pytest.mark.parametrize("make", BOTH, ids=lambda make: make.__name__)
COLOUR = Say('{"colour": "blue"}', Shape.AS_IS)
COUNTED = Say(", ".join(map(str, range(1, 21))))


def provider(url: str, kind: str = "openai-compatible") -> Provider:
    return Provider("mine", kind, url, "", (), True)


@both
async def test_a_server_that_can_everything_is_found_out(model_server: ModelServer, make: Make) -> None:
    model_server.then(Say("ready  or\nnot " + "x" * 200), COUNTED, COLOUR, Say("blue"))
    tried = await try_model(make(model_server.base_url), ManualClock(1_000))
    found = {each.name: each for each in tried.probe.capabilities}

    assert (tried.probe.provider, tried.probe.model, tried.probe.at) == ("mine", "scripted", 1_000)
    assert (len(tried.sample), tried.sample[:12]) == (80, "ready or not")
    assert {name: each.finding for name, each in found.items()} == {
        "answers": Finding.YES, "usage": Finding.YES, "streaming": Finding.YES, "schema": Finding.YES,
        "tools": Finding.UNKNOWN,
    }  # fmt: skip
    assert "accepted, and followed" in found["schema"].evidence
    assert "with usage" in found["streaming"].evidence


@both
async def test_a_server_that_can_little_is_found_out_too(make: Make) -> None:
    steps = [Say("ready"), Cut(2, COUNTED), COLOUR]
    refuses = ["response_format", "output_config", "tools", "tool_choice"]
    with ModelServer(steps, refuses=refuses) as server:
        tried = await try_model(make(server.base_url), ManualClock())
    found = {each.name: (each.finding, each.evidence) for each in tried.probe.capabilities}

    assert found["streaming"][0] is Finding.NO
    assert found["schema"] == (Finding.NO, "asked in words alone, and followed")
    assert found["tools"] == (Finding.NO, "refused")


@both
async def test_a_model_that_does_not_answer_is_not_probed(model_server: ModelServer, make: Make) -> None:
    model_server.then(Fail(401))
    with pytest.raises(ModelFailed, match="the key was refused"):
        await try_model(make(model_server.base_url), ManualClock())
    assert len(model_server.requests) == 1


def test_the_dimension_of_embeddings_is_found_by_asking(model_server: ModelServer, tmp_path: Path) -> None:
    home = Home(tmp_path)
    url = model_server.base_url
    assert embedding_capability(provider(url), "e", home).evidence == "32 dimensions by e"
    assert embedding_capability(provider(url, "anthropic"), "e", home).finding is Finding.NO
    refused = embedding_capability(provider(model_server.root_url), "e", home)
    assert (refused.finding, "HTTP 404" in refused.evidence) == (Finding.NO, True)
    assert embedding_capability(provider("nowhere"), "e", home).finding is Finding.UNKNOWN


async def test_findings_are_kept_by_provider_with_their_date(model_server: ModelServer, tmp_path: Path) -> None:
    home = Home(tmp_path)
    model_server.when("Answer with", Say("THE-ANSWER"))
    model = BOTH[0](model_server.base_url)
    first, second = [(await try_model(model, ManualClock(at))).probe for at in (1_000, 2_000)]
    assert kept_probes(home) == {}
    keep_probe(home, first)
    keep_probe(home, second)

    assert kept_probes(home) == {"mine": second}
    written = probes_file(home).read_text("utf-8")
    assert KEY not in written
    assert "THE-ANSWER" not in written
    forget_probe(home, "mine")
    assert kept_probes(home) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"mine": 1}', '{"mine": {"capabilities": [{"name": 1}, 2]}}', "[" * 99_999]
)
def test_a_file_of_findings_that_cannot_be_read_is_as_good_as_empty(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    probes_file(home).parent.mkdir()
    probes_file(home).write_text(text, "utf-8")
    assert not any(probe.capabilities for probe in kept_probes(home).values())
