"""The words of the top line about search: how well it works right now, as a word and never as a dialog."""

from dataclasses import dataclass

from spark_tui.text.i18n import _


@dataclass(frozen=True, slots=True)
class SearchState:
    """Vectors of the current model, how many of how many entries have one, and why a channel is away."""

    enabled: bool
    model: str | None
    done: int
    total: int
    reason: str | None


def search_word(state: SearchState) -> tuple[str, str]:
    """(words, style): hybrid when both channels answer, else what is missing."""
    if not state.enabled:
        return _("memory off"), "warning"
    if state.model is None or state.reason:
        return _("words only"), "warning"
    if state.done < state.total:
        return _("vectors {done}/{total}").format(done=state.done, total=state.total), "dim"
    return _("hybrid search"), "dim"
