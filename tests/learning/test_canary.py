"""Planted secrets and private sentences through whole days of learning: what was not remembered is nowhere afterwards."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.memory.candidates.model import Action, Origin, Proposal
from engine.memory.extraction.turn import Turn
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import ErrorAfter200, Fail, HangUp, Malformed, Say, Shape
from tests.cli.conftest import NO_VECTORS, Cli, Done
from tests.learning.conftest import DECIDES, EXTRACTS, School, item
from tests.learning.person import Person, cli, project
from tests.providers.scripted import KEY, provider_config
from tests.support import occurrences

__all__ = ["cli", "project"]
CONSOLIDATES = "You tidy the long-term memory"
# Appear nowhere at any time.
SECRETS = (
    "ghp_" + "K4n4rYL1aaaa1111bbbb2222cccc3333dd",
    "sk-ant-api03-" + "K4n4rYL2uG2kQ9wE4rT6yU8iO1pL3mN5bV0cX",
    "postgres://admin:K4n4rYL3w0rd@db.internal/prod",
)
# Said in turns, answered by the model, shown and turned down: once its job is done none of it is anywhere.
PRIVATE = (
    "wombatlearn", "platypuslearn", "echidnalearn", "quokkalearn", "numbatlearn", "bilbylearn", "dugonglearn",
    "dingolearn", "koalalearn", "possumlearn", "我的私密学习句鸭嘴兽",
)  # fmt: skip
# A name is written in small letters, and folded it is a secret still.
HIDDEN = [KEY, *SECRETS, "k4n4ryl1", "K4n4rYL1", "k4n4ryl2", "K4n4rYL2", "k4n4ryl3", "K4n4rYL3"]


class Hearing(Cli):
    """A command line of which every word that comes out is kept."""

    def __init__(self, cli: Cli) -> None:
        vars(self).update(vars(cli))
        self.heard: list[str] = []

    def run(self, *arguments: str, stdin: bytes = b"") -> Done:
        done = super().run(*arguments, stdin=stdin)
        self.heard += [done.out, done.err]
        return done


class Day(Person):
    """A person whose provider demands a key, and who looks after every step whether a secret got anywhere."""

    def __init__(self, cli: Cli, server: ModelServer, desk: Path, root: Path) -> None:
        self.ears = Hearing(cli)
        self.root = root
        super().__init__(self.ears, server, desk)
        server.api_key = KEY
        self.configure(f"{NO_VECTORS}extractionProviderId = 'mine'\n{provider_config(server, key_env='CANARY')}")

    def look(self) -> None:
        """No file and no word holds a secret."""
        shutil.rmtree(self.desk)  # where the person's own texts lay
        self.desk.mkdir()
        assert occurrences(self.root, *(each.encode() for each in HIDDEN)) == []
        said = "".join(self.ears.heard)
        assert [each for each in HIDDEN if each in said] == []

    def told(self, *words: str) -> None:
        """A command, for programs and for people; how it ends does not matter."""
        self.ears.run(*words, "--json")
        self.ears.run(*words)

    def candidates(self) -> list[dict[str, str]]:
        """What waits; looking at it is no leak, so these words do not count as heard."""
        kept = len(self.ears.heard)
        found: list[dict[str, str]] = self.ears.json("candidates", "list")["candidates"]
        del self.ears.heard[kept:]
        return found


@pytest.fixture
def day(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Day]:
    """The day begins with nothing remembered."""
    monkeypatch.setenv("CANARY", KEY)
    desk = tmp_path / "desk"
    desk.mkdir()
    with ModelServer() as server:
        yield Day(cli, server, desk, tmp_path)


def test_days_of_learning_leave_nothing_behind_but_what_was_remembered(day: Day) -> None:
    items_that_fall(day)
    decisions_about_others(day)
    rules_that_are_turned_down(day)
    what_is_deleted(day)
    failures(day)
    for words in (
        ("jobs", "list"), ("memory", "gate-log"), ("memory", "audit"), ("memory", "changes"), ("memory", "list"),
        ("candidates", "list", "--state", "all"), ("doctor",), ("provider", "list"), ("settings", "list"), ("inject",),
        ("memory", "reindex"), ("memory", "export", str(day.root / "exported")),
    ):  # fmt: skip
        day.told(*words)
    day.look()
    assert {each["state"] for each in day.cli.json("jobs", "list")["jobs"]} == {"done"}
    found = [
        (path.name, needle.decode()) for path, needle in occurrences(day.root, *(each.encode() for each in PRIVATE))
    ]
    assert found == []
    said = "".join(day.ears.heard)
    assert [each for each in PRIVATE if each in said] == []
    # What was remembered is where it belongs, so the search above can find things; the log does not repeat it.
    homes = {path.relative_to(day.root).parts[0] for path, _ in occurrences(day.root, b"Likes green tea")}
    assert homes == {"exported", "spark-home"}
    assert occurrences(day.home.log.parent, b"Likes green tea", b"Be short everywhere") == []


def test_a_program_that_stays_open_keeps_nothing_of_a_turn_that_is_done(school: School) -> None:
    school.turn(
        item("tea", "Likes green tea"),
        item("login", "Is fixing wombatlearn right now", body="platypuslearn"),
        user="echidnalearn", assistant="quokkalearn", context="numbatlearn",
    )  # fmt: skip
    assert occurrences(school.place.home.root, b"Likes green tea") != []
    assert occurrences(school.place.home.root, *(each.encode() for each in PRIVATE)) == []
    layer = school.engine.layers.user()
    asked = Proposal(layer, Action.ELEVATE, Origin.CONSOLIDATION, "private", "koalalearn rule", "possumlearn body")
    rule = school.engine.candidates.propose(asked).candidate
    assert rule is not None
    school.engine.candidates.reject(rule.id)
    assert occurrences(school.place.home.root, *(each.encode() for each in PRIVATE)) == []
    taken = school.engine.intake.submit(Turn("bilbylearn", "dugonglearn"))
    assert taken.job is not None
    assert occurrences(school.place.home.root, b"bilbylearn") != []
    school.engine.workers.start()
    end = time.monotonic() + 20
    while occurrences(school.place.home.root, b"bilbylearn") and time.monotonic() < end:
        time.sleep(0.05)
    assert occurrences(school.place.home.root, *(each.encode() for each in PRIVATE)) == []
    assert school.engine.jobs.get(taken.job.id).state == "done"


def items_that_fall(day: Day) -> None:
    """One item is kept, each other falls at another gate, with something private or secret in every field."""
    told = day.turn(
        item("tea", "Likes green tea", evidence="I like green tea"),
        item("coffee", "Likes coffee", evidence=f"echidnalearn {SECRETS[0]}"),
        item("login", "Is fixing wombatlearn right now", body="platypuslearn", evidence="wombatlearn"),
        item("perhaps", "echidnalearn perhaps", confidence=0.1, entities=["quokkalearn"], links=["numbatlearn"]),
        item("token", f"The token is {SECRETS[0]}", body="quokkalearn"),
        item("key-note", "A key", body=SECRETS[1]),
        item("database", "A database", entities=[SECRETS[2]]),
        item(SECRETS[0], "quokkalearn with a secret name"),
        item(SECRETS[2], "dugonglearn with another"),
        {"scope": "user", "type": "user", "description": "dingolearn is what I do right now", "confidence": 0.9},
        {"scope": "user", "type": "user", "description": f"dingolearn {SECRETS[0]}", "confidence": 0.9},
        {"scope": "nowhere", "type": "user", "description": "bilbylearn too", "confidence": 0.9},
        item("tea-again", "likes GREEN tea", body="numbatlearn"),
        item("elsewhere", "bilbylearn", scope="nowhere"),
        {"name": "half", "scope": "user", "text": "dugonglearn"},
        {"name": "unsure", "scope": "user", "type": "user", "description": "dingolearn"},
        "koalalearn is no item",
        user=f"I like green tea. wombatlearn, my token is {SECRETS[0]}, 我的私密学习句鸭嘴兽",
        assistant=f"Noted. numbatlearn {SECRETS[1]}",
        context=f"bilbylearn said before, {SECRETS[2]}",
        session="s", turn="1",
    )  # fmt: skip
    outcomes = {each["name"]: each.get("gate", each["outcome"]) for each in told["items"]}
    assert outcomes["tea"] == "added"
    assert list(outcomes.values()).count("added") == 1
    assert {"transient", "confidence", "sensitive", "duplicate", "invalid"} <= set(outcomes.values())
    day.look()


def decisions_about_others(day: Day) -> None:
    """The model decides about entries in private words; a person's own is put before them and they say no."""
    mine = day.cli.add("editor", "uses vim as the editor")
    decision = {"decision": "UPDATE", "targetId": mine, "reason": f"dugonglearn {SECRETS[0]}"}
    day.server.script.when(DECIDES, Say(json.dumps(decision)), times=1)
    changed = item(
        "editor", "uses dingolearn as the editor", body="koalalearn", evidence="possumlearn", entities=["bilbylearn"]
    )
    day.turn(changed, user="possumlearn", session="s", turn="2")
    (asked,) = day.candidates()
    day.look()
    day.told("candidates", "reject", asked["id"])
    day.server.script.when(DECIDES, Say(f"NOOP because dugonglearn {SECRETS[1]}", shape=Shape.AS_IS), times=1)
    day.turn(item("tea", "likes green TEA", body="wombatlearn", confidence=0.2), session="s", turn="3")
    day.look()


