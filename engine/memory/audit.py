"""Checks a person's own store without a model and says what to look at; it changes nothing (02 §9)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import apsw

from engine.clock import DAY_MS, Clock, local_day
from engine.memory import rows
from engine.memory.audit_words import template_text
from engine.memory.gates.transient import transient_words
from engine.memory.layers import Layers
from engine.memory.model import Entry, Layer, State
from engine.memory.rows import VECTORS, Row
from engine.memory.sensitive.scan import find_sensitive
from engine.storage import fulltext
from engine.storage.database import Database
from engine.vector import Vector

# Cosine from which two entries of a layer are shown side by side. The embedded model puts 7 of 10 paraphrases above it,
# none of 2,850 pairs of different memories, but opposites too: so it only ever shows.
NEAR: Final = 0.95
NEIGHBOURS: Final = 5
STALE_DAYS: Final = 365
UNUSED_DAYS: Final = 60


class FindingKind(StrEnum):
    """What a person should look at."""

    SECRET = "secret"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near-duplicate"
    CONTRADICTION = "contradiction"
    TRANSIENT = "transient"
    TEMPLATE = "template"
    STALE = "stale"
    NEVER_USED = "never-used"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: the entries it is about, why, and a command that settles it; no text of a memory."""

    kind: FindingKind
    ids: tuple[str, ...]
    names: tuple[str, ...]
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Audit:
    """Findings in the order of their kinds, how many entries were looked at, and what could not be checked."""

    findings: tuple[Finding, ...]
    checked: int
    unchecked: tuple[str, ...]


class Auditor:
    """Looks at everything the person sees here."""

    def __init__(self, database: Database, layers: Layers, clock: Clock) -> None:
        self._database = database
        self._layers = layers
        self._clock = clock

    def run(self) -> Audit:
        """Every check once; a few milliseconds for a thousand entries, near-duplicates about one more for each."""
        now, layers = self._clock.now_ms(), self._layers.person()
        with self._database.read() as connection:
            everything = _rows(connection, layers)
            active = [row for row in everything if row.entry.state(now) is State.ACTIVE]
            bodies = {row.rid: rows.body_of(connection, row.rid) for row in everything}
            findings = [
                *self._secrets(everything, bodies, layers),
                *_duplicates(active, bodies),
                *_near_duplicates(connection, active, now),
                *_contradictions(everything, active, now),
                *_wordings(active, bodies),
                *self._neglected(active, now),
            ]
            unchecked = _unchecked(connection, active)
        return Audit(tuple(findings), len(everything), unchecked)

    def _secrets(self, everything: Sequence[Row], bodies: dict[int, str], layers: Sequence[Layer]) -> Iterator[Finding]:
        """What an older gate let in, and what lies in a quarantined file: that one is read as it is on disk."""
        folders = {layer.key: layer.folder for layer in layers}
        for row in everything:
            entry = row.entry
            texts: tuple[str, ...] = (entry.name, entry.description, bodies[row.rid], *entry.entities)
            if entry.file_state is State.QUARANTINED:
                texts = (_file_text(folders[row.layer] / entry.file),)
            found = find_sensitive(*texts)
            if found is not None:
                why = f"it holds something secret or private ({found.kind})"
                yield _finding(FindingKind.SECRET, [entry], why, f"spark-tui memory delete {entry.id}")

    def _neglected(self, active: Sequence[Row], now: int) -> Iterator[Finding]:
        """Entries nobody has changed or met for long. Hit counts start anew with the database, so they must exist."""
        counted = any(row.entry.hit_count for row in active)
        for entry in (row.entry for row in active):
            quiet = (now - max(entry.updated_at, entry.last_hit_at or 0)) // DAY_MS
            fix = f"spark-tui memory archive {entry.id}"
            if quiet >= STALE_DAYS:
                day = local_day(entry.updated_at, self._clock.zone())
                yield _finding(FindingKind.STALE, [entry], f"unchanged since {day} and not met for {quiet} days", fix)
            elif counted and not entry.hit_count and now - entry.created_at >= UNUSED_DAYS * DAY_MS:
                days = (now - entry.created_at) // DAY_MS
                yield _finding(FindingKind.NEVER_USED, [entry], f"neither injected nor recalled in {days} days", fix)


