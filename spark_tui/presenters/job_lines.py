"""Background learning for people: each job in a line, what came of it item by item, and what mends it; texts are never shown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from spark_tui.presenters.candidate_drops import why_dropped
from spark_tui.presenters.candidate_words import reason_word
from spark_tui.presenters.job_problems import why_words
from spark_tui.text.dates import age, moment
from spark_tui.text.fit import fit
from spark_tui.text.glyphs import glyphs
from spark_tui.text.i18n import N_, _
from spark_tui.text.lines import Block, Line, Piece, Rule, blank, pair
from spark_tui.text.safe import one_line
from spark_tui.text.width import cells

Told = Mapping[str, object]
_STATES = {
    "queued": (N_("queued"), "text"),
    "running": (N_("running"), "accent"),
    "done": (N_("done"), "good"),
    "failed": (N_("failed"), "error"),
    "no_model": (N_("no model"), "warning"),
}
_KINDS = {"extraction": N_("turn"), "consolidation": N_("consolidation")}
_OUTCOMES = {
    "added": (N_("added"), "good"),
    "updated": (N_("updated"), "good"),
    "invalidated": (N_("ended"), "warning"),
    "noop": (N_("known already"), "dim"),
    "queued_for_review": (N_("asks you"), "accent"),
    "dropped": (N_("dropped"), "warning"),
    "merged": (N_("merged"), "good"),
    "proposed": (N_("asks you"), "accent"),
    "skipped": (N_("left as it is"), "dim"),
}


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as the screens see it; times in ms, ``items`` what came of it, ``names`` the names of ids in it."""

    id: str
    kind: str
    state: str
    folder: str
    session: str | None
    attempts: int
    reason: str | None
    items: Sequence[Told]
    created_at: int
    due_at: int
    finished_at: int | None
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelState:
    """Who would be asked, ``provider:model``, or why nobody can be, in the engine's words with its hint."""

    name: str
    problem: str | None = None
    hint: str | None = None


def job_state(state: str) -> tuple[str, str]:
    """(word, style) of where a job stands."""
    word, style = _STATES.get(state, ("", "text"))
    return (_(word) if word else one_line(state)), style


def kind_word(kind: str) -> str:
    """What the job is about."""
    return _(_KINDS[kind]) if kind in _KINDS else one_line(kind)


def job_cells(job: JobView, now_ms: int) -> Sequence[tuple[str, str]]:
    """(text, style) for state, kind, what came of it, and age."""
    came = came_of(job)
    return (
        job_state(job.state),
        (kind_word(job.kind), "dim"),
        (came or reason_words(job), "text" if came else "dim"),
        (age(job.created_at, now_ms), "dim"),
    )


def came_of(job: JobView) -> str:
    """Outcomes with their numbers: ``2 added, 1 dropped``; empty when there is none."""
    counts = Counter(_outcome(each)[0] for each in job.items)
    return ", ".join(_("{n} {outcome}").format(n=count, outcome=word) for word, count in counts.items())


def reason_words(job: JobView) -> str:
    """Why it stands where it stands; empty when there is nothing to say."""
    if job.state == "done":
        return _("nothing worth keeping")
    return why_words(job.reason or "")


def job_lines(job: JobView, model: ModelState, now_ms: int, zone: tzinfo) -> list[Block]:
    """The page about one job."""
    word, style = job_state(job.state)
    head = f"{kind_word(job.kind)} {glyphs().separator} {age(job.created_at, now_ms)}"
    lines: list[Block] = [Line((("strong", head),)), Line(((style, word),)), *_why(job, model), blank()]
    width = max((cells(_outcome(item)[0]) for item in job.items), default=0)
    for item in job.items:
        lines += _item(item, job.names, width)
    lines += [blank(), Rule()] if job.items else [Rule()]
    lines += [pair(_("since"), f"{moment(job.created_at, zone)} ({age(job.created_at, now_ms)})")]
    if job.finished_at is not None:
        lines.append(pair(_("finished"), moment(job.finished_at, zone)))
    elif job.state == "queued" and job.due_at > now_ms:
        lines.append(pair(_("next try"), moment(job.due_at, zone)))
    if job.attempts > 1:
        lines.append(pair(_("tries"), str(job.attempts)))
    lines += [pair(label, value) for label, value in ((_("folder"), job.folder), (_("session"), job.session)) if value]
    return [*lines, pair(_("id"), job.id)]


def _why(job: JobView, model: ModelState) -> Iterable[Block]:
    """The reason in full, and what to do where a person has to."""
    if job.state == "done":
        if not job.items:
            yield Line((("dim", why_words(job.reason or "nothing worth keeping")),))
        return
    if job.reason and job.reason != model.problem:
        yield Line((("text", why_words(job.reason)),))
    if job.state == "no_model":
        yield blank()
        yield from model_advice(model)
    if job.state in ("failed", "no_model"):
        yield blank()
        yield Line((("key", "r"), ("dim", " " + _("tries it again; its text is kept until then"))))


def model_lines(model: ModelState) -> list[Block]:
    """In place of a page while no turn was ever handed over: who learns, and how turns arrive."""
    lines = list(model_advice(model))
    return [
        Line((("strong", _("nothing was learned yet")),)),
        Line((("text", _("A finished turn of an agent is read once by a model, in the background.")),)),
        blank(),
        *lines,
    ]


def model_advice(model: ModelState) -> Iterable[Block]:
    """Whether a model can be asked; else the commands and settings that mend it."""
    if model.problem is None:
        yield Line((("text", model.name), ("dim", "  " + _("is asked to learn"))))
        return
    yield Line((("warning", _("No model can be asked: {why}").format(why=why_words(model.problem))),))
    yield Line((("dim", _("Turns wait until there is one. What mends it:")),))
    for command, words in (
        ("spark-tui provider offers", _("what on this machine could answer")),
        ("spark-tui provider add", _("an endpoint with a key")),
        ("memory.extractionProviderId", _("in the settings (7): which provider learns")),
    ):
        yield Line((("text", command), ("dim", "  " + words)), first=(("faint", glyphs().bullet + " "),))


def _item(item: Told, names: Mapping[str, str], width: int) -> Iterable[Block]:
    word, style = _outcome(item)
    ids = _ids(item)
    name = str(item.get("name", "")) or ", ".join(names.get(each, each) for each in ids)
    pieces: list[Piece] = [("strong", one_line(name))]
    if str(item.get("id", "")):
        pieces.append(("dim", f"  {one_line(str(item['id']))}"))
    yield Line(tuple(pieces), first=((style, fit(word, width + 2)),))
    why = _item_reason(item)
    if why:
        yield Line((("dim", why),), first=(("text", " " * (width + 2)),))


def _item_reason(item: Told) -> str:
    gate, reason = str(item.get("gate", "")), str(item.get("reason", ""))
    return why_dropped(gate, reason) if gate else reason_word(reason)


def _ids(item: Told) -> list[str]:
    listed = item.get("ids")
    kept = item.get("keep")
    return [str(each) for each in (*([kept] if kept else []), *(listed if isinstance(listed, list) else []))]


def _outcome(item: Told) -> tuple[str, str]:
    word, style = _OUTCOMES.get(str(item.get("outcome", "")), ("", "text"))
    return (_(word) if word else one_line(str(item.get("outcome", "")))), style
