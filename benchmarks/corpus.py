"""Public question sets as homes full of memories; read from SPARK_BENCH_DATA, never shipped (their licences forbid it)."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from engine.memory.document import fields_of
from engine.memory.model import AuthorRole, Entry, MemoryType, Scope, Source
from engine.storage import frontmatter

DATA = Path(os.environ.get("SPARK_BENCH_DATA", "../shared/data"))
_TIME = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)")
MODEL = Entry(
    id="", scope=Scope.AGENT, scope_ref=None, type=MemoryType.REFERENCE, name="", description="", source=Source.IMPORT,
    confidence=1.0, author_role=AuthorRole.IMPORT, created_at=0, updated_at=0, valid_from=0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the agent whose layer holds the answer, and the names of the memories that do."""

    text: str
    agent: str
    relevant: frozenset[str]


def available() -> bool:
    """Whether the data is on this machine."""
    return (DATA / "locomo10.json").exists() and (DATA / "cmrc2018_dev.json").exists()


def write(home: Path, agent: str, number: int, name: str, text: str, at: int) -> None:
    """One memory file of an agent's layer, as the store would have written it."""
    words = " ".join(text.split())
    entry = replace(
        MODEL, id=f"agt_{number:08x}", scope_ref=agent, name=name, description=words[:200], created_at=at, updated_at=at,
        valid_from=at,
    )  # fmt: skip
    fields = {key: value for key, value in fields_of(entry).items() if value is not None}
    folder = home / "memory" / "agent" / agent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / entry.file).write_bytes(frontmatter.write(fields, text if len(words) > 200 else ""))


def locomo(home: Path) -> tuple[list[Question], int]:
    """LoCoMo: each dialogue turn a memory, one layer a conversation; 1,540 questions. Answers the last turn's time too."""
    questions: list[Question] = []
    last, number = 0, 0
    for index, sample in enumerate(json.loads((DATA / "locomo10.json").read_text("utf-8"))):
        agent = f"locomo-{index}"
        for name, text, at in _turns(sample["conversation"]):
            number += 1
            last = max(last, at)
            write(home, agent, number, name, text, at)
        questions += _questions(sample["qa"], agent)
    return questions, last


def cmrc(home: Path) -> list[Question]:
    """CMRC 2018: 848 Chinese paragraphs, 3,219 questions, each answered by one paragraph."""
    questions = []
    for number, paragraph in enumerate(json.loads((DATA / "cmrc2018_dev.json").read_text("utf-8")), 0x100000):
        name = paragraph["context_id"].lower().replace("_", "-")
        write(home, "cmrc", number, name, paragraph["context_text"], 1_760_000_000_000)
        relevant = frozenset({name})
        questions += [Question(qa["query_text"], "cmrc", relevant) for qa in paragraph["qas"]]
    return questions


def _turns(conversation: dict[str, object]) -> Iterator[tuple[str, str, int]]:
    for session in range(1, 100):
        turns, when = conversation.get(f"session_{session}"), conversation.get(f"session_{session}_date_time")
        if not isinstance(turns, list) or not isinstance(when, str):
            continue
        for turn in turns:
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            name = turn["dia_id"].lower().replace(":", "-")
            yield name, f"{turn['speaker']}: {turn['text']}{caption}", _time(when)


def _questions(items: Iterable[dict[str, object]], agent: str) -> Iterator[Question]:
    for item in items:
        evidence = item.get("evidence")
        if item.get("category") == 5 or not isinstance(evidence, list):
            continue
        found = re.findall(r"D\d+:\d+", " ".join(map(str, evidence)))
        if found:
            relevant = frozenset(each.lower().replace(":", "-") for each in found)
            yield Question(str(item["question"]), agent, relevant)


def _time(text: str) -> int:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return 0
    hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
    day = datetime.strptime(f"{match[4]} {match[5]} {match[6]}", "%d %B %Y").replace(tzinfo=UTC)
    return round(day.replace(hour=hour, minute=int(match[2])).timestamp() * 1000)
