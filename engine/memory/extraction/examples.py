"""The few examples an extraction prompt shows, as data, so that an item copied from them is known for what it is.

Their facts are far-fetched on purpose: what a real person may say must not be one of them.
"""

from typing import Final, NamedTuple

from engine.memory.extraction.answer import DraftItem
from engine.memory.model import MemoryType, Scope


class Example(NamedTuple):
    """What was said in a turn, and the items that come of it."""

    user: str
    assistant: str
    items: tuple[DraftItem, ...]


EXAMPLES: Final = (
    Example(
        user="For good: in the Pontoon repo times are UTC integers, ISO strings broke the ferry import twice.",
        assistant="Done, I changed the two columns. You could also partition the table.",
        items=(
            DraftItem(
                scope=Scope.PROJECT,
                type=MemoryType.PROJECT,
                name="pontoon-times-utc-integers",
                description="In Pontoon all times are stored as UTC integers, never as ISO strings",
                body="**Why:** ISO strings broke the ferry import twice.\n"
                "**How to apply:** use UTC integers in new columns and interfaces.",
                confidence=0.95,
                entities=("Pontoon",),
                evidence="times are UTC integers, ISO strings broke the ferry import twice",
            ),
        ),
    ),
    Example(
        user="我是海图组的测绘员，不写代码。以后解释接口都用航海打比方。今天先看潮汐接口。",
        assistant="好的。潮汐接口就像港口的水尺……",
        items=(
            DraftItem(
                scope=Scope.USER,
                type=MemoryType.USER,
                name="海图组测绘员",
                description="用户是海图组的测绘员，不写代码",
                confidence=0.95,
                entities=("海图组",),
                evidence="我是海图组的测绘员，不写代码",
            ),
            DraftItem(
                scope=Scope.USER,
                type=MemoryType.FEEDBACK,
                name="用航海打比方解释接口",
                description="向用户解释接口时用航海打比方",
                body="**Why:** 用户是测绘员，不写代码。\n**How to apply:** 每次解释接口都先给一个航海的比方。",
                confidence=0.9,
                evidence="以后解释接口都用航海打比方",
            ),
        ),
    ),
    Example(
        user="Run them again on port 8081 for now, three still fail.",
        assistant="Two fail now. I suggest moving to a task queue some day.",
        items=(),
    ),
)
PROMPT_EXAMPLES: Final = tuple(item for example in EXAMPLES for item in example.items)
"""Every item of the examples."""
