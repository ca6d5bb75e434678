"""Everything around the memory list, read in one go on a thread: counts, facets, the last change, how search works."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.memory.model import Change, Scope
from engine.memory.workspaces import Workspace
from spark_tui.presenters.facet_lines import Counts, FacetLine, facet_lines
from spark_tui.presenters.first_steps import Readiness
from spark_tui.presenters.paths import short_path
from spark_tui.presenters.top_words import SearchState
from spark_tui.screens.memory_filter import Shown
from spark_tui.screens.memory_source import StoreSource

if TYPE_CHECKING:
    from engine.runtime import Engine


@dataclass(frozen=True, slots=True)
class Glance:
    """What to read: under which filter, and around which row of the list (``listed`` False: a search fills the list)."""

    shown: Shown
    index: int = 0
    key: str | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Overview:
    """One look at the store; ``source`` has the rows around the cursor at hand already."""

    total: int
    facets: list[FacetLine]
    last_change: Change | None
    search: SearchState
    workspace: str | None
    project: str
    readiness: Readiness
    source: StoreSource | None
    pending: int = 0


def read_overview(engine: "Engine", glance: Glance) -> Overview:
    """The overview of a home; takes some tens of milliseconds with ten thousand memories. Raises ``SparkError``."""
    zone = engine.clock.zone()
    as_of = glance.shown.as_of_ms(zone)
    facets = engine.listing.facets(as_of)
    counts = Counts(facets.layers, facets.types, facets.states, facets.entities)
    search = search_state(engine)
    project = engine.layers.project()
    now = engine.clock.now_ms() if as_of is None else as_of
    return Overview(
        total=sum(counts.states.values()),
        facets=_facets(engine, counts, glance.shown),
        last_change=next(iter(engine.history.changes(limit=1)), None),
        search=search,
        workspace=workspace_name(engine),
        project=project.label if project else "",
        readiness=Readiness(search.enabled, search.model, workspace_name(engine), short_path(engine.home.root)),
        source=_source(engine, glance, now) if glance.listed else None,
        pending=engine.candidates.count(),
    )


def search_state(engine: "Engine") -> SearchState:
    """How search works right now."""
    state = engine.embeddings.state()
    return SearchState(engine.memory_settings().enabled, state.model, state.done, state.total, state.reason)


def workspace_name(engine: "Engine") -> str | None:
    """The name of the folder a person stands in; None when it is no workspace."""
    workspace = engine.layers.workspace
    return workspace.root.name if isinstance(workspace, Workspace) else None


def _facets(engine: "Engine", counts: Counts, shown: Shown) -> list[FacetLine]:
    settings, workspace = engine.memory_settings(), engine.layers.workspace
    here = workspace.root if isinstance(workspace, Workspace) else None
    quotas = {scope: settings.quota_of(scope.value) for scope in Scope}
    others = [(str(root), root.name) for _id, root, _seen in engine.layers.known_workspaces() if root != here]
    return facet_lines(counts, engine.layers.person(), others, quotas, shown.keys)


def _source(engine: "Engine", glance: Glance, now_ms: int) -> StoreSource:
    source = StoreSource(engine.listing, glance.shown.filter(engine.clock.zone()), now_ms)
    source.look_around(glance.index, glance.key)
    return source
