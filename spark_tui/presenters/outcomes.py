"""What became of a verb on one or many memories, as one line for the bottom and a page for those that failed."""

from collections.abc import Mapping, Sequence

from engine.memory.model import ItemResult
from spark_tui.text.i18n import N_, _, ngettext
from spark_tui.text.lines import Block, Line, blank
from spark_tui.text.safe import one_line

_DONE = {
    "archive": (N_("archived {name}"), N_("archived {n} memories")),
    "unarchive": (N_("brought back {name}"), N_("brought back {n} memories")),
    "delete": (N_("deleted {name}"), N_("deleted {n} memories")),
    "validity": (N_("validity of {name} set"), N_("validity of {n} memories set")),
    "edit": (N_("saved {name}"), N_("saved {n} memories")),
}


def outcome_line(verb: str, results: Sequence[ItemResult], names: Mapping[str, str]) -> str:
    """One sentence: what was done, and how many did not go."""
    done = [each for each in results if each.ok]
    failed = len(results) - len(done)
    one, many = _DONE[verb]
    if len(done) == 1:
        said = _(one).format(name=one_line(names.get(done[0].id, done[0].id)))
    else:
        said = _(many).format(n=len(done)) if done else ""
    if failed:
        refused = ngettext("{n} was refused", "{n} were refused", failed).format(n=failed)
        said = f"{said}, {refused}" if said else refused
    return said


def outcome_page(results: Sequence[ItemResult], names: Mapping[str, str]) -> list[Block]:
    """Every item with what became of it, the failed ones first."""
    lines: list[Block] = []
    for result in sorted(results, key=lambda each: each.ok):
        name = one_line(names.get(result.id, result.id))
        style, word = ("good", _("done")) if result.ok else ("error", one_line(result.outcome))
        if result.outcome == "blocked_locally":
            word = _("deleted, but the file could not be removed")
        lines.append(Line((("text", name), ("dim", f"  {result.id}  "), (style, word))))
        if not result.ok and result.message:
            lines += [Line((("dim", one_line(result.message)),), first=(("text", "  "),)), blank()]
    return lines
