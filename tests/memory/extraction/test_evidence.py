"""Whether an excerpt was really said, and by whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.extraction.evidence import EVIDENCE_MAX, Evidence, SaidBy, checked_evidence
from engine.memory.extraction.turn import Turn
from engine.memory.model import EvidenceStatus

TURN = Turn(
    "以后依赖都用pnpm安装，别用“npm”。\nPlease don’t commit for me – I **always** read\nthe `git diff` first.",
    "好的，我会用 pnpm。The staging server is db-2.",
    "Earlier: the production server is db-9.",
)


@pytest.mark.parametrize(
    "excerpt",
    [
        "以后依赖都用pnpm安装",
        '以后依赖都用 pnpm 安装，别用"npm"',
        "以后依赖都用ｐｎｐｍ安装",
        "please DON'T commit for me - I always read the git diff first",
        "“I always read the 'git diff' first…”",
        "...read the git diff",
    ],
)
def test_what_the_person_said_is_verified_however_it_was_copied(excerpt: str) -> None:
    found = checked_evidence(excerpt, TURN)
    assert (found.status, found.said_by) == (EvidenceStatus.VERIFIED, SaidBy.USER)
    assert found.excerpt == excerpt


def test_what_only_the_assistant_said_is_verified_as_that() -> None:
    assert checked_evidence("The staging server is db-2", TURN).said_by is SaidBy.ASSISTANT


@pytest.mark.parametrize(
    "excerpt",
    [
        "the production server is db-9",
        "I never read the git diff",
        "依赖都用 yarn 安装",
        "I read",
        "用",
        "a",
        "…",
        "'\"'",
        "🙂",
    ],
)
def test_what_was_not_said_in_the_turn_is_not_verified(excerpt: str) -> None:
    assert checked_evidence(excerpt, TURN) == Evidence(EvidenceStatus.UNVERIFIED, excerpt)


@pytest.mark.parametrize("excerpt", [None, "", " \n"])
def test_no_excerpt_is_no_evidence(excerpt: str | None) -> None:
    assert checked_evidence(excerpt, TURN) == Evidence(EvidenceStatus.UNVERIFIED)


def test_a_long_excerpt_is_judged_by_what_is_kept_of_it() -> None:
    said = "word " * 100
    found = checked_evidence(f"{said}\nand an invention", Turn(said, "ok"))
    assert found.status is EvidenceStatus.VERIFIED
    assert found.excerpt is not None
    assert len(found.excerpt) <= EVIDENCE_MAX
    assert "invention" not in found.excerpt


@given(st.text(max_size=80), st.text(max_size=20), st.text(max_size=20))
def test_an_excerpt_of_the_person_is_found_wherever_it_stands(said: str, before: str, after: str) -> None:
    found = checked_evidence(said, Turn(f"{before} {said} {after}", "ok"))
    assert found.status is EvidenceStatus.VERIFIED or len("".join(said.split())) < 12
    assert found.excerpt is None or "\n" not in found.excerpt


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_breaks_the_search(excerpt: str, said: str) -> None:
    found = checked_evidence(excerpt, Turn(said, said))
    assert found.said_by in (None, SaidBy.USER)