def rules_that_are_turned_down(day: Day) -> None:
    """Consolidation proposes rules: one with a secret, one that is refused, one that is confirmed in the end."""
    ids = [day.cli.add(name, f"wants short {name}") for name in ("answers", "mails")]

    def rule(name: str, description: str, body: str) -> dict[str, object]:
        return {"action": "ELEVATE", "name": name, "description": description, "body": body, "sources": ids}

    rules = [
        rule("leaky", f"a rule with {SECRETS[1]}", "wombatlearn"),
        rule(SECRETS[0], "platypuslearn under a secret name", ""),
        rule("private", "echidnalearn rule", "quokkalearn body"),
        rule("short", "Be short everywhere", "Because."),
        {"action": "dugonglearn"},
    ]
    day.server.script.when(CONSOLIDATES, Say(json.dumps(rules)), times=1)
    day.told("consolidate", "--scope", "user", "--force", "--wait")
    waiting = {each["name"]: each for each in day.candidates()}
    assert set(waiting) == {"private", "short"}
    day.told("candidates", "reject", waiting["private"]["id"])
    confirm = ("candidates", "confirm", waiting["short"]["id"], "--digest", waiting["short"]["digest"])
    day.told(*confirm, "--description", f"numbatlearn {SECRETS[0]}")
    day.told(*confirm, "--name", SECRETS[1])
    day.told(*confirm)
    day.look()


