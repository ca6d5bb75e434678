"""What was found out about providers, kept with its date; holds no answer of a model and no key."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.paths import Home
from engine.providers.reading import NotJson, count, items, mapping, parsed, text
from engine.storage import files
from engine.storage.lock import exclusive

_LOCK_WAIT_S: Final = 5.0


class Finding(StrEnum):
    """Whether something was seen to work."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing a model may be able to do, and what the finding rests on."""

    name: str
    finding: Finding
    evidence: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found at one time (``at``: milliseconds since 1970); ``latency_ms`` is that of the first answer."""

    provider: str
    model: str
    at: int
    latency_ms: int
    capabilities: tuple[Capability, ...]


def probes_file(home: Home) -> Path:
    """Where findings are kept: with what can be deleted at any time, since asking again brings them back."""
    return home.cache / "probes.json"


def keep_probe(home: Home, probe: Probe) -> None:
    """Keep the findings of a provider in place of older ones. Raises ``StoreBusy``, ``IoFailed``, ``StoreReadOnly``."""
    _change(home, lambda kept: {**kept, probe.provider: asdict(probe)})


def forget_probe(home: Home, provider: str) -> None:
    """Drop the findings of a provider. Raises as ``keep_probe``."""
    if probes_file(home).exists():
        _change(home, lambda kept: {name: each for name, each in kept.items() if name != provider})


def kept_probes(home: Home) -> dict[str, Probe]:
    """The last findings of each provider; a file that cannot be read holds none."""
    return {name: _probe(name, mapping(each)) for name, each in _kept(home).items() if mapping(each)}


def _probe(name: str, each: Mapping[str, object]) -> Probe:
    listed = [mapping(one) for one in items(each.get("capabilities"))]
    usable = [one for one in listed if text(one.get("name")) and one.get("finding") in list(Finding)]
    capabilities = [
        Capability(text(one["name"]), Finding(text(one["finding"])), text(one.get("evidence"))) for one in usable
    ]
    return Probe(
        name, text(each.get("model")), count(each.get("at")), count(each.get("latency_ms")), tuple(capabilities)
    )


def _change(home: Home, change: Callable[[Mapping[str, object]], Mapping[str, object]]) -> None:
    with exclusive(home.run / "probes.lock", _LOCK_WAIT_S):
        content = json.dumps(change(_kept(home)), ensure_ascii=True, indent=1)
        files.write_derived(probes_file(home), content.encode("ascii"))


def _kept(home: Home) -> Mapping[str, object]:
    try:
        return mapping(parsed(files.content(probes_file(home)) or b"{}"))
    except NotJson:
        return {}
