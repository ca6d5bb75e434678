"""A small bilingual home in which everything waits for a person: every kind of candidate, drops, jobs in each state.

All of it came over the doors that agents and models use; the model is the scripted server.
"""

import json
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from engine.clock import local_day
from engine.memory.candidates.model import Action, Candidate, Origin, Outcome, Proposal, quoted
from engine.memory.extraction.turn import Turn
from engine.memory.listing import Filter
from engine.memory.model import AuthorRole, Changes, Entry, EvidenceStatus, MemoryType, Scope, Source
from engine.runtime import Engine
from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Say, Shape
from tests.providers.scripted import provider_config
from tests.support import Place
from tests.tui.desk import remember

FEEDBACK, PROJECT = MemoryType.FEEDBACK, MemoryType.PROJECT
VITE = """**Why:** 冷启动从 48 秒降到 1.3 秒。

**How to apply:** 插件写在 `vite.config.ts`。

- never add a webpack config again
- `npm run build` is the only build
"""
RULE = """**Why:** three corrections in two weeks were all about the same thing.

**How to apply:**

- the result first, in one sentence
- reasons only when asked
"""
TURN = (
    {
        "name": "prefers-small-pull-requests",
        "description": "Prefers pull requests of at most 200 lines",
        "scope": "user",
    },
    {"name": "今天在修登录", "description": "今天正在修登录页面的问题", "scope": "user"},
    {"name": "maybe-uses-fish", "description": "Seems to use the fish shell", "scope": "user", "confidence": 0.4},
    {"name": "answers-first", "description": "Answers shall start with the conclusion", "scope": "user"},
)


def reviewed(root: Path) -> Place:
    """The whole home below a folder."""
    place = Place(root)
    place.project.rename(place.project.with_name("northstar"))
    place.project = place.project.with_name("northstar")
    with ModelServer() as server, ExitStack() as stack:
        place.configure(memory__extractionProviderId="mine")
        plain = place.home.config.read_text("utf-8")
        place.home.config.write_text(plain + provider_config(server), "utf-8")
        engine = stack.enter_context(place.open())
        _learned(place, engine, server)
        _candidates(place, engine)
        _failed(place, engine, server)
    place.configure(memory__extractionProviderId="")
    with place.open() as engine:
        place.clock.advance(ms=20 * 60_000)
        submit(place, engine, "s_90d1")
        engine.learning.drain()
        place.clock.advance(ms=7 * 60_000)
        submit(place, engine, "s_90d2")
    return place


def submit(place: Place, engine: Engine, session: str) -> str:
    """Hand a turn over; answers its job."""
    taken = engine.intake.submit(
        Turn("keep it short please", "Noted.", session=session, turn="t1", said_at=place.clock.now_ms())
    )
    assert taken.job is not None
    return taken.job.id


def proposed(engine: Engine, name: str, description: str, body: str = "", **fields: Any) -> Candidate:
    """A candidate in the user layer, unless fields say otherwise."""
    values: dict[str, Any] = {
        "layer": engine.layers.user(), "action": Action.ADD, "origin": Origin.IMPORT, "type": FEEDBACK, **fields,
    }  # fmt: skip
    answer = engine.candidates.propose(Proposal(name=name, description=description, body=body, **values))
    assert answer.outcome is Outcome.QUEUED, answer
    assert answer.candidate is not None
    return answer.candidate


def _learned(place: Place, engine: Engine, server: ModelServer) -> None:
    """One turn of which something is kept, something dropped, and something asks."""
    remember(engine, "answers-first", "Conclusions before reasons", "The result first.", type=FEEDBACK)
    place.clock.advance(days=2)
    values = {"type": "user", "confidence": 0.9, "body": ""}
    server.script.when("You read one finished turn", Say(json.dumps([{**values, **each} for each in TURN])), times=1)
    server.script.when("You keep a list of memories", Say(json.dumps({"decision": "ADD", "targetId": ""})))
    job = submit(place, engine, "s_41c2")
    assert engine.learning.run(job).state == "done"


