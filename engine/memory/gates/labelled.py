"""Reads the labelled sets by which the gates are judged; those that come with the product, and a person's own."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from engine.errors import ValidationFailed
from engine.memory.gate_log import Gate
from engine.memory.gates.filler import filled

PACKAGED: Final = (Path(__file__).with_name("transient.jsonl"), Path(__file__).with_name("sensitive.jsonl"))
_LABELS: Final = {
    "transient": (Gate.TRANSIENT, True),
    "lasting": (Gate.TRANSIENT, False),
    "sensitive": (Gate.SENSITIVE, True),
    "clean": (Gate.SENSITIVE, False),
}
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


class Part(StrEnum):
    """``HELD`` was written before the rules and is never looked at while they change; ``TUNE`` is what they grew on."""

    HELD = "held"
    TUNE = "tune"


class Language(StrEnum):
    """``MIXED`` is Chinese with three or more Latin words in it."""

    CHINESE = "zh"
    ENGLISH = "en"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled line: what the gate is given, and whether it must drop it; ``line`` counts from 1."""

    file: str
    line: int
    gate: Gate
    name: str
    text: str
    drop: bool
    kind: str
    part: Part

    @property
    def language(self) -> Language:
        """The language of the text."""
        if not _CHINESE.search(self.text):
            return Language.ENGLISH
        return Language.MIXED if len(_LATIN_WORD.findall(self.text)) >= 3 else Language.CHINESE


def load(paths: Sequence[Path] = PACKAGED, part: Part | None = None) -> list[Example]:
    """The examples of some files, of one part or of both; a line without a part counts as held.

    Raises ``ValidationFailed`` that names the file and the line.
    """
    found = [each for path in paths for each in _examples(path)]
    kept = [each for each in found if part is None or each.part is part]
    if not kept:
        names = ", ".join(path.name for path in paths)
        raise ValidationFailed(f"{names}: no labelled examples" + (f" in the part {part.value}" if part else ""))
    return kept


def _examples(path: Path) -> Iterator[Example]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValidationFailed(f"{path.name} cannot be read as text: {type(error).__name__}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _example(path.name, number, line)


def _example(file: str, number: int, line: str) -> Example:
    try:
        read: dict[str, Any] = json.loads(line)
        gate, drop = _LABELS[read["label"]]
        text = str(read["description"]) if gate is Gate.TRANSIENT else filled(str(read["text"]))
        part = Part(read.get("part", Part.HELD))
        return Example(
            file, number, gate, str(read.get("name", "")), text, drop, str(read.get("kind") or read["label"]), part
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValidationFailed(f"line {number} of {file} is no labelled example ({type(error).__name__})") from None
