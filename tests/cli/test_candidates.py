"""candidates and consolidate on the command line: what a person sees, decides, and is told when it does not come through."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_tui.demo.model_server import ModelServer
from spark_tui.demo.steps import Fail, Say
from tests.cli.conftest import NO_VECTORS, Cli
from tests.providers.scripted import MODEL, provider_config

KEYS = {
    "id", "action", "origin", "scope", "scope_ref", "type", "name", "description", "body", "confidence", "digest", "state",
    "sources", "target_id", "created_at", "expires_at", "result_id", "reason",
}  # fmt: skip


@pytest.fixture
def server(cli: Cli) -> Iterator[ModelServer]:
    """A model server that is the provider of this home."""
    with ModelServer() as running:
        settings = f'{NO_VECTORS}extractionProviderId = "mine"\nextractionModel = "{MODEL}"\n'
        (cli.home / "config.toml").write_text(settings + provider_config(running), encoding="utf-8")
        yield running


def rule(*sources: str, name: str = "answer-briefly", description: str = "answer briefly", body: str = "Why") -> Say:
    """The answer of a model that sees a rule behind these."""
    wanted = {"action": "ELEVATE", "name": name, "description": description, "body": body, "sources": list(sources)}
    return Say(json.dumps([wanted], ensure_ascii=False))


def elevated(cli: Cli, server: ModelServer, **words: str) -> dict[str, object]:
    """The candidate of a rule behind two memories."""
    one, two = cli.add("one", "wants short answers"), cli.add("two", "wants short mails")
    server.then(rule(one, two, **words))
    cli.json("consolidate", "--scope", "user", "--force", "--wait")
    [candidate] = cli.json("candidates", "list")["candidates"]
    assert set(candidate) >= KEYS
    found: dict[str, object] = candidate
    return found


def confirm(cli: Cli, candidate: dict[str, object], *more: str, code: int = 0) -> dict[str, object]:
    told: dict[str, object] = cli.json(
        "candidates", "confirm", str(candidate["id"]), "--digest", str(candidate["digest"]), *more, code=code
    )
    return told


def total(cli: Cli) -> int:
    return int(cli.json("memory", "list")["total"])


def test_a_rule_waits_and_becomes_a_memory_when_it_is_confirmed(cli: Cli, server: ModelServer) -> None:
    candidate = elevated(cli, server)
    assert (candidate["action"], candidate["origin"], candidate["state"]) == ("elevate", "consolidation", "pending")
    assert [each["name"] for each in candidate["sources"]] == ["one", "two"]  # type: ignore[attr-defined]
    assert total(cli) == 2
    told = confirm(cli, candidate)
    assert (told["ok"], told["entry"]["type"], told["entry"]["source"]) == (True, "feedback", "consolidation")  # type: ignore[index]
    assert told["candidate"]["state"] == "confirmed"  # type: ignore[index]
    entry_id = told["entry"]["id"]  # type: ignore[index]
    assert "## Elevated from" in cli.shown(entry_id)["body"]
    assert cli.json("candidates", "list") == {"candidates": [], "total": 0}
    assert cli.json("candidates", "list", "--state", "all")["total"] == 1
    assert cli.json("candidates", "show", str(candidate["id"]))["candidate"]["result_id"] == entry_id


def test_a_digest_is_needed_and_must_be_the_one_shown(cli: Cli, server: ModelServer) -> None:
    candidate = elevated(cli, server)
    assert cli.json("candidates", "confirm", str(candidate["id"]), code=2)["error"]["code"] == "USAGE"
    told = confirm(cli, candidate | {"digest": "0" * 64}, code=3)
    assert told["error"]["code"] == "DIGEST_MISMATCH"  # type: ignore[index]
    assert total(cli) == 2
    assert cli.json("candidates", "list")["total"] == 1


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "exists already with other content"), ("zh", "已存在同名记忆且内容不符")]
)
def test_a_name_conflict_is_told_in_the_persons_language_and_renaming_settles_it(
    cli: Cli, server: ModelServer, language: str, sentence: str
) -> None:
    candidate = elevated(cli, server)
    cli.add("answer-briefly", "made by hand")
    cli.run("settings", "set", "ui.language", language)
    told = confirm(cli, candidate, code=3)
    assert told["error"]["code"] == "NAME_CONFLICT"  # type: ignore[index]
    assert sentence in told["error"]["message"]  # type: ignore[index]
    done = cli.run("candidates", "confirm", str(candidate["id"]), "--digest", str(candidate["digest"]))
    assert (done.code, sentence in done.err) == (3, True)
    assert cli.json("candidates", "list")["total"] == 1
    assert confirm(cli, candidate, "--name", "answer-briefly-2")["entry"]["name"] == "answer-briefly-2"  # type: ignore[index]


def test_the_text_can_be_edited_before_it_is_confirmed(cli: Cli, server: ModelServer, tmp_path: Path) -> None:
    candidate = elevated(cli, server)
    (tmp_path / "body.md").write_text("edited", encoding="utf-8")
    edits = ("--description", "answer in one line", "--body-file", str(tmp_path / "body.md"))
    entry = confirm(cli, candidate, *edits)["entry"]
    assert entry["description"] == "answer in one line"  # type: ignore[index]
    assert cli.shown(entry["id"])["body"].startswith("edited\n\n## Elevated from")  # type: ignore[index]


def test_a_secret_is_refused_though_a_person_confirms_it(cli: Cli, server: ModelServer) -> None:
    candidate = elevated(cli, server)
    told = confirm(cli, candidate, "--description", "token ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8", code=1)
    assert told["error"]["code"] == "SENSITIVE_CONTENT"  # type: ignore[index]
    assert cli.json("candidates", "list")["total"] == 1


def test_rejecting_tells_each_id_and_the_rule_is_never_asked_again(cli: Cli, server: ModelServer) -> None:
    candidate = elevated(cli, server)
    told = cli.json("candidates", "reject", str(candidate["id"]), "cnd_ffffffff", code=1)
    assert [each["outcome"] for each in told["results"]] == ["done", "NOT_FOUND"]
    sources = [each["id"] for each in candidate["sources"]]  # type: ignore[attr-defined]
    server.then(rule(*sources))
    [job] = cli.json("consolidate", "--scope", "user", "--force", "--wait")["jobs"]
    assert [each["reason"] for each in job["items"]] == ["asked_before"]
    assert cli.json("candidates", "list")["total"] == 0
    assert [each["state"] for each in cli.json("candidates", "list", "--state", "rejected")["candidates"]] == [
        "rejected"
    ]


@pytest.mark.parametrize("verb", ["confirm", "reject"])
def test_an_agent_may_not_decide(cli: Cli, server: ModelServer, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    candidate = elevated(cli, server)
    monkeypatch.setenv("CLAUDECODE", "1")
    digest = ("--digest", str(candidate["digest"])) if verb == "confirm" else ()
    told = cli.json("candidates", verb, str(candidate["id"]), *digest, code=1)
    assert told["error"]["code"] == "PERSON_REQUIRED"
    assert cli.json("candidates", "list")["total"] == 1


def test_what_changed_since_is_seen_before_the_decision(cli: Cli, server: ModelServer) -> None:
    candidate = elevated(cli, server)
    source = candidate["sources"][0]["id"]  # type: ignore[index]
    cli.json("memory", "edit", source, "--description", "wants long answers after all")
    shown = cli.json("candidates", "show", str(candidate["id"]))["candidate"]
    assert [each["changed"] for each in shown["sources"]] == [True, False]
    assert "changed since" in cli.run("candidates", "show", str(candidate["id"])).out


def test_people_see_what_waits_and_what_they_decide_about(cli: Cli, server: ModelServer) -> None:
    candidate = elevated(cli, server)
    listed, shown = cli.run("candidates", "list"), cli.run("candidates", "show", str(candidate["id"]))
    assert (listed.code, shown.code) == (0, 0)
    for text in (str(candidate["id"]), "answer-briefly", "answer briefly"):
        assert text in listed.out
        assert text in shown.out
    assert str(candidate["digest"]) in shown.out
    done = cli.run("candidates", "confirm", str(candidate["id"]), "--digest", str(candidate["digest"]))
    assert (done.code, "confirmed" in done.out) == (0, True)


def test_layers_that_are_not_due_are_left_alone_unless_forced(cli: Cli, server: ModelServer) -> None:
    cli.add("one"), cli.add("two")
    assert cli.json("consolidate") == {"ok": True, "jobs": []}
    cli.run("settings", "set", "memory.consolidationThreshold", "2")
    [job] = cli.json("consolidate")["jobs"]
    assert (job["kind"], job["scope"], job["scope_ref"], job["state"]) == ("consolidation", "user", None, "queued")
    assert cli.json("consolidate")["jobs"] == []
    assert server.requests == []
    [forced] = cli.json("consolidate", "--scope", "user", "--force", "--wait")["jobs"]
    assert (forced["id"], forced["state"]) == (job["id"], "done")
    assert len(server.requests) == 1


def test_duplicates_are_merged_and_it_can_be_undone(cli: Cli, server: ModelServer) -> None:
    keep, other = cli.add("keep", "uses pnpm"), cli.add("other", "pnpm is used", "--body", "in full")
    server.then(Say(json.dumps([{"action": "MERGE", "keep": keep, "ids": [other]}])))
    [job] = cli.json("consolidate", "--scope", "user", "--force", "--wait")["jobs"]
    [item] = job["items"]
    assert (item["outcome"], item["keep"], item["ids"]) == ("merged", keep, [other])
    gone = cli.shown(other)["entry"]
    assert (gone["state"], gone["superseded_by"]) == ("invalid", keep)
    assert "in full" in cli.shown(keep)["body"]
    cli.json("memory", "undo", item["group"])
    assert cli.shown(other)["entry"]["state"] == "active"


def test_a_model_that_fails_is_a_failure_of_the_command_that_waits(cli: Cli, server: ModelServer) -> None:
    cli.add("one"), cli.add("two")
    server.then(Fail(401, message="no"))
    told = cli.json("consolidate", "--scope", "user", "--force", "--wait", code=1)
    assert told["ok"] is False
    assert told["jobs"][0]["state"] in ("failed", "no_model")
    assert total(cli) == 2
