"""Drafts on disk and the editor's command line."""

from pathlib import Path

import pytest

from spark_tui.drafts import Drafts, FormDraft
from spark_tui.editor import editor_command


def test_a_draft_comes_back_as_it_was(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    draft = FormDraft({"description": "半个想法 ✍", "body": "one\r\ntwo\n  "}, 3)
    assert drafts.keep("new", draft) is None
    assert drafts.find("new") == draft
    assert [path.name for path in drafts.folder.iterdir()] == ["new.json"]
    drafts.drop("new")
    drafts.drop("new")
    assert drafts.find("new") is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"fields": 1, "version": 1}', '{"version": 1}', "\x00"])
def test_a_file_that_is_no_draft_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "new.json").write_text(content, "utf-8")
    assert Drafts(tmp_path).find("new") is None


def test_a_draft_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "drafts").write_text("a file in the way", "utf-8")
    assert Drafts(tmp_path / "drafts").keep("new", FormDraft({}))


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"EDITOR": "'my editor' -n"}, ["my editor", "-n"]),
        ({"VISUAL": " ", "EDITOR": "vi"}, ["vi"]),
        ({"PATH": "/nowhere"}, None),
    ],
)
def test_the_editor_is_visual_then_editor_then_one_that_is_there(
    environ: dict[str, str], command: list[str] | None
) -> None:
    assert editor_command(environ) == command


def test_without_a_choice_an_editor_of_the_machine_is_taken(tmp_path: Path) -> None:
    script = tmp_path / "vi"
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o700)
    assert editor_command({"PATH": str(tmp_path)}) == ["vi"]
