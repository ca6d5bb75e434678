"""What one answer may join: true duplicates in two languages pass, entries about something else do not (02 §8)."""

from itertools import combinations

import pytest

from engine.memory.consolidation.alike import Alike
from engine.memory.consolidation.merging import MERGED_MAX
from engine.memory.consolidation.model import Skipped, Snapshot
from engine.memory.model import AuthorRole, Entry, Source
from engine.runtime import Engine
from spark_tui.demo.model_server import ModelServer
from tests.memory.consolidation.asking import actions, consolidated, extracted, merge
from tests.support import Place, draft, durable, everything, state_of

Said = tuple[str, str]
SAME: list[tuple[Said, ...]] = [
    (("pnpm", "uses pnpm for packages"), ("package-manager", "the package manager of this project is pnpm")),
    (("短回答", "用户喜欢简短的回答"), ("answer-briefly", "回答要简短，不要长篇大论")),
    (("tabs", "prefers tabs over spaces for indentation"), ("indentation", "indent with tabs, never spaces")),
    (("数据库", "项目数据库是 PostgreSQL 16"), ("database", "the project's database is PostgreSQL 16")),
    (("deploy-day", "deploys happen on Tuesday"), ("releases", "we release every Tuesday afternoon")),
    (("提交信息", "提交信息用英文写，遵守 Conventional Commits"), ("commits", "commits follow Conventional Commits")),
    (("time-zone", "the user lives in Berlin, time zone CET"), ("location", "based in Berlin (Europe/Berlin)")),
    (("测试框架", "单元测试用 pytest 跑"), ("pytest", "tests run with pytest")),
    (("code-review", "reviews go through Alice before merge"), ("reviewer", "Alice reviews every change")),
    (("缓存", "缓存用 Redis，过期时间 1 小时"), ("redis-缓存", "Redis 缓存一小时过期")),
]
# Not a word in common: only vectors can tell.
TRANSLATED: list[tuple[Said, ...]] = [
    (("深色主题", "用户喜欢深色主题"), ("dark-mode", "prefers dark themes in every editor")),
    (("不要道歉", "回答时不要道歉"), ("no-apologies", "never apologise in an answer")),
    (("站会", "每周一上午十点站会"), ("stand-up", "the stand-up is on Monday at ten")),
]
OTHERS: list[Said] = [
    ("vim", "the user edits with vim"), ("ci", "CI runs on GitHub Actions"), ("dog", "the user's dog is Bruno"),
    ("日志", "日志写到 /var/log/app，按天切割"), ("api", "the public API is REST with JSON"), ("发票", "发票每月五号之前提交"),
    ("license", "the code is under the MIT license"), ("images", "images are built with docker buildx"),
    ("主色", "界面主色是深绿色"), ("font", "documentation is set in Inter"), ("http", "calls are retried three times"),
]  # fmt: skip


def filled(engine: Engine, groups: list[tuple[Said, ...]]) -> dict[str, Snapshot]:
    """Entries of these groups, by name."""
    entries = [extracted(engine, *said) for group in [*groups, *((each,) for each in OTHERS)] for said in group]
    engine.fill_vectors(1_000)
    with engine.database.read() as connection:
        rids = dict(connection.execute("SELECT id, rid FROM memory_entry"))
    return {each.name: Snapshot(rids[each.id], each, "") for each in entries}


@pytest.mark.parametrize(("embedding", "groups"), [("none", SAME), ("local", [*SAME, *TRANSLATED])])
def test_what_means_the_same_is_alike_and_what_is_about_something_else_is_not(
    tmp_path_factory: pytest.TempPathFactory, embedding: str, groups: list[tuple[Said, ...]]
) -> None:
    with Place(tmp_path_factory.mktemp(embedding), embedding=embedding).open() as engine:
        known = filled(engine, groups)
        with engine.database.read() as connection:
            alike = Alike(connection, list(known.values()))
        for (one, _), (other, _) in groups:
            assert alike.floor_of(known[one], known[other]) >= 1, (one, other)
        same = [{name for name, _ in group} for group in groups]
        different = [pair for pair in combinations(known, 2) if set(pair) not in same]
        passed = [pair for pair in different if alike.floor_of(known[pair[0]], known[pair[1]]) >= 1]
    assert len(passed) <= len(different) * 0.05, passed


def test_one_answer_cannot_join_a_layer_of_unrelated_entries(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        entries = [extracted(engine, *said) for said in OTHERS]
        before = durable(engine)
        report = consolidated(engine, model_server, actions(merge(*entries)))
        assert (report.merged, durable(engine)) == ((), before)
        assert report.skipped == (Skipped("merge", "unlike", tuple(each.id for each in entries)),)


def test_the_unlike_part_of_a_merge_is_left_and_told(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        keep, same, other = (extracted(engine, *said) for said in (*SAME[0], OTHERS[2]))
        report = consolidated(engine, model_server, actions(merge(keep, same, other)))
        assert [(each.keep, each.ids) for each in report.merged] == [(keep.id, (same.id,))]
        assert report.skipped == (Skipped("merge", "unlike", (keep.id, other.id)),)
        assert state_of(engine, other.id) == "active"


def test_a_shared_entity_is_a_likeness(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        one = extracted(engine, "queue", "mail goes through a broker", entities=("RabbitMQ",))
        two = extracted(engine, "邮件", "发信走消息队列", entities=("rabbitmq",))
        assert consolidated(engine, model_server, actions(merge(one, two))).merged


def test_more_duplicates_than_a_few_are_not_joined_by_one_answer(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        keep = extracted(engine, "tabs", "indent with tabs")
        others = [extracted(engine, f"tabs-{n}", f"indent with tabs {'x' * n}") for n in range(MERGED_MAX + 2)]
        report = consolidated(engine, model_server, actions(merge(keep, *others)))
        [merged], [left] = report.merged, report.skipped
        assert (len(merged.ids), left.reason, len(left.ids)) == (MERGED_MAX, "too_many", 3)
        assert {keep.id, *merged.ids, *left.ids} == {each.id for each in everything(engine)}


def imported(engine: Engine) -> Entry:
    return engine.store.add(draft("indent", "indent with tabs", source=Source.IMPORT, author=AuthorRole.IMPORT))


def test_words_no_turn_may_change_are_kept_over_a_models(place: Place, model_server: ModelServer) -> None:
    with place.open() as engine:
        learnt, brought = extracted(engine, "tabs", "indents with tabs"), imported(engine)
        [merged] = consolidated(engine, model_server, actions(merge(learnt, brought))).merged
        assert (merged.keep, merged.ids) == (brought.id, (learnt.id,))
        kept = engine.listing.entry(brought.id)
        assert (kept.author_role, kept.source, kept.description) == (
            AuthorRole.IMPORT, Source.IMPORT, "indent with tabs",
        )  # fmt: skip
