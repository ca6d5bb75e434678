"""Reads a model's answer about a group of entries; what makes no sense is left out, item by item, never guessed at."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from engine.memory.consolidation.model import Answer, Elevation, Merge
from engine.memory.extraction.reading import clean, values

SOURCES_MIN: Final = 2
Item = Mapping[str, object]


def parse(text: str, known: Collection[str]) -> Answer | None:
    """What an answer asks for among the known ids; None when it is no JSON at all. An empty array asks for nothing."""
    found = values(text)
    if not found:
        return None
    items = [item for each in found for item in _items(each)]
    merges, ignored = _merges([each for each in items if _action(each) == "MERGE"], known)
    wanted = [each for each in items if _action(each) == "ELEVATE"]
    elevations = [made for each in wanted if (made := _elevation(each, known))]
    others = sum(_action(each) not in ("MERGE", "ELEVATE") for each in items)
    return Answer(tuple(merges), tuple(elevations), ignored + others + len(wanted) - len(elevations))


def _items(found: object) -> list[Item]:
    """The objects of an array, or of one that an object wraps; what is none counts as one that asks for nothing."""
    if isinstance(found, Mapping):
        wrapped = [] if "action" in found else [value for value in found.values() if isinstance(value, list)]
        return _items(wrapped[0]) if len(wrapped) == 1 else [found]
    return [each if isinstance(each, Mapping) else {} for each in found] if isinstance(found, list) else [{}]


def _action(item: Item) -> str:
    return str(item.get("action", "")).strip().upper()


def _merges(items: Sequence[Item], known: Collection[str]) -> tuple[list[Merge], int]:
    """Merges that agree with each other: those of one keeper are one, an id that two of them claim is in neither."""
    groups: dict[str, dict[str, None]] = {}
    for item in items:
        keep = str(item.get("keep", ""))
        if keep in known:
            groups.setdefault(keep, {}).update(dict.fromkeys(each for each in _ids(item, "ids", known) if each != keep))
    claimed = Counter(each for keep, ids in groups.items() for each in (keep, *ids))
    merges = [Merge(keep, tuple(each for each in ids if claimed[each] == 1)) for keep, ids in groups.items()]
    kept = [each for each in merges if each.ids and claimed[each.keep] == 1]
    return kept, len(items) - len(kept)


def _elevation(item: Item, known: Collection[str]) -> Elevation | None:
    name, description, body = (_text(item, key) for key in ("name", "description", "body"))
    sources = _ids(item, "sources", known)
    if not name or not description or len(sources) < SOURCES_MIN:
        return None
    return Elevation(name, description, body, sources)


def _ids(item: Item, key: str, known: Collection[str]) -> tuple[str, ...]:
    listed = item.get(key)
    found = (each for each in listed if isinstance(each, str)) if isinstance(listed, list) else ()
    return tuple(dict.fromkeys(each.strip() for each in found if each.strip() in known))


def _text(item: Item, key: str) -> str:
    value = item.get(key)
    return clean(value).strip() if isinstance(value, str) else ""
