"""One change of one or several memories: files and rows, revision, feed and MEMORY.md together; the only writer."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import apsw

from engine.bus import Bus
from engine.clock import Clock
from engine.errors import NameConflict, VersionConflict
from engine.events import MemoryChanged
from engine.memory import history_rows, rows
from engine.memory.directory import Directory
from engine.memory.document import fields_of
from engine.memory.model import AuthorRole, Change, Entry, Layer
from engine.memory.rows import Row
from engine.memory.settling import settle
from engine.storage import files, frontmatter
from engine.storage.faults import Step, reach
from engine.storage.files import Signature
from engine.storage.transaction import FileTransactions, FileWrite

_log = logging.getLogger(__name__)
# The action, and the edge, of an entry whose text another one has taken in.
MERGE = "merge"
SILENT_FIELDS = frozenset({"version", "updated_at", "author_role", "hit_count", "last_hit_at"})


@dataclass(frozen=True, slots=True)
class Pending:
    """One entry as it shall become; ``base`` is its file as it is now, so that foreign keys and comments stay.

    ``anew`` writes the file from nothing, where what is there cannot be read as a memory. ``by`` is who made the
    change, where the text is still somebody else's.
    """

    layer: Layer
    before: Row | None
    after: Entry
    body: str
    action: str
    base: bytes | None = None
    fields: tuple[str, ...] = field(default=())
    anew: bool = False
    by: AuthorRole | None = None

    @property
    def author(self) -> AuthorRole:
        """Who is named in the feed, and credited should this process die in the middle."""
        return self.by or self.after.author_role


class Committer:
    """Turns pending changes into files and rows by one file transaction per operation group."""

    def __init__(self, transactions: FileTransactions, directory: Directory, clock: Clock, bus: Bus) -> None:
        self._transactions = transactions
        self._directory = directory
        self._clock = clock
        self._bus = bus

    def commit(self, operation: str, pending: Sequence[Pending]) -> list[Entry]:
        """Write all of them or none; answers the entries as stored.

        Raises ``VersionConflict`` when one has moved on, ``NameConflict`` when a name is taken meanwhile.
        """
        writes = [self._file_write(each) for each in pending]

        # Entries that give a name up come first: the index of active names must hold after every single row.
        def apply(connection: apsw.Connection, signatures: Sequence[Signature]) -> None:
            triples = zip(pending, writes, signatures, strict=True)
            for each, write, found in sorted(triples, key=lambda triple: rows.is_live(triple[0].after)):
                apply_change(connection, operation, each, files.content_hash(write.data), found, self._clock.now_ms())

        try:
            self._transactions.write(operation, writes, apply)
        except apsw.ConstraintError as error:
            raise NameConflict("the name was taken by another entry meanwhile", "choose another name") from error
        self.announce([each.layer for each in pending], [each.after.id for each in pending])
        reach(Step.SETTLED)
        _log.info("%s: %s", pending[0].action, ", ".join(each.after.id for each in pending))
        return [each.after for each in pending]

    def announce(self, layers: Sequence[Layer], ids: Sequence[str]) -> None:
        """Refresh MEMORY.md of the layers, each once, and tell the screens."""
        for layer in {each.key: each for each in layers}.values():
            self._directory.refresh(layer)
        self._bus.announce(MemoryChanged(tuple(ids)))

    def _file_write(self, each: Pending) -> FileWrite:
        data = rendered(each)
        return FileWrite(
            layer=each.layer.key,
            file=each.after.file,
            folder=each.layer.folder,
            data=data,
            base=each.base,
            action=each.action,
            author=each.author.value,
        )


def apply_change(
    connection: apsw.Connection, operation: str, each: Pending, file_hash: str, found: Signature, now: int
) -> None:
    """Rows, revision, edge and feed of one change whose file has this hash, and what was noted to be settled with it.

    Raises ``VersionConflict``.
    """
    if each.before is not None:
        check_version(connection, each.layer, each.after.id, each.before.entry.version)
        if each.before.entry.version and each.before.entry.version != each.after.version:
            history_rows.add_revision(connection, each.before, now, operation)
    rows.put(connection, each.layer, each.after, each.body, file_hash, found)
    superseded = each.after.superseded_by
    if superseded and (each.before is None or each.before.entry.superseded_by != superseded):
        kind = MERGE if each.action == MERGE else "supersede"
        history_rows.add_derivation(connection, each.layer.key, each.after.id, superseded, kind, now)
    history_rows.add_change(connection, each.layer.key, change_of(operation, each, now))
    settle(connection, operation, each.layer.key, each.after.id, now)


def change_of(operation: str, each: Pending, now: int) -> Change:
    """The line of the feed for one pending change."""
    before = each.before.entry if each.before and each.before.entry.version else None
    return Change(
        group=operation,
        at=now,
        action=each.action,
        id=each.after.id,
        name=each.after.name,
        author=each.author,
        before=before.version if before else None,
        after=each.after.version,
        fields=each.fields or (changed_fields(before, each.after) if before else ()),
    )


def changed_fields(before: Entry, after: Entry) -> tuple[str, ...]:
    """Names of the fields in which two versions differ (the body is not among them)."""
    old, new = fields_of(before), fields_of(after)
    return tuple(key for key in new if key not in SILENT_FIELDS and old[key] != new[key])


def altered(before: Entry, old_body: str, after: Entry, body: str) -> tuple[str, ...]:
    """Names of the fields in which two versions differ, the body included."""
    return changed_fields(before, after) + (("body",) if old_body != body else ())


def check_version(connection: apsw.Connection, layer: Layer, entry_id: str, base: int) -> None:
    """The compare of compare-and-swap. Raises ``VersionConflict`` with the version that is there now."""
    row = rows.find(connection, (layer.key,), entry_id)
    current = row.entry.version if row else None
    if current != base:
        raise version_conflict(entry_id, current, base)


def version_conflict(entry_id: str, current: int | None, base: int) -> VersionConflict:
    """The error a late writer gets: what is there now, what it started from, and that nothing was written."""
    now = f"version {current}" if current is not None else "deleted"
    return VersionConflict(
        f"{entry_id} is now {now}, your change started from version {base}; nothing was written",
        "reload it and apply your change again",
        current_version=current,
        base_version=base,
    )


def rendered(each: Pending) -> bytes:
    """The bytes of an entry's file: its present file with only what changed replaced, or a new one."""
    fields = fields_of(each.after)
    if each.base is None or each.anew:
        return frontmatter.write({key: value for key, value in fields.items() if value is not None}, each.body)
    present = frontmatter.read(each.base)
    changes = {key: value for key, value in fields.items() if present.fields.get(key) != value}
    return frontmatter.patch(each.base, changes, None if present.body == each.body else each.body)
