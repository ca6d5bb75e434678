"""Providers and findings as lines for people; loaded only where lines are printed."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from engine.config import Settings
from engine.providers.findings import Finding, Probe
from spark_tui.presenters.tables import GAP, laid_out
from spark_tui.text.fit import truncate
from spark_tui.text.i18n import N_, _, chosen_language, use_language
from spark_tui.text.lines import Piece, ScreenRow
from spark_tui.text.safe import one_line
from spark_tui.text.width import cells

_STYLES = {Finding.YES: "good", Finding.NO: "warning", Finding.UNKNOWN: "dim"}
_FINDINGS = {Finding.YES: N_("yes"), Finding.NO: N_("no"), Finding.UNKNOWN: N_("unclear")}
_PLACES = {
    "environment": N_("environment variable"),
    "keyring": N_("keyring"),
    "file": N_("file"),
    "login": N_("its own login"),
    "none": N_("none"),
}
_KIND, _ADDRESS, _MODELS = 1, 4, 5
# An address of a few letters says nothing: it is cut to what tells hosts apart, then left out.
_GIVE_WAY = ((_ADDRESS, 24), (_KIND, 8), (_ADDRESS, 0), (_MODELS, 12))


def speak(settings: Settings) -> None:
    """Use the person's language from now on."""
    use_language(chosen_language(str(settings.get("ui.language")), os.environ))


def key_place(place: str) -> str:
    """Where a key is, in words."""
    return _(_PLACES.get(place, place))


def provider_rows(told: Sequence[Mapping[str, Any]], width: int) -> list[ScreenRow]:
    """One provider a line; address and kind give way before its name, its key and its models do."""
    titles = [_("name"), _("kind"), _("tested"), _("key"), _("address"), _("models")]
    body = [
        [
            ("accent", one_line(each["name"])),
            ("dim", one_line(each["kind"])),
            ("text" if each["enabled"] else "warning", _state(each)),
            _key(each["key"]),
            ("dim", one_line(each["base_url"])),
            ("text", one_line(", ".join(each["models"]))),
        ]
        for each in told
    ]
    sizes = _sizes([max(cells(text) for text in column) for column in _columns(titles, body)], width)
    kept = [at for at, size in enumerate(sizes) if size]
    cut = [[(row[at][0], truncate(row[at][1], sizes[at])) for at in kept] for row in body]
    return laid_out([titles[at] for at in kept], cut, width, len(kept) - 1)


def _sizes(sizes: list[int], width: int) -> list[int]:
    """Cells of each column: those of ``_GIVE_WAY`` shrink in turn until a row fits; 0 leaves a column out."""
    left = list(sizes)
    for column, floor in _GIVE_WAY:
        over = sum(left) + GAP * (sum(size > 0 for size in left) - 1) - width
        if over > 0 and left[column] > floor:
            left[column] = max(left[column] - over, floor) if floor else 0
    return left


def _columns(titles: Sequence[str], body: Sequence[Sequence[Piece]]) -> list[list[str]]:
    return [[title, *(row[at][1] for row in body)] for at, title in enumerate(titles)]


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
