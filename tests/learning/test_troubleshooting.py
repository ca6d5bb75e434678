"""The seed's trouble-shooting table, rows 1 to 4 and 9: nothing was remembered, and the program itself says why."""

import pytest

from engine.learning import UNAVAILABLE
from engine.memory.extraction.intake import TRIGGERED
from spark_tui.demo.steps import Fail, Say
from tests.learning.conftest import item
from tests.learning.person import Person, cli, person, project
from tests.providers.scripted import provider_config

__all__ = ["cli", "person", "project"]
SECRET = "ghp_" + "T7r0uB1eSh00t1ng2222bbbb3333cccc4444"


def test_1_chatted_for_long_and_no_memory_at_all_first_look_at_the_switch(person: Person) -> None:
    person.cli.json("settings", "set", "memory.enabled", "false")
    told = person.turn(item("tea", "Likes tea"))
    assert (told["job"], told["reason"]) == (None, "disabled")
    assert person.cli.json("inject")["status"] == "disabled"
    row = person.doctor("enabled")
    assert (row["state"], row["fix"]) == ("warn", "spark-tui settings set memory.enabled true")
    assert person.cli.run(*row["fix"].split()[1:]).code == 0  # what doctor says mends it does
    assert person.turn(item("tea", "Likes tea"))["items"][0]["outcome"] == "added"


def test_1_no_memory_at_all_then_the_log_says_triggered_and_after_it_llm_unavailable(person: Person) -> None:
    person.server.then(Fail(401))
    told = person.turn(item("tea", "Likes tea"), code=1)
    assert told["error"]["code"] == "MODEL_UNAVAILABLE"
    assert "HTTP 401" in told["error"]["message"]
    assert (TRIGGERED, UNAVAILABLE) == ("memory extraction triggered", "memory extraction LLM unavailable")
    assert 0 < person.log.index(TRIGGERED) < person.log.index(UNAVAILABLE)
    (job,) = person.cli.json("jobs", "list")["jobs"]
    assert (job["state"], "HTTP 401" in job["reason"]) == ("no_model", True)
    row = person.doctor("jobs")
    assert (row["state"], job["id"] in row["evidence"], "HTTP 401" in row["evidence"]) == ("warn", True, True)
    person.cli.json("jobs", "retry", job["id"])
    assert person.cli.json("jobs", "run", job["id"])["items"][0]["outcome"] == "added"
    assert (person.names(), person.doctor("jobs")["state"]) == (["tea"], "ok")


def test_1_no_memory_at_all_or_ask_the_extraction_model_directly(person: Person) -> None:
    told = person.cli.json("settings", "test-extraction")
    assert (told["ok"], told["provider"], told["model"], bool(told["sample"])) == (True, "mine", "scripted", True)
    person.server.script.default = Fail(401)
    error = person.cli.json("settings", "test-extraction", code=1)["error"]
    assert (error["message"].partition(" from ")[0], bool(error["hint"])) == ("HTTP 401", True)
    person.configure("")
    error = person.cli.json("settings", "test-extraction", code=1)["error"]
    assert error["message"] == "nothing configured and no conversation model to fall back to"
    assert "provider add" in error["hint"]
    assert "provider offers" in person.doctor("extraction-model")["fix"]
    person.configure("[memory]\nextractionProviderId = 'gone'\n" + provider_config(person.server))
    assert "gone" in person.cli.json("settings", "test-extraction", code=1)["error"]["message"]
    assert (person.doctor("extraction-model")["state"], person.names()) == ("fail", [])


@pytest.mark.parametrize(
    "answered",
    ["", " \n ", '<function_calls>\n<invoke name="Bash">ls</invoke>\n</function_calls>', "<system-reminder>x</system-reminder>"],
)  # fmt: skip
def test_2_only_tool_calls_no_memory_because_the_assistant_said_nothing(person: Person, answered: str) -> None:
    told = person.turn(item("tea", "Likes tea"), assistant=answered)
    assert (told["job"], told["reason"]) == (None, "blank")
    assert person.cli.json("jobs", "list")["total"] == 0
    assert person.server.requests == []
    done = person.turn(item("tea", "Likes tea"), assistant=f"{answered}\nI listed the files.")
    assert done["items"][0]["outcome"] == "added"


def test_2_a_short_talk_may_bring_nothing_and_that_is_told_as_a_success(person: Person) -> None:
    told = person.turn(user="hi", assistant="Hello!")
    assert (told["job"]["state"], told["items"], told["job"]["reason"]) == ("done", [], "nothing worth keeping")
    assert "nothing worth keeping" in person.doctor("last-extraction")["evidence"]


DROPS = [
    ("transient", item("login", "Is fixing the login page right now")),
    ("transient", item("huiyi", "今天下午要和客户开会")),
    ("confidence", item("tea", "Perhaps likes tea", confidence=0.59)),
    ("confidence", {key: value for key, value in item("milk", "Likes milk").items() if key != "confidence"}),
    ("sensitive", item("key", f"The token is {SECRET}")),
    ("sensitive", item("mima", "数据库的账号", body="密码：Zx9#kQ2mLp7w")),
    ("quota", item("speaks", "Speaks German")),
]


