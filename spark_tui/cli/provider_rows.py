"""Providers and findings as lines for people; loaded only where lines are printed."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from engine.config import Settings
from engine.providers.findings import Finding, Probe
from spark_tui.presenters.tables import laid_out
from spark_tui.text.i18n import N_, _, chosen_language, use_language
from spark_tui.text.lines import ScreenRow
from spark_tui.text.safe import one_line

_STYLES = {Finding.YES: "good", Finding.NO: "warning", Finding.UNKNOWN: "dim"}
_FINDINGS = {Finding.YES: N_("yes"), Finding.NO: N_("no"), Finding.UNKNOWN: N_("unclear")}
_PLACES = {
    "environment": N_("environment variable"),
    "keyring": N_("keyring"),
    "file": N_("file"),
    "login": N_("its own login"),
    "none": N_("none"),
}


def speak(settings: Settings) -> None:
    """Use the person's language from now on."""
    use_language(chosen_language(str(settings.get("ui.language")), os.environ))


def key_place(place: str) -> str:
    """Where a key is, in words."""
    return _(_PLACES.get(place, place))


def provider_rows(told: Sequence[Mapping[str, Any]], width: int) -> list[ScreenRow]:
    """One provider a line; the default one is marked."""
    body = [
        [
            ("accent", one_line(each["name"])),
            ("strong", "*" if each["default"] else ""),
            ("dim", one_line(each["kind"])),
            ("text" if each["enabled"] else "warning", _state(each)),
            _key(each["key"]),
            ("dim", one_line(each["base_url"])),
            ("text", one_line(", ".join(each["models"]))),
        ]
        for each in told
    ]
    return laid_out([_("name"), "", _("kind"), _("tested"), _("key"), _("address"), _("models")], body, width, 6)


def probe_rows(probe: Probe, sample: str, width: int) -> list[ScreenRow]:
    """Model, time and sample, then one capability a line."""
    head = _("{provider} {model} answered in {ms} ms").format(
        provider=one_line(probe.provider), model=one_line(probe.model), ms=probe.latency_ms
    )
    body = [
        [("strong", each.name), (_STYLES[each.finding], _(_FINDINGS[each.finding])), ("dim", one_line(each.evidence))]
        for each in probe.capabilities
    ]
    titles = [_("capability"), _("found"), _("evidence")]
    return [(("strong", head),), (("dim", one_line(sample)),), *laid_out(titles, body, width, 2)]


def _state(each: Mapping[str, Any]) -> str:
    if not each["enabled"]:
        return _("disabled")
    return str(each["probe"]["at"])[:10] if each["probe"] else _("never")


def _key(key: Mapping[str, Any]) -> tuple[str, str]:
    place = key.get("variable") or key_place(key["from"])
    if key["present"] is False and key["from"] != "none":
        unset = "variable" in key and not os.environ.get(key["variable"])
        why = _("not set") if unset else _("not usable")
        return "warning", f"{place} ({why})"
    return "dim", place
