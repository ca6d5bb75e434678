"""A project's memories are invisible to git until a person says otherwise, and the answer travels with the project."""

import subprocess
from pathlib import Path

from tests.cli.conftest import Cli


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout


def untracked(root: Path) -> set[str]:
    return {line[3:] for line in git(root, "status", "--porcelain", "--untracked-files=all").splitlines()}


def remember(cli: Cli) -> str:
    git(cli.project, "init", "-q")
    return cli.add("bundler", "built by Vite", scope="project")


def test_memories_stay_out_of_git_until_someone_decides(cli: Cli) -> None:
    remember(cli)
    assert untracked(cli.project) == {".spark-agent/.gitignore", ".spark-agent/workspace.json"}
    assert cli.json("project", "show")["memories"] == "undecided"
    assert "not decided" in cli.run("project", "show").out


def test_committing_shows_them_to_git_and_ignoring_hides_them_again(cli: Cli) -> None:
    entry = remember(cli)
    told = cli.json("project", "commit")
    assert (told["root"], told["memories"]) == (str(cli.project), "committed")
    assert f".spark-agent/memory/{entry}.md" in untracked(cli.project)
    assert ".spark-agent/memory/MEMORY.md" not in untracked(cli.project)
    cli.json("project", "ignore")
    assert f".spark-agent/memory/{entry}.md" not in untracked(cli.project)
    assert cli.json("project", "show")["memories"] == "ignored"


def test_before_the_first_memory_there_is_nothing_to_decide(cli: Cli) -> None:
    assert cli.json("project", "show")["id"] is None
    assert cli.json("project", "commit", code=1)["error"]["code"] == "VALIDATION_FAILED"
    assert not (cli.project / ".spark-agent").exists()


def test_where_no_project_can_be_the_command_says_why(cli: Cli) -> None:
    done = cli.run("project", "show", "--workspace", "/")
    assert done.code == 2
    assert "no project" in done.err