def what_is_deleted(day: Day) -> None:
    """A memory that was learned is deleted again: it goes with its versions, and with the text of its turn."""
    told = day.turn(item("secret-hobby", "Collects possumlearn", body="koalalearn"), session="s", turn="4")
    (learned,) = told["items"]
    assert learned["outcome"] == "added"
    assert occurrences(day.cli.home, b"possumlearn") != []
    kept = len(day.ears.heard)
    day.cli.json("memory", "edit", learned["id"], "--description", "Collects possumlearn and dingolearn")
    day.told("memory", "delete", learned["id"], "--yes")
    del day.ears.heard[kept : kept + 1]  # the answer of the edit shows the entry it was asked to change
    day.look()


def failures(day: Day) -> None:
    """A provider that repeats prompt and key in its errors, and answers nonsense; the turns are done in the end."""
    whole = Say(json.dumps([item("x", "bilbylearn right now")]))
    steps = (
        Fail(400), Fail(401), Fail(500), HangUp(), ErrorAfter200(9, whole),
        Fail(502, raw="<html>wombatlearn</html>"), Malformed(chunk='{"error": "dingolearn"}'),
        Say(f"platypuslearn prose {SECRETS[0]}", shape=Shape.AS_IS),
        Say('[{"name": "y", "description": "numbat', shape=Shape.AS_IS),
    )  # fmt: skip
    for number, step in enumerate(steps):
        day.server.script.default = step
        said = f"wombatlearn {number} {SECRETS[0]}"
        day.cli.json(*day.submit(user=said, assistant=f"echidnalearn {SECRETS[2]}", context="quokkalearn"))
        day.told("jobs", "run")
        if number < 3:
            day.told("settings", "test-extraction")
            day.told("doctor")
        day.look()
    day.told("provider", "test", "mine")
    day.told("consolidate", "--scope", "user", "--force")
    # While turns wait their text is kept, in the database alone.
    assert {path.name.partition("-")[0] for path, _ in occurrences(day.cli.home, b"wombatlearn")} == {"spark.db"}
    day.server.script.default = Say()
    day.server.script.when(EXTRACTS, whole)
    for _ in range(5):  # a machine under load may time out once: what is not done keeps its text, and rightly
        waiting = [job["id"] for job in day.cli.json("jobs", "list")["jobs"] if job["state"] != "done"]
        for job_id in waiting:
            day.ears.run("jobs", "run", job_id)
    assert waiting == []
    day.look()
