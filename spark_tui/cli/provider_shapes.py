"""Providers and what is known of them as JSON; a key is a place and a yes or no, never its value."""

from typing import Any

from engine.clock import iso
from engine.config import Settings
from engine.paths import Home
from engine.providers.findings import Probe, kept_probes
from engine.providers.keys import KeyPlace, KeyProblem, KeySource, is_variable
from engine.settings_providers import CLI_KINDS, Provider


def provider_json(each: Provider, settings: Settings, home: Home) -> dict[str, Any]:
    """One provider; ``probe`` is what its last test found, null before the first."""
    probe = kept_probes(home).get(each.name)
    return {
        "name": each.name,
        "kind": each.kind,
        "base_url": each.address,
        "models": list(each.models),
        "enabled": each.enabled,
        "default": settings.get("model.defaultProviderId") == each.name,
        "key": _key_json(each, home),
        "probe": probe_json(probe) if probe else None,
    }


def probe_json(probe: Probe) -> dict[str, Any]:
    """What a test found; its time is ISO-8601 with zone."""
    found = [{"name": c.name, "finding": c.finding.value, "evidence": c.evidence} for c in probe.capabilities]
    return {"model": probe.model, "at": iso(probe.at), "latency_ms": probe.latency_ms, "capabilities": found}


def _key_json(each: Provider, home: Home) -> dict[str, Any]:
    """Where the key is. What stands in ``api_key_env`` is shown only when it cannot be a key pasted by mistake."""
    if each.kind in CLI_KINDS:
        return {"from": "login", "present": None}
    source = KeySource(each.name, each.api_key_env, home.root, address=each.base_url)
    variable = {"variable": each.api_key_env} if is_variable(each.api_key_env) else {}
    try:
        place, key = source.found()
    except KeyProblem as problem:
        place = KeyPlace(problem.details.get("place", KeyPlace.ENVIRONMENT))
        return {"from": place.value, **variable, "present": False, "problem": problem.message}
    return {"from": place.value, **variable, "present": key is not None}