def _duplicates(active: Sequence[Row], bodies: dict[int, str]) -> Iterator[Finding]:
    for group in _grouped(active, _said):
        newest, *others = sorted((row.entry for row in group), key=lambda entry: (-entry.updated_at, entry.id))
        if len({fulltext.normalised(bodies[row.rid]) for row in group}) > 1:
            why, fix = "one description, different texts", f"spark-tui memory show {newest.id}"
        else:
            why, fix = "they say the same words", f"spark-tui memory archive {' '.join(entry.id for entry in others)}"
        yield _finding(FindingKind.DUPLICATE, [newest, *others], why, fix)


def _near_duplicates(connection: apsw.Connection, active: Sequence[Row], now: int) -> Iterator[Finding]:
    by_rid = {row.rid: row for row in active}
    told: set[tuple[int, int]] = set()
    sql = "SELECT rid, vector FROM memory_embedding WHERE generation = ?"
    found: Iterable[tuple[Any, ...]] = connection.execute(sql, (VECTORS.generation(connection),))
    vectors: dict[int, Vector] = dict(found)
    for row in active:
        if row.rid not in vectors:
            continue
        for other, similarity in VECTORS.search(connection, vectors[row.rid], [row.layer], now, None, NEIGHBOURS):
            pair = (min(row.rid, other), max(row.rid, other))
            if similarity < NEAR or other == row.rid or other not in by_rid or pair in told:
                continue
            told.add(pair)
            if _said(row) != _said(by_rid[other]):
                entries = sorted((row.entry, by_rid[other].entry), key=lambda entry: -entry.updated_at)
                why = f"they are close in meaning ({similarity:.2f}); compare them, opposites are close too"
                yield _finding(FindingKind.NEAR_DUPLICATE, entries, why, f"spark-tui memory show {entries[1].id}")


def _contradictions(everything: Sequence[Row], active: Sequence[Row], now: int) -> Iterator[Finding]:
    for group in _grouped(active, lambda row: row.entry.name):
        entries = [row.entry for row in group]
        if len({_said(row) for row in group}) > 1:
            places = ", ".join(dict.fromkeys(row.layer for row in group))
            why = f"one name says different things in several layers ({places})"
            yield _finding(FindingKind.CONTRADICTION, entries, why, f"spark-tui memory show {entries[0].id}")
    by_name = {(row.layer, row.entry.name): row.entry for row in active}
    for row in everything:
        old, current = row.entry, by_name.get((row.layer, row.entry.name))
        if current and old.state(now) is State.INVALID and old.superseded_by is None:
            why = "the name was declared invalid and is in use again; check that the new text is meant"
            yield _finding(
                FindingKind.CONTRADICTION, [current, old], why, f"spark-tui memory show {current.id} --history"
            )


def _wordings(active: Sequence[Row], bodies: dict[int, str]) -> Iterator[Finding]:
    for row in active:
        entry = row.entry
        words = transient_words(entry.name, entry.description)
        if words:
            why = f"it speaks of a moment ({', '.join(words)}) but applies without end"
            fix = f"spark-tui memory edit {entry.id} --valid-until YYYY-MM-DD"
            if entry.valid_until is None:
                yield _finding(FindingKind.TRANSIENT, [entry], why, fix)
        if template_text(entry.description, bodies[row.rid]):
            fix = f"spark-tui memory edit {entry.id} --description TEXT"
            yield _finding(FindingKind.TEMPLATE, [entry], "it still holds the words of a template", fix)


def _unchecked(connection: apsw.Connection, active: Sequence[Row]) -> tuple[str, ...]:
    generation = VECTORS.generation(connection)
    known = {
        rid for (rid,) in connection.execute("SELECT rid FROM memory_embedding WHERE generation = ?", (generation,))
    }
    missing = sum(row.rid not in known for row in active)
    return (f"near-duplicates: {missing} of {len(active)} entries have no vector yet",) if missing else ()


def _rows(connection: apsw.Connection, layers: Sequence[Layer]) -> list[Row]:
    keys = [layer.key for layer in layers]
    sql = f"SELECT {rows.COLUMNS} FROM memory_entry WHERE layer IN ({', '.join('?' * len(keys))}) ORDER BY layer, id"
    return [rows.row_of(values) for values in connection.execute(sql, keys)]


def _grouped(active: Iterable[Row], key: Callable[[Row], object]) -> Iterator[list[Row]]:
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in active:
        groups[key(row)].append(row)
    return (group for group in groups.values() if len(group) > 1)


def _said(row: Row) -> str:
    return fulltext.normalised(row.entry.description)


def _file_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _finding(kind: FindingKind, entries: Sequence[Entry], why: str, fix: str) -> Finding:
    return Finding(kind, tuple(entry.id for entry in entries), tuple(entry.name for entry in entries), why, fix)
