"""The seed's trouble-shooting table, rows 5 to 8 and 10 to 12: it is remembered, but not found, shown or changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.events import MemoryChanged
from engine.memory.agent_access import AgentSession, answer_text
from tests.learning.conftest import item
from tests.learning.person import Person, cli, person, project
from tests.providers.embedding_server import EmbeddingServer
from tests.providers.scripted import provider_config
from tests.support import REPOSITORY, Place, child_environment
from tests.tui.desk import furnish, seated

__all__ = ["cli", "person", "project"]
CLAUDE = AgentSession("s1", "claude-code")
LOCAL = "[memory]\nembeddingProviderId = 'local'\n"
OTHER_WORDS = "界面代码怎么写"


def remember_three(person: Person) -> None:
    for name, text in (("组件", "偏好函数式组件"), ("提交", "每次提交前先跑测试"), ("城市", "住在杭州")):
        person.cli.add(name, text)


def test_5_semantic_search_is_off_because_no_embedding_is_configured(person: Person) -> None:
    person.cli.add("components", "偏好函数式组件")
    found = person.cli.json("memory", "search", "组件")
    assert (found["channels"], found["status"]) == ({"fts": "ok", "vector": "off"}, "matched")
    row = person.doctor("embedding")
    assert (row["evidence"], row["fix"]) == (
        "off: words only",
        "spark-tui settings set memory.embeddingProviderId local",
    )
    person.cli.run(*row["fix"].split()[1:])
    assert person.cli.json("memory", "search", "组件")["channels"] == {"fts": "ok", "vector": "ok"}


def test_5_semantic_search_is_off_because_sqlite_vec_failed_to_load_and_the_log_says_exactly_that(
    person: Person, tmp_path: Path
) -> None:
    person.configure(LOCAL)
    remember_three(person)
    broken = tmp_path / "broken" / "sqlite_vec"
    broken.mkdir(parents=True)
    (broken / "__init__.py").touch()
    for suffix in (".so", ".dylib", ".dll"):
        (broken / f"vec0{suffix}").write_bytes(b"not a library")
    environment = {**child_environment(), "PYTHONPATH": os.pathsep.join([str(broken.parent), str(REPOSITORY)])}
    command = [sys.executable, "-m", "spark_tui", "--home", str(person.cli.home)]

    def run(*words: str) -> str:
        done = subprocess.run([*command, *words], env=environment, cwd=REPOSITORY, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    before = len(person.log)
    told = run("doctor")
    assert "vectors are ranked without it" in told
    said = [line.rpartition(": ")[2] for line in person.log[before:].splitlines() if "load failed" in line]
    assert said == ["sqlite-vec load failed, vector search disabled"]
    assert "偏好函数式组件" in run("memory", "search", OTHER_WORDS)  # ranked without the index: slower, but not lost


def test_5_semantic_search_is_off_until_the_index_is_rebuilt_for_another_embedding_model(person: Person) -> None:
    person.cli.add("components", "偏好函数式组件")
    person.cli.add("tests", "提交前先跑测试")
    with EmbeddingServer() as server:

        def use(model: str) -> None:
            chosen = f"[memory]\nembeddingProviderId = 'lab'\nembeddingModel = '{model}'\n"
            person.configure(chosen + provider_config(server.url, name="lab"))

        use("first")
        assert person.cli.json("settings", "rebuild-vectors")["ok"]
        assert "first, generation 1: all 2 have a vector" in person.doctor("embedding")["evidence"]
        use("second")
        row = person.doctor("embedding")
        assert (row["state"], "0 of 2 have a vector" in row["evidence"]) == ("info", True)
        assert row["fix"] == "spark-tui settings rebuild-vectors"
        person.cli.run(*row["fix"].split()[1:])
        assert "second" in person.doctor("embedding")["evidence"]
        assert person.doctor("embedding")["state"] == "ok"
        (hit, *_) = person.cli.json("memory", "search", "偏好函数式组件", "--explain")["hits"]
        assert (hit["entry"]["name"], hit["vector_rank"]) == ("components", 1)


def test_6_the_agent_says_i_do_not_remember_because_the_three_layers_are_empty(person: Person) -> None:
    told = person.cli.json("inject", "--agent", "claude-code")
    assert (told["status"], told["injected"], told["dropped"]) == ("empty", [], [])
    assert person.doctor("injection")["evidence"] == "no memory was injected or recalled yet"
    with person.engine() as engine:
        assert "no" in answer_text(engine.agent_memory.search(CLAUDE, "tea")).casefold()


def test_6_the_agent_says_i_do_not_remember_because_the_budget_cut_it_and_search_memory_finds_it(
    person: Person,
) -> None:
    person.cli.json("settings", "set", "memory.maxInjectTokens", "200")
    for number in range(8):
        person.cli.add(f"rule-{number}", f"Rule number {number}: " + "keep tests small and fast " * 5)
    told = person.cli.json("inject", "--agent", "claude-code")
    assert {each["reason"] for each in told["dropped"]} == {"budget"}
    assert len(told["injected"]) + len(told["dropped"]) == 8
    cut = told["dropped"][0]["id"]
    assert cut not in told["block"]
    with person.engine() as engine:
        found = engine.agent_memory.search(CLAUDE, person.cli.shown(cut)["entry"]["description"][:100], limit=20)
        assert cut in [hit.entry.id for hit in found.hits]
        assert cut in answer_text(found)
        assert engine.agent_memory.recall(CLAUDE, cut).entry.id == cut


def test_7_remembered_but_not_found_in_other_words_until_there_is_an_embedding(person: Person) -> None:
    remember_three(person)
    assert person.hits(OTHER_WORDS) == []
    person.configure(LOCAL)
    assert person.hits(OTHER_WORDS) == ["组件"]
    (hit, *_) = person.cli.json("memory", "search", "组件写法", "--explain")["hits"]
    assert (hit["entry"]["name"], hit["vector_rank"]) == ("组件", 1)


WRITES = [
    ("memory", "add", "--scope", "user", "--type", "user", "--name", "n", "--description", "d"),
    ("memory", "edit", "ID", "--description", "d"),
    ("memory", "archive", "ID"),
    ("memory", "delete", "ID", "--yes"),
    ("memory", "import", "."),
    ("candidates", "confirm", "cnd_00000001", "--digest", "d"),
    ("candidates", "reject", "cnd_00000001"),
    ("settings", "set", "memory.enabled", "false"),
]


@pytest.mark.parametrize("words", WRITES, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("marker", ["CLAUDECODE", "CODEX_SANDBOX", "SPARK_AGENT"])
def test_8_can_the_agent_remember_this_by_itself_no_it_is_told_that_a_person_is_required(
    person: Person, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], marker: str
) -> None:
    entry = person.cli.add("tea", "Likes tea")
    monkeypatch.setenv(marker, "1")
    error = person.cli.json(*(entry if word == "ID" else word for word in words), code=1)["error"]
    assert (error["code"], marker in error["message"], bool(error["hint"])) == ("PERSON_REQUIRED", True, True)
    assert person.names() == ["tea"]
    assert person.cli.shown(entry)["entry"]["version"] == 1


def test_8_what_the_agent_can_do_is_leave_it_in_the_talk_from_which_it_is_learned(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    with person.engine() as engine:
        tools = {name for name in dir(engine.agent_memory) if not name.startswith("_")}
    assert tools == {"is_offered", "recall", "search"}
    monkeypatch.setenv("CLAUDECODE", "1")
    told = person.turn(item("tea", "Likes tea"), user="Remember this: I like tea.")
    assert told["items"][0]["outcome"] == "added"
    assert person.doctor("person")["evidence"] == "an agent, by CLAUDECODE: commands that change memories refuse"


def test_10_saving_tells_a_version_conflict_with_both_versions_and_overwrites_nothing(person: Person) -> None:
    entry = person.cli.add("editor", "uses vim")
    person.cli.json("memory", "edit", entry, "--description", "uses helix", "--expected-version", "1")
    late = ("memory", "edit", entry, "--description", "uses emacs", "--expected-version")
    error = person.cli.json(*late, "1", code=3)["error"]
    assert (error["code"], error["current_version"], error["base_version"]) == ("VERSION_CONFLICT", 2, 1)
    assert person.cli.shown(entry)["entry"]["description"] == "uses helix"
    assert person.cli.file(entry).read_text("utf-8").count("uses helix") == 1
    person.cli.json(*late, str(error["current_version"]))
    assert person.cli.shown(entry)["entry"]["description"] == "uses emacs"


def test_11_an_expired_memory_is_not_found_any_more_but_still_there_until_its_last_day_is_set_anew(
    person: Person,
) -> None:
    entry = person.cli.add("contract", "the contract with ACME", "--valid-until", "2020-01-31")
    assert person.cli.json("memory", "search", "contract ACME")["status"] == "empty"
    assert person.cli.json("inject")["status"] == "expired"
    shown = person.cli.shown(entry)["entry"]
    assert (shown["state"], shown["valid_until"]) == ("expired", "2020-01-31")
    assert (person.names(), person.names("--state", "expired")) == ([], ["contract"])
    person.cli.json("memory", "edit", entry, "--valid-until", "2999-01-31")
    assert person.hits("contract ACME") == ["contract"]
    assert person.cli.json("inject")["status"] == "matched"


async def test_12_the_detail_that_spins_for_ever_says_within_seconds_that_the_entry_was_deleted_elsewhere(
    place: Place,
) -> None:
    furnish(place, "kept", "doomed")
    async with seated(place) as desk:
        with place.open() as elsewhere:
            elsewhere.store.delete([desk.entry("doomed").id])
        await desk.press("enter")
        await desk.see("this memory is not here any more", "try again")
        await desk.press("enter")
        await desk.see("this memory is not here any more")
        await desk.press("escape")
        await desk.until(lambda: "not here any more" not in desk.text, "the page to close")
        desk.engine.bus.announce(MemoryChanged(origin="elsewhere"))
        await desk.see("about kept", "1 memory")


def test_12_the_detail_of_an_entry_deleted_elsewhere_is_an_error_on_the_command_line_too(person: Person) -> None:
    entry = person.cli.add("editor", "uses vim")
    person.cli.json("memory", "delete", entry, "--yes")
    error = person.cli.json("memory", "show", entry, code=1)["error"]
    assert (error["code"], entry in error["message"]) == ("NOT_FOUND", True)
