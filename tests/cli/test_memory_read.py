"""memory list, show, search and inject: what they find, filter, count and explain."""

import itertools

import pytest

from tests.cli.conftest import Cli

HIT_KEYS = ["entry", "score", "fts_rank", "vector_rank", "rrf", "decay"]


@pytest.fixture
def stocked(cli: Cli) -> Cli:
    """A store with one memory in each state but the broken ones."""
    cli.add("active-one", "偏好函数式组件", "--body", "React since 2020")
    cli.add("project-one", "builds with vite", scope="project")
    cli.json("memory", "add", "--scope", "agent", "--agent", "codex", "--type", "feedback", "--name", "agent-one",
             "--description", "codex keeps its tone")  # fmt: skip
    cli.json("memory", "archive", cli.add("archived-one"))
    cli.add("expired-one", "over", "--valid-until", "2020-01-01")
    cli.add("reborn", "old", "--valid-until", "2020-01-01")
    cli.add("reborn", "new")
    return cli


def names(document: dict[str, list[dict[str, str]]]) -> set[str]:
    return {each["name"] for each in document["entries"]}


def test_a_list_is_filtered_by_scope_type_agent_and_state(stocked: Cli) -> None:
    assert names(stocked.json("memory", "list")) == {"active-one", "project-one", "agent-one", "reborn"}
    assert names(stocked.json("memory", "list", "--scope", "project")) == {"project-one"}
    assert names(stocked.json("memory", "list", "--type", "feedback")) == {"agent-one"}
    assert names(stocked.json("memory", "list", "--agent", "codex")) == {"agent-one"}
    assert names(stocked.json("memory", "list", "--agent", "nobody")) == set()
    assert names(stocked.json("memory", "list", "--state", "archived")) == {"archived-one"}
    assert names(stocked.json("memory", "list", "--state", "expired")) == {"expired-one"}
    assert names(stocked.json("memory", "list", "--state", "invalid")) == {"reborn"}
    everything = stocked.json("memory", "list", "--state", "all")
    assert everything["total"] == len(everything["entries"]) == 7


def test_pages_of_a_list_make_the_whole(stocked: Cli) -> None:
    whole = stocked.json("memory", "list", "--state", "all")["entries"]
    pages = [
        stocked.json("memory", "list", "--state", "all", "--limit", "3", "--offset", str(at)) for at in (0, 3, 6, 9)
    ]
    assert [len(page["entries"]) for page in pages] == [3, 3, 1, 0]
    assert {page["total"] for page in pages} == {7}
    assert list(itertools.chain.from_iterable(page["entries"] for page in pages)) == whole
    assert stocked.json("memory", "list", "--limit", "0") == {"entries": [], "total": 4}


def test_as_of_a_day_shows_what_applied_at_its_end(cli: Cli) -> None:
    entry_id = cli.add("n", "d", "--valid-until", "2999-06-30")
    assert cli.json("memory", "list", "--as-of", "2020-01-01")["total"] == 0
    last = cli.json("memory", "list", "--as-of", "2999-06-30")
    assert [(each["id"], each["state"]) for each in last["entries"]] == [(entry_id, "active")]
    assert cli.json("memory", "list", "--as-of", "2999-07-01")["total"] == 0
    assert cli.json("memory", "list", "--as-of", "2999-07-01", "--state", "expired")["total"] == 1


def test_search_finds_chinese_and_english_and_nothing_where_nothing_is(stocked: Cli) -> None:
    for query in ("函数式", "组件写法", "React", "active"):
        found = stocked.json("memory", "search", query)
        assert found["status"] == "matched"
        assert found["hits"][0]["entry"]["name"] == "active-one"
        assert list(found["hits"][0]) == HIT_KEYS
        assert found["hits"][0]["fts_rank"] == 1
        assert found["channels"] == {"fts": "ok", "vector": "off"}
    assert stocked.json("memory", "search", "zzzz") == {
        "status": "empty", "hits": [], "related": [], "channels": {"fts": "ok", "vector": "off"},
    }  # fmt: skip


