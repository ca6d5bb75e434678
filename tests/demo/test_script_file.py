"""Scripts written as JSON, and the command that serves them by hand."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest

from spark_tui.demo.script_file import ScriptError, options_of
from spark_tui.demo.steps import Cut, Fail, Hang, Malformed, RefuseSchema, Say, Shape, Step, When
from tests.demo.asking import ANTHROPIC, OPENAI, client
from tests.support import REPOSITORY, child_environment

NEEDED = {"Fail": {"status": 429}, "Redirect": {"to": "/v1/elsewhere"}}


def _small(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]


@pytest.mark.parametrize("kind", get_args(Step), ids=lambda kind: kind.__name__)
def test_every_step_can_be_written_with_all_its_fields(kind: Callable[..., Step]) -> None:
    step = kind(**NEEDED.get(kind.__name__, {}))
    written = json.dumps([{"step": _small(kind.__name__), **asdict(step)}])

    assert options_of(written)["steps"] == [step]


def test_a_script_has_steps_rules_a_default_and_options() -> None:
    text = """{
      "steps": ["plain text", {"step": "say", "text": [{"name": "a"}], "shape": "fenced"},
                {"step": "fail", "status": 429, "retry_after": 2}, {"step": "cut", "after_chars": 3, "answer": "abc"},
                {"step": "hang"}, {"step": "malformed", "answer": {"text": "x", "piece": 3}}],
      "rules": [{"when": "typo", "answer": "fixed", "times": 1}, {"when": ["a", "b"], "answer": "both"}],
      "default": {"step": "refuse_schema"}, "api_key": "k", "models": ["m"], "refuses": ["temperature"]
    }"""
    assert options_of(text) == {
        "steps": [
            Say("plain text"),
            Say('[{"name": "a"}]', Shape.FENCED),
            Fail(429, retry_after=2),
            Cut(3, Say("abc")),
            Hang(),
            Malformed(answer=Say("x", piece=3)),
        ],
        "rules": [When(("typo",), Say("fixed"), 1), When(("a", "b"), Say("both"))],
        "default": RefuseSchema(),
        "api_key": "k",
        "models": ["m"],
        "refuses": ["temperature"],
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("5", "the script is no object"),
        ('{"step": []}', "unknown: step"),
        ('{"steps": {}}', "steps is no list"),
        ('{"models": "m"}', "models is no list"),
        ('[{"step": "shout"}]', r"steps\[0\]: step is one of say, delay"),
        ('["fine", {"step": "say", "volume": 3}]', r"steps\[1\]: Say has no volume"),
        ('[{"step": "say", "shape": "round"}]', r"steps\[0\].shape cannot be \"round\""),
        ('[{"step": "say", "piece": true}]', r"steps\[0\].piece cannot be true"),
        ('[{"step": "fail"}]', r"steps\[0\]: status is missing"),
        ('[{"step": "cut", "answer": {"step": "hang"}}]', r"steps\[0\].answer: only what is said"),
        ('{"rules": [{"when": []}]}', r"rules\[0\]: when is a text"),
        ('{"default": 5}', "default is no object"),
    ],
)
def test_a_script_that_cannot_be_read_says_where(text: str, told: str) -> None:
    with pytest.raises(ScriptError, match=told):
        options_of(text)


def _started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "spark_tui.demo.model_server", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=REPOSITORY, env=child_environment(), **pipes)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_where_it_serves_and_ends_when_told(tmp_path: Path, end: signal.Signals) -> None:
    script = tmp_path / "script.json"
    script.write_text('["one", {"step": "say", "text": "two"}, {"step": "hang"}]', "utf-8")
    with _started("--script", str(script)) as process, client() as http:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        one = http.post(f"{url}/chat/completions", json=OPENAI.request("hello", ""))
        headers = {"anthropic-version": "2023-06-01"}
        two = http.post(f"{url}/messages", json=ANTHROPIC.request("hello", ""), headers=headers)
        process.send_signal(end)
        assert process.wait(10) == 0

    assert (OPENAI.said(one.json())[0], ANTHROPIC.said(two.json())[0]) == ("one", "two")


def test_the_command_refuses_a_bad_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"step": "shout"}]', "utf-8")
    with _started("--script", str(script)) as process:
        out, err = process.communicate(timeout=10)

    assert (process.returncode, out) == (2, "")
    assert "steps[0]: step is one of" in err


def test_the_server_uses_nothing_of_engine_or_screen() -> None:
    code = "import sys, spark_tui.demo.model_server; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())

    assert not {"textual", "rich", "httpx"} & loaded
    assert not [name for name in loaded if name.startswith("engine.")]
