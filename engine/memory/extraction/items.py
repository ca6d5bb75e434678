"""Draft items as a job keeps them between two tries."""

from dataclasses import asdict
from typing import Any

from engine.jobs import Json
from engine.memory.extraction.answer import DraftItem
from engine.memory.model import MemoryType, Scope


def item_json(item: DraftItem) -> Json:
    """An item as plain JSON; a confidence that is no number JSON knows is kept as out of range."""
    plain: dict[str, Any] = asdict(item)
    if item.confidence is not None and not abs(item.confidence) < 1e6:
        plain["confidence"] = -1.0
    return plain


def item_from(kept: Json) -> DraftItem:
    """An item as a job kept it."""
    values: dict[str, Any] = dict(kept)
    return DraftItem(**values | {
        "scope": Scope(values["scope"]),
        "type": MemoryType(values["type"]),
        "entities": tuple(values["entities"]),
        "links": tuple(values["links"]),
    })  # fmt: skip