@pytest.mark.parametrize(("gate", "wanted"), DROPS, ids=[f"{gate}-{each['name']}" for gate, each in DROPS])
def test_3_a_candidate_did_not_pass_transient_confidence_sensitive_and_quota_are_told_apart(
    person: Person, gate: str, wanted: dict[str, object]
) -> None:
    person.cli.json("settings", "set", "memory.quota.user", "1")
    person.cli.add("lives", "Lives in Bern")
    (told,) = person.turn(wanted)["items"]
    assert (told["outcome"], told["gate"], bool(told["reason"])) == ("dropped", gate, True)
    (line,) = person.cli.json("memory", "gate-log")["entries"]
    assert (line["name"], line["gate"], line["reason"]) == (wanted["name"], gate, told["reason"])
    assert f"1 {gate}" in person.doctor("gates")["evidence"]
    assert f"1 item: 1 dropped by gate {gate}" in person.doctor("last-extraction")["evidence"]
    assert person.names() == ["lives"]
    for shown in (told, line):
        assert str(wanted["description"]) not in str(shown)


def test_3_a_full_layer_is_told_before_anything_is_dropped_and_more_room_lets_it_in(person: Person) -> None:
    person.cli.json("settings", "set", "memory.quota.user", "1")
    person.cli.add("lives", "Lives in Bern")
    row = person.doctor("layer:user")
    assert (row["state"], row["evidence"].startswith("1 of 1 active")) == ("warn", True)
    assert person.turn(item("speaks", "Speaks German"))["items"][0]["gate"] == "quota"
    person.cli.run(*row["fix"].partition(",")[0].split()[1:])
    assert person.turn(item("speaks", "Speaks German"))["items"][0]["outcome"] == "added"


def test_4_a_project_memory_cannot_be_written_because_the_session_has_no_workspace(person: Person) -> None:
    build = item("build", "Builds with vite", scope="project", type="project")
    told = person.turn(build, item("tea", "Likes tea"), at="/")
    assert [(each["outcome"], each.get("gate"), each.get("reason")) for each in told["items"]] == [
        ("dropped", "no_workspace", "no_workspace"),
        ("added", None, None),
    ]
    assert person.cli.json("memory", "gate-log")["entries"][0]["gate"] == "no_workspace"
    typed = ("memory", "add", "--scope", "project", "--type", "project", "--name", "build", "--description", "vite")
    error = person.cli.json("--workspace", "/", *typed, code=1)["error"]
    assert (error["code"], "needs a workspace" in error["message"]) == ("VALIDATION_FAILED", True)
    rows = {each["id"]: each for each in person.cli.run("--workspace", "/", "doctor", "--json").json["rows"]}
    assert "project memories cannot be kept here" in rows["workspace"]["evidence"]
    assert person.turn(build)["items"][0]["outcome"] == "added"
    assert person.names("--scope", "project") == ["build"]


def waiting(person: Person) -> dict[str, str]:
    """A rule that consolidation proposed, as the candidate list shows it."""
    one, two = person.cli.add("one", "wants short answers"), person.cli.add("two", "wants short mails")
    sources = f'"sources": ["{one}", "{two}"]'
    rule = f'[{{"action": "ELEVATE", "name": "short", "description": "answer briefly", "body": "Why", {sources}}}]'
    person.server.then(Say(rule))
    person.cli.json("consolidate", "--scope", "user", "--force", "--wait")
    found: dict[str, str] = person.cli.json("candidates", "list")["candidates"][0]
    return found


def test_9_a_confirmed_candidate_is_not_in_the_list_because_of_a_name_conflict_and_stays_pending(
    person: Person,
) -> None:
    rule = waiting(person)
    confirm = ("candidates", "confirm", rule["id"], "--digest", rule["digest"])
    person.cli.add("short", "made by hand")
    before = person.names()
    error = person.cli.json(*confirm, code=3)["error"]
    assert (error["code"], "exists already with other content" in error["message"]) == ("NAME_CONFLICT", True)
    person.cli.json("settings", "set", "ui.language", "zh")
    assert "已存在同名记忆且内容不符" in person.cli.json(*confirm, code=3)["error"]["message"]
    assert person.cli.json("candidates", "list")["total"] == 1
    row = person.doctor("candidates")
    assert (row["state"], rule["id"] in row["evidence"], "--name" in row["fix"]) == ("warn", True, True)
    assert person.names() == before
    person.cli.json(*confirm, "--name", "be-short")
    assert person.names() == sorted([*before, "be-short"])


def test_9_a_confirmed_candidate_is_not_in_the_list_because_of_the_sensitive_gate_and_stays_pending(
    person: Person,
) -> None:
    rule = waiting(person)
    before = person.names()
    confirm = ("candidates", "confirm", rule["id"], "--digest", rule["digest"])
    done = person.cli.run(*confirm, "--description", f"the token is {SECRET}", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "SENSITIVE_CONTENT")
    assert SECRET not in done.out + done.err + person.log
    assert (person.cli.json("candidates", "list")["total"], person.names()) == (1, before)
    person.cli.json(*confirm)
    assert person.names() == sorted([*before, "short"])
