"""Planted secrets and private sentences, and everything that can go wrong: neither log nor error repeats them (02 §11)."""

import logging
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from engine.errors import SparkError
from engine.memory.injection import AgentProfile, Request
from engine.memory.model import Changes, Scope
from engine.runtime import Engine
from tests.support import REPOSITORY, Place, child_environment, draft, everything, occurrences

SECRETS = (
    "ghp_" + "K4n4rY0000aaaa1111bbbb2222cccc3333dd",
    "sk-ant-api03-" + "K4n4rY7uG2kQ9wE4rT6yU8iO1pL3mN5bV0cX",
    "postgres://admin:K4n4rYpassw0rd@db.internal/prod",
)
PRIVATE = (
    "wombatquux description of my divorce",
    "platypusquux body line about my salary",
    "我的私密句子鸭嘴兽",
    "echidnaquux prompt of this turn",
    "quokkaquux query I searched for",
    "numbatquux entity",
    "bilbyquux link",
    "dugongquux evidence",
)
NEEDLES = [text.split()[0].encode() for text in (*SECRETS, *PRIVATE)]


class Witness:
    """Runs things that may fail and keeps every word a failure says."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.codes: list[str] = []

    def run(self, *actions: Callable[[], object]) -> None:
        for action in actions:
            try:
                self.heard.append(self.words(action()))
            except SparkError as error:
                self.codes.append(error.code)
                self.heard.append(f"{error} {error.message} {error.hint} {error.details} {error!r}")

    @staticmethod
    def words(result: object) -> str:
        """Bulk verbs tell failures in their results."""
        return " ".join(f"{each.outcome} {each.message}" for each in result) if isinstance(result, list) else ""


def live(place: Place, engine: Engine, witness: Witness) -> None:
    """A day of a store in which everything private is said everywhere it can be, and most things fail."""
    store, private = engine.store, draft("divorce", PRIVATE[0], f"{PRIVATE[1]}\n{PRIVATE[2]}\n")
    private = replace(private, entities=(PRIVATE[5],), links=(PRIVATE[6],), evidence=PRIVATE[7])
    entry = store.add(private)
    other = store.add(draft("address", PRIVATE[0], valid_until=date(2026, 1, 1), scope=Scope.PROJECT))
    witness.run(
        lambda: store.add(private),
        lambda: store.add(draft("No Slug", PRIVATE[0])),
        lambda: store.add(draft("long", PRIVATE[0] * 20)),
        lambda: store.add(draft("lines", PRIVATE[0] + "\n" + PRIVATE[1])),
        lambda: store.add(draft("no-ref", PRIVATE[0], scope=Scope.AGENT, agent="../other")),
        lambda: store.add(draft("nul", "fine", PRIVATE[1] + "\0")),
        lambda: store.add(draft("big", "fine", PRIVATE[1] * 30_000)),
        *(lambda s=s: store.add(draft("secret", s)) for s in SECRETS),
        *(lambda s=s: store.add(draft("secret", "fine", f"the value is {s}")) for s in SECRETS),
        *(lambda s=s: store.edit(entry.id, Changes(body=f"x {s}")) for s in SECRETS),
        lambda: store.edit(entry.id, Changes(body=PRIVATE[1] + " again"), expected_version=7),
        lambda: store.edit("nobody", Changes(body=PRIVATE[1])),
        lambda: store.archive(["nobody", entry.id]),
        lambda: store.unarchive([entry.id]),
        lambda: engine.history.undo("nothing"),
        lambda: engine.history.restore(entry.id, version=99),
        lambda: engine.listing.entry("nobody"),
    )
    engine.search(PRIVATE[4])
    engine.search(PRIVATE[0], limit=20)
    engine.inject(Request(AgentProfile("main", "Main", PRIVATE[3]), PRIVATE[3], "session"))
    break_files(place, engine, witness, entry.id)
    place.clock.advance(days=5)
    store.add(draft("address", PRIVATE[1], scope=Scope.PROJECT))
    witness.run(lambda: store.delete([other.id, "nobody"]), engine.refresh)


def break_files(place: Place, engine: Engine, witness: Witness, entry_id: str) -> None:
    path = place.home.memory_user / f"{entry_id}.md"
    good = path.read_bytes()
    broken = (
        good.replace(b"description:", b"description: [" + PRIVATE[0].encode()),
        good.replace(b"name: divorce", b"name: No Slug"),
        good.replace(b"type: user", b"type: " + PRIVATE[0].encode()),
        good.replace(b"created_at: ", b"created_at: " + PRIVATE[0].encode()),
        good.replace(b"id: usr", b"id: " + PRIVATE[0].encode() + b"usr"),
        b"<<<<<<< " + PRIVATE[1].encode() + good,
        good + SECRETS[0].encode(),
        PRIVATE[1].encode(),
        b"\xff" + PRIVATE[1].encode(),
    )
    for data in broken:
        path.write_bytes(data)
        engine.refresh()
        witness.heard.append(str(engine.listing.entry(entry_id).file_reason))
        witness.run(
            lambda: engine.store.edit(entry_id, Changes(body=PRIVATE[1])), lambda: engine.store.archive([entry_id])
        )
    witness.run(lambda: engine.history.restore(entry_id))
    path.unlink()
    engine.refresh()
    witness.run(lambda: engine.history.restore(entry_id))
    for copy in path.parent.glob("*.broken-*"):
        copy.unlink()


def assert_silent(*texts: str) -> None:
    for text in texts:
        assert [needle.decode() for needle in NEEDLES if needle.decode() in text] == []


def test_neither_log_nor_errors_repeat_what_is_private(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    witness = Witness()
    with place.open() as engine:
        engine.bus.listen(lambda fact: 1 / 0)  # a listener that fails is logged with its traceback
        live(place, engine, witness)
    for path in place.home.root.glob("spark.db*"):
        path.write_bytes(PRIVATE[1].encode() * 500)
    with place.open() as engine:
        assert everything(engine)
    assert {"ALREADY_EXISTS", "VALIDATION_FAILED", "SENSITIVE_CONTENT", "VERSION_CONFLICT", "NOT_FOUND"} <= set(
        witness.codes
    )
    assert_silent(*witness.heard, caplog.text, place.home.log.read_text("utf-8"))
    logs = list(place.home.log.parent.iterdir())
    assert occurrences(place.home.log.parent, *NEEDLES) == []
    assert logs
    # What was refused is nowhere at all, whatever the file; what was kept is in memories and index alone.
    refused = [needle for needle in NEEDLES if needle.startswith((b"ghp_", b"sk-ant", b"postgres:"))]
    assert occurrences(place.home.root, *refused) == []
    assert occurrences(place.project, *refused) == []


def test_a_command_that_fails_repeats_nothing_either(place: Place) -> None:
    command = [sys.executable, "-m", "spark_tui", "--home", str(place.home.root), "--workspace", str(place.project)]
    runs = (
        ("memory", "add", "--scope", "user", "--type", "user", "--name", "a", "--description", f"x {SECRETS[0]}"),
        (
            "memory",
            "add",
            "--scope",
            "user",
            "--type",
            "user",
            "--name",
            "a",
            "--description",
            "x",
            "--body",
            SECRETS[1],
        ),
        ("--json", "memory", "add", "--scope", "user", "--type", "user", "--name", "a", "--description", SECRETS[2]),
    )
    for words in runs:
        done = subprocess.run(
            [*command, *words], env=child_environment(), cwd=REPOSITORY, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert_silent(done.stdout, done.stderr)
    assert [path for path, _ in occurrences(Path(place.home.root), *NEEDLES)] == []
