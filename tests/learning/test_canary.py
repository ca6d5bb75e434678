"""Planted secrets and private sentences through a whole run of learning: what was not remembered is nowhere afterwards."""

import json
from pathlib import Path

import pytest

from engine.errors import SparkError
from engine.memory.candidates.model import Action, Edits, Origin, Proposal
from engine.memory.evolution.outcome import Outcome
from engine.memory.extraction.turn import Turn
from engine.memory.transfer.exporting import Exporter
from spark_tui.cli.main import main
from spark_tui.demo.steps import ErrorAfter200, Fail, Say, Shape
from tests.learning.conftest import DECIDES, School, item
from tests.providers.scripted import KEY
from tests.support import draft, occurrences

SECRETS = ("ghp_" + "K4n4rYL1aaaa1111bbbb2222cccc3333dd", "sk-ant-api03-" + "K4n4rYL2uG2kQ9wE4rT6yU8iO1pL3mN5bV0cX")
# Said in turns, answered by the model, shown and turned down: none of it was remembered.
PRIVATE = (
    "wombatlearn", "platypuslearn", "echidnalearn", "quokkalearn", "numbatlearn", "bilbylearn", "dugonglearn",
    "dingolearn", "我的私密学习句鸭嘴兽",
)  # fmt: skip
NEEDLES = [text.encode() for text in (*SECRETS, *PRIVATE, KEY)]


def test_a_day_of_learning_leaves_nothing_behind_but_what_was_remembered(
    school: School, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", KEY)
    config = school.place.home.config
    config.write_text(config.read_text("utf-8").replace("models =", 'api_key_env = "CANARY"\nmodels ='), "utf-8")
    heard: list[str] = []
    _turns(school)
    _candidates(school, heard)
    _failures(school, heard)
    exported = tmp_path / "exported"
    Exporter(school.engine.layers, school.engine.listing, school.engine.clock).export(exported)
    home = ["--home", str(school.place.home.root)]
    for words in (["jobs", "list"], ["memory", "gate-log"], ["memory", "audit"], ["candidates", "list"], ["doctor"]):
        main([*home, *words, "--json"])
    said = capsys.readouterr()
    heard += [said.out, said.err]
    school.engine.close()
    assert [name for name in school.place.home.memory_user.iterdir() if name.suffix == ".md"]
    for needle in NEEDLES:
        assert needle.decode() not in "".join(heard), needle
    found = occurrences(tmp_path, *NEEDLES)
    assert [(path.name, needle) for path, needle in found if path != config] == []


def _turns(school: School) -> None:
    """Turns with secrets and private words in every part; one item is kept, all others fall."""
    told = school.turn(
        item("tea", "Likes tea", evidence="I like tea"),
        item("login", "Is fixing wombatlearn right now", body="platypuslearn"),
        item("perhaps", "echidnalearn perhaps", confidence=0.1),
        item("token", f"The token is {SECRETS[0]}", body="quokkalearn"),
        item("key-note", "A key", body=SECRETS[1]),
        user=f"I like tea. wombatlearn, my token is {SECRETS[0]}, 我的私密学习句鸭嘴兽",
        assistant=f"Noted. numbatlearn {SECRETS[1]}",
        context="bilbylearn said before",
        session="s", turn="1",
    )  # fmt: skip
    assert [each["outcome"] for each in told] == [Outcome.ADDED] + [Outcome.DROPPED] * 4
    school.turn(item("tea-again", "likes TEA", body=""), user="dingolearn")
    school.server.script.when(DECIDES, Say("NOOP because dugonglearn", shape=Shape.AS_IS), times=1)


def _candidates(school: School, heard: list[str]) -> None:
    layer, candidates = school.engine.layers.user(), school.engine.candidates
    turned_down = candidates.propose(
        Proposal(layer, Action.ELEVATE, Origin.CONSOLIDATION, "rule", "A numbatlearn rule", "bilbylearn body")
    ).candidate
    assert turned_down is not None
    candidates.reject(turned_down.id)
    refused = candidates.propose(Proposal(layer, Action.ADD, Origin.IMPORT, "secret", f"It is {SECRETS[0]}"))
    heard.append(refused.reason)
    kept = candidates.propose(Proposal(layer, Action.ELEVATE, Origin.CONSOLIDATION, "calm", "Stays calm")).candidate
    assert kept is not None
    try:
        candidates.confirm(kept.id, kept.digest, "calm", Edits(body=f"dugonglearn {SECRETS[1]}"))
    except SparkError as error:
        heard.append(f"{error.message} {error.hint} {error.details} {error!r}")
    candidates.confirm(kept.id, kept.digest)
    gone = school.engine.store.add(draft("gone", "quokkalearn that is deleted again"))
    candidates.propose(Proposal(layer, Action.ELEVATE, Origin.CONSOLIDATION, "of-gone", "echidnalearn of gone",
                                sources=()))  # fmt: skip
    waiting = candidates.pending()
    candidates.reject(waiting[0].id)
    school.engine.store.delete([gone.id])


def _failures(school: School, heard: list[str]) -> None:
    """A provider that repeats prompt and key in its errors, and answers nonsense; the turns are done in the end."""
    for step in (Fail(400), Fail(401), Fail(500), ErrorAfter200(3, Say("dingolearn")), Say("platypuslearn prose")):
        school.server.script.default = step
        job = school.engine.intake.submit(Turn(f"wombatlearn {step}", "echidnalearn", said_at=1)).job
        assert job is not None
        school.engine.learning.drain()
        stopped = school.engine.jobs.get(job.id)
        heard.append(json.dumps([stopped.reason, stopped.state]))
    # The net catches: while turns wait their text is kept, and only there.
    assert {path.name.partition("-")[0] for path, _ in occurrences(school.place.home.root, b"wombatlearn")} == {
        "spark.db"
    }
    school.server.script.default = Say()
    for job in school.engine.jobs.recent(50):
        if job.state != "done":
            if job.state != "queued":
                school.engine.jobs.retry(job.id)
            school.engine.learning.run(job.id)
    assert {job.state for job in school.engine.jobs.recent(50)} == {"done"}