def test_search_keeps_to_scope_type_and_limit(stocked: Cli) -> None:
    assert stocked.json("memory", "search", "vite", "--scope", "user")["hits"] == []
    assert len(stocked.json("memory", "search", "vite", "--scope", "project")["hits"]) == 1
    assert stocked.json("memory", "search", "tone", "--type", "user")["hits"] == []
    assert len(stocked.json("memory", "search", "tone", "--agent", "codex")["hits"]) == 1
    assert stocked.json("memory", "search", "tone", "--agent", "claude-code")["hits"] == []
    assert len(stocked.json("memory", "search", "new", "old", "over", "vite", "tone", "--limit", "2")["hits"]) == 2
    assert stocked.json("memory", "search", "archived", "over")["hits"] == []


def test_explain_adds_what_the_order_was_made_from(stocked: Cli) -> None:
    hit = stocked.json("memory", "search", "vite", "--explain")["hits"][0]
    assert list(hit) == [*HIT_KEYS, "bm25", "similarity", "confidence"]
    assert hit["score"] == pytest.approx(hit["rrf"] * hit["decay"] * hit["confidence"])
    assert "decay" in stocked.run("memory", "search", "vite", "--explain").out


def test_search_with_memory_off_says_so(stocked: Cli) -> None:
    stocked.json("settings", "set", "memory.enabled", "off")
    found = stocked.json("memory", "search", "vite")
    assert (found["status"], found["hits"]) == ("disabled", [])
    assert stocked.json("inject") == {"status": "disabled", "block": "", "tokens": 0, "injected": [], "dropped": []}


@pytest.mark.parametrize(
    "query", ["!!! ... ???", "\"'*()^-:", "AND OR NOT NEAR", "🙂", "的", "-" * 50 + "x", "a" * 10_000]
)
def test_no_query_is_an_operator_or_an_error(stocked: Cli, query: str) -> None:
    found = stocked.run("memory", "search", "--json", "--", query).json
    assert found["status"] in ("matched", "empty")
    assert found["channels"]["fts"] == "ok"


def test_show_prints_a_page_for_people(stocked: Cli) -> None:
    entry_id = stocked.json("memory", "search", "React")["hits"][0]["entry"]["id"]
    told = stocked.run("memory", "show", entry_id, "--history").out
    assert "偏好函数式组件" in told
    assert str(stocked.file(entry_id)) in told


def test_the_block_is_the_same_in_both_forms(stocked: Cli) -> None:
    told = stocked.json("inject", "--agent", "codex", "--session", "s1")
    assert told["status"] == "matched"
    assert stocked.run("inject", "--agent", "codex", "--session", "s1").out == told["block"]
    assert "codex keeps its tone" in told["block"]
    assert 'workspace="alpha"' in told["block"]
    expired = [each["id"] for each in stocked.json("memory", "list", "--state", "expired")["entries"]]
    assert [each for each in told["dropped"] if each["reason"] == "expired"] == [
        {"id": each, "reason": "expired"} for each in expired
    ]
    assert set(told["injected"]) == {each["id"] for each in stocked.json("memory", "list")["entries"]}
    assert "codex keeps its tone" not in stocked.json("inject")["block"]


def test_an_empty_store_injects_nothing(cli: Cli) -> None:
    assert cli.json("inject")["status"] == "empty"
    cli.add("n", "over", "--valid-until", "2020-01-01")
    assert cli.json("inject")["status"] == "expired"


def test_text_of_a_memory_cannot_steer_the_terminal(cli: Cli) -> None:
    entry_id = cli.add("n", "red \x1b[31m alert \u202e txet", "--body", "bell \x07 and \x1b]0;title\x07")
    for command in (("memory", "list"), ("memory", "show", entry_id), ("memory", "search", "alert")):
        told = cli.run(*command).out
        assert "alert" in told
        assert not {"\x1b", "\x07", "\u202e"} & set(told)
