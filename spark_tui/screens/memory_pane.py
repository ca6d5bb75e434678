"""The page about one memory, read on a thread; one that is gone or does not load in 3 s says so and can be tried again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import NotFound, SparkError
from engine.memory.model import Entry
from spark_tui.presenters.memory_detail import Detail, detail_lines, failure_lines
from spark_tui.presenters.memory_rows import Reasons
from spark_tui.presenters.problems import next_step, sentence
from spark_tui.screens.latest import Latest
from spark_tui.text.lines import Block
from spark_tui.widgets.line_view import LineView
from spark_tui.widgets.motion import Motion

if TYPE_CHECKING:
    from engine.runtime import Engine

LOAD_S = 3.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memory to show, and why a search found it."""

    key: str
    reasons: Reasons | None = None


class MemoryPane(LineView):
    """Shows the memory it was last asked for; enter tries again after a failure."""

    def __init__(self, engine: "Callable[[], Engine]", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._engine = engine
        self._shown: Wanted | None = None
        self.failed = False
        self._latest = Latest[Wanted, Sequence[Block]](self, self._read, self._show, self._fail, LOAD_S)

    @property
    def key(self) -> str | None:
        """The id of the memory that is (or is about to be) shown."""
        return self._shown.key if self._shown else None

    @property
    def is_asking(self) -> bool:
        """Whether the page of another memory is about to come."""
        return self._latest.is_asking

    def show_memory(self, key: str | None, reasons: Reasons | None = None) -> None:
        """Show this one; nothing when None."""
        if key is None:
            self._shown = None
            self._latest.drop()
            self.show([])
            return
        wanted = Wanted(key, reasons)
        if wanted != self._shown or self.failed:
            self._shown = wanted
            self._latest.ask(wanted)

    def reload(self) -> None:
        """Read the same memory again."""
        if self._shown is not None:
            self._latest.ask(Wanted(self._shown.key, self._shown.reasons))

    def move(self, motion: Motion) -> None:
        """Scroll; enter tries again."""
        if motion is Motion.CHOOSE and self.failed:
            self.reload()
        else:
            super().move(motion)

    def _read(self, wanted: Wanted) -> Sequence[Block]:
        engine = self._engine()
        return detail_lines(read_detail(engine, wanted.key), engine.clock.now_ms(), engine.clock.zone(), wanted.reasons)

    def _show(self, wanted: Wanted, blocks: Sequence[Block]) -> None:
        again = self._drawn == wanted.key
        self._drawn, self.failed = wanted.key, False
        self.show(blocks, keep_place=again)

    _drawn: str | None = None

    def _fail(self, wanted: Wanted, error: SparkError) -> None:
        self._drawn, self.failed = None, True
        self.show(failure_lines(sentence(error), next_step(error)))


def read_detail(engine: "Engine", key: str) -> Detail:
    """Everything about one memory. Raises ``NotFound`` when it was deleted meanwhile."""
    entry = engine.listing.entry(key)
    layer = engine.listing.layer(key)
    derivations = engine.history.derivations(key)
    others = (
        {edge.from_id for edge in derivations} | {edge.to_id for edge in derivations} | {entry.superseded_by or key}
    )
    project = engine.layers.project()
    return Detail(
        entry=entry,
        body=engine.listing.body(key),
        project=project.label if project else "",
        path=layer.folder / entry.file,
        revisions=len(engine.history.revisions(key)),
        derivations=derivations,
        names={other.id: other.name for each in others - {key} if (other := _known(engine, each)) is not None},
    )


def _known(engine: "Engine", key: str) -> Entry | None:
    try:
        return engine.listing.entry(key)
    except NotFound:  # an edge may outlive the memory at its other end
        return None
