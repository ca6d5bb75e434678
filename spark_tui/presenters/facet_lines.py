"""Counts of the store as a tree of facets: scopes with their quotas, types, states, entities."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.memory.model import Layer, MemoryType, Scope, State
from spark_tui.presenters.words import TYPE_ORDER, state_mark, state_style, state_word, type_word
from spark_tui.text.i18n import _
from spark_tui.text.safe import one_line


@dataclass(frozen=True, slots=True)
class FacetLine:
    """One facet; ``key`` is ``kind:value`` (``scope:user``, ``agent:codex``, ``workspace:<root>``, ``type:feedback``).

    ``branch:project`` only opens and closes; ``style`` is a style name.
    """

    key: str
    label: str
    count: str = ""
    depth: int = 0
    heading: bool = False
    selected: bool = False
    folded: bool = False
    style: str = "text"


@dataclass(frozen=True, slots=True)
class Counts:
    """What there is: active entries per layer key, per type, entries per state, the commonest entities."""

    layers: Mapping[str, int]
    types: Mapping[MemoryType, int]
    states: Mapping[State, int]
    entities: Sequence[tuple[str, int]]


def facet_lines(
    counts: Counts,
    layers: Sequence[Layer],
    workspaces: Sequence[tuple[str, str]],
    quotas: Mapping[Scope, int],
    chosen: frozenset[str],
) -> list[FacetLine]:
    """The whole bar; ``workspaces`` are (root, label) of the other known projects, ``chosen`` the keys switched on."""
    parts = (
        _section("scopes", _("Scopes"), _scopes(counts, layers, workspaces, quotas), chosen),
        _section("types", _("Types"), _types(counts), chosen),
        _section("states", _("States"), _states(counts), chosen),
        _section("entities", _("Entities"), _entities(counts), chosen),
    )
    lines = [line for part in parts for line in part]
    return lines[1:] if lines else []


def _section(key: str, title: str, lines: Iterable[FacetLine], chosen: frozenset[str]) -> list[FacetLine]:
    """A blank line, the title and the lines, the chosen ones selected; nothing when there are none."""
    found = [_selected(line, line.key in chosen) for line in lines]
    if not found:
        return []
    return [FacetLine(f"gap:{key}", "", heading=True), FacetLine(f"heading:{key}", f" {title}", heading=True), *found]


def _selected(line: FacetLine, selected: bool) -> FacetLine:
    return FacetLine(line.key, line.label, line.count, line.depth, line.heading, selected, line.folded, line.style)


def _scopes(
    counts: Counts, layers: Sequence[Layer], workspaces: Sequence[tuple[str, str]], quotas: Mapping[Scope, int]
) -> Iterable[FacetLine]:
    of = {scope: [layer for layer in layers if layer.scope is scope] for scope in Scope}

    def against_quota(layer: Layer) -> str:
        return f"{counts.layers.get(layer.key, 0)}/{quotas[layer.scope]}"

    for layer in of[Scope.USER]:
        yield FacetLine("scope:user", _("user"), against_quota(layer))
    if of[Scope.PROJECT] or workspaces:
        yield FacetLine("branch:project", _("projects"))
    for layer in of[Scope.PROJECT]:
        yield FacetLine("scope:project", one_line(layer.label), against_quota(layer), depth=1)
    for root, label in workspaces:
        yield FacetLine(f"workspace:{root}", one_line(label), depth=1, style="dim")
    if of[Scope.AGENT]:
        yield FacetLine("scope:agent", _("agents"))
    for layer in of[Scope.AGENT]:
        yield FacetLine(f"agent:{layer.ref}", one_line(layer.label), against_quota(layer), depth=1)


def _types(counts: Counts) -> Iterable[FacetLine]:
    for type in TYPE_ORDER:
        if count := counts.types.get(type, 0):
            yield FacetLine(f"type:{type}", type_word(type), str(count))


def _states(counts: Counts) -> Iterable[FacetLine]:
    for state in State:
        if count := counts.states.get(state, 0):
            style = "text" if state is State.ACTIVE else state_style(state)
            yield FacetLine(f"state:{state}", f"{state_mark(state)} {state_word(state)}", str(count), style=style)


def _entities(counts: Counts) -> Iterable[FacetLine]:
    for name, count in counts.entities:
        yield FacetLine(f"entity:{name}", one_line(name), str(count))
