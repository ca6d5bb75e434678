"""A small bilingual home with a memory in every state, for pictures and long walks; the same bytes at every run."""

from datetime import date, timedelta
from pathlib import Path

from engine.clock import local_day
from engine.memory.injection import AgentProfile, Request
from engine.memory.listing import Filter
from engine.memory.model import AuthorRole, Changes, EvidenceStatus, MemoryType, Scope, Source
from engine.runtime import Engine
from tests.support import Place
from tests.tui.desk import remember

U, P, A = Scope.USER, Scope.PROJECT, Scope.AGENT
FEEDBACK, USER, PROJECT, REFERENCE = MemoryType.FEEDBACK, MemoryType.USER, MemoryType.PROJECT, MemoryType.REFERENCE
BODY = """**Why:** 冷启动从 48 秒降到 1.3 秒。

**How to apply:** 插件写在 `vite.config.ts`；环境变量以 `VITE_` 开头。

| | webpack | vite |
|---|---|---|
| 冷启动 | 48 s | 1.3 s |
| HMR | 2.1 s | 0.1 s |

- never add a webpack config again
- `npm run build` is the only build
"""
LASTING = (
    (U, FEEDBACK, "answer-first", "先给结论，再给理由；不要铺垫", "", ("沟通",)),
    (U, FEEDBACK, "no-auto-commit", "Never commit or push unless asked to in so many words", "", ("git",)),
    (U, USER, "lives-in-shanghai", "Works from Shanghai, UTC+8; meetings before 10:00 do not work", "", ()),
    (U, USER, "姓名与称呼", "叫他老周，不要叫周先生", "", ()),
    (
        U,
        REFERENCE,
        "dotfiles-repo",
        "Dotfiles are at ~/src/dotfiles; zsh and tmux configs are linked from there",
        "",
        ("tmux",),
    ),
    (P, PROJECT, "build-with-vite", "项目已从 webpack 迁到 vite；不要再加 webpack 配置", BODY, ("vite", "webpack")),
    (P, PROJECT, "postgres-16", "The database is PostgreSQL 16; migrations go through sqitch", "", ("PostgreSQL",)),
    (
        P,
        PROJECT,
        "money-in-cents",
        "Amounts are integers in cents, the currency beside them; never floats",
        "",
        ("billing",),
    ),
    (P, FEEDBACK, "tests-real-db", "Tests run against a real PostgreSQL in a container", "", ("PostgreSQL",)),
    (P, REFERENCE, "oncall-runbook", "值班手册：docs/runbook/oncall.md；告警分级在第三节", "", ()),
    (A, FEEDBACK, "review-style", "Review comments: one line each, file:line first", "", ("review",)),
    (A, FEEDBACK, "计划先行", "改动超过三个文件时先给计划，等确认再动手", "", ()),
)


def furnished(root: Path) -> Place:
    """The whole home below a folder, vectors included."""
    place = Place(root, embedding="local")
    place.project.rename(place.project.with_name("northstar"))
    place.project = place.project.with_name("northstar")
    neighbour = place.project.with_name("acme-shop")
    neighbour.mkdir()
    with place.open(neighbour) as engine:
        remember(engine, "cart", scope=P, type=PROJECT)
    with place.open() as engine:
        _lasting(place, engine)
        _passing(place, engine)
        _broken(place, engine)
        engine.fill_vectors(100)
    return place


def _lasting(place: Place, engine: Engine) -> None:
    for number, (scope, type, name, description, body, entities) in enumerate(LASTING):
        place.clock.advance(days=4)
        learned = {"source": Source.EXTRACTION, "author": AuthorRole.EXTRACTION, "extraction_model": "qwen3-14b",
                   "source_session_id": "s_41c2", "confidence": 0.82, "evidence": "we moved to vite last week",
                   "evidence_status": EvidenceStatus.VERIFIED}  # fmt: skip
        remember(
            engine, name, description, body, scope=scope, type=type, entities=entities,
            agent="claude-code" if scope is A else None, **(learned if number == 5 else {}),
        )  # fmt: skip
    entry = next(each for each in engine.listing.window(Filter()) if each.name == "answer-first")
    place.clock.advance(days=2)
    engine.store.edit(entry.id, Changes(description="先给结论，再给理由；不要铺垫，也不要复述问题", body="> 结论先行"))
    for session in range(3):
        engine.inject(Request(AgentProfile("claude-code"), session=f"s{session}"))


def _passing(place: Place, engine: Engine) -> None:
    today = local_day(place.clock.now_ms(), place.clock.zone())
    remember(engine, "on-vacation", "On vacation; answers take a day", type=USER, valid_until=today + timedelta(days=2))
    remember(engine, "release-branch", "Releases are cut from release/*", scope=P, type=PROJECT, valid_until=today)
    remember(
        engine, "contract-北辰", "与北辰的合同到期后由法务续约", scope=P, type=PROJECT, valid_until=date(2026, 10, 31)
    )
    old = remember(engine, "old-laptop", "The old ThinkPad is at /mnt/backup/x220", type=REFERENCE)
    engine.store.archive([old.id])
    place.clock.advance(days=5)
    remember(engine, "release-branch", "Releases are tags on main since March", scope=P, type=PROJECT)
    place.clock.advance(days=1)


def _broken(place: Place, engine: Engine) -> None:
    conflicted = remember(engine, "broken-yaml", "A merge went wrong in its file", scope=P, type=PROJECT)
    removed = remember(engine, "gone-file", "Its file was removed by hand", type=USER)
    place.path(conflicted).write_text("<<<<<<< mine\n", "utf-8")
    place.path(removed).unlink()
    place.clock.advance(ms=3 * 3_600_000)
    engine.refresh()