def _candidates(place: Place, engine: Engine) -> None:
    place.clock.advance(days=1)
    sources = [
        remember(engine, name, words, body, type=FEEDBACK)
        for name, words, body in (
            ("no-preamble", "不要铺垫，直接给结论", ""),
            ("short-reviews", "Review comments: one line each", "file:line first"),
            ("no-recap", "Never repeat the question before the answer", "It was said twice in May."),
        )
    ]
    vite = _project_memory(engine)
    old = remember(engine, "old-registry", "Packages come from the registry in the basement", type=PROJECT)
    held = remember(engine, "tabs-not-spaces", "Makefiles are indented with tabs", type=FEEDBACK)
    today = local_day(place.clock.now_ms(), place.clock.zone())
    proposed(
        engine, held.name, "Indent with tabs everywhere", "Seen in `.editorconfig`.", session="import",
        valid_until=today + timedelta(days=90),
    )  # fmt: skip
    place.clock.advance(days=25)
    proposed(
        engine, "conclusion-first", "先给结论，再给理由；不要铺垫，也不要复述问题", RULE, action=Action.ELEVATE,
        origin=Origin.CONSOLIDATION, confidence=0.8, sources=tuple(map(quoted, sources)), model="mine:scripted",
    )  # fmt: skip
    place.clock.advance(days=1)
    _evolved(engine, vite, old)
    engine.store.edit(sources[2].id, Changes(description="Never repeat the question; answer it"))
    first = next(each for each in engine.listing.window(Filter(text="answers-first")))
    engine.store.edit(first.id, Changes(description="Conclusions before reasons, always"))
    place.clock.advance(ms=3 * 3_600_000)


def _project_memory(engine: Engine) -> Entry:
    return remember(
        engine, "build-with-vite", "项目已从 webpack 迁到 vite", VITE, scope=Scope.PROJECT, type=PROJECT,
        entities=("vite", "webpack"),
    )  # fmt: skip


def _evolved(engine: Engine, vite: Entry, old: Entry) -> None:
    """What a turn asks about memories a person wrote."""
    project = engine.layers.project()
    assert project is not None
    said = {"session": "s_77ab", "turn": "t9", "origin": Origin.EVOLUTION, "model": "mine:scripted",
            "reason": "a_person_wrote_it"}  # fmt: skip
    proposed(
        engine, "vite", "项目已从 webpack 迁到 vite 6；构建只用 npm run build", VITE.replace("1.3", "0.9"), layer=project,
        action=Action.UPDATE, target=quoted(vite), type=PROJECT, confidence=0.7,
        evidence="we moved to vite 6 and the cold start is under a second now",
        evidence_status=EvidenceStatus.VERIFIED, **said,
    )  # fmt: skip
    proposed(
        engine, "registry", "Packages come from the registry in the cloud", "", action=Action.DELETE, replaces=True,
        target=quoted(old), type=PROJECT, confidence=0.9, **said,
    )  # fmt: skip
    gone = remember(
        engine, "printer-on-floor-3", "The printer is on floor 3", source=Source.MANUAL, author=AuthorRole.MANUAL_USER
    )
    answer = engine.candidates.propose(
        Proposal.to_forget(engine.layers.user(), gone, "", "a_person_wrote_it", "s_77ab", "t9")
    )
    assert answer.outcome is Outcome.QUEUED


def _failed(place: Place, engine: Engine, server: ModelServer) -> None:
    """A turn of which nothing came, and one that was tried three times in vain."""
    assert engine.learning.run(submit(place, engine, "s_8e00")).state == "done"
    place.clock.advance(ms=40 * 60_000)
    server.script.when("You read one finished turn", Say("I see nothing to remember.", Shape.AS_IS), times=3)
    job = submit(place, engine, "s_8e01")
    for _try in range(3):
        engine.learning.drain()
        place.clock.advance(ms=60_000)
    assert engine.jobs.get(job).state == "failed"
