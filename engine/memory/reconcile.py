"""Makes the index agree with the files: adopts hand edits, quarantines what does not parse, notices what vanished."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import apsw

from engine.clock import Clock
from engine.errors import IoFailed, StoreBusy, StoreReadOnly
from engine.memory import rows, text_index
from engine.memory.differences import Difference, difference, is_away, is_real, says_the_same
from engine.memory.directory import Directory
from engine.memory.model import Layer, State
from engine.memory.rows import FileRow
from engine.storage.database import Database
from engine.storage.files import discard, signature

if TYPE_CHECKING:
    from engine.memory.adoption import Adoption
    from engine.memory.commit import Committer
    from engine.memory.file_reader import FoundFile
    from engine.storage.recovery import Finished
    from engine.storage.transaction import FileTransactions

# Reading goes on with what the index knows rather than wait for a writer.
REFRESH_WAIT_S = 0.25
_log = logging.getLogger(__name__)


class Reconciler:
    """Compares folders with rows and adopts what differs; cheap when nothing does (one look at each file).

    What adopts is asked for by a call, so that a command which finds nothing to adopt never loads it.
    """

    def __init__(
        self,
        database: Database,
        transactions: "FileTransactions",
        committer: "Callable[[], Committer]",
        adoption: "Callable[[], Adoption]",
        directory: Directory,
        clock: Clock,
    ) -> None:
        self._database = database
        self._transactions = transactions
        self._committer = committer
        self._adoption = adoption
        self._directory = directory
        self._clock = clock

    def refresh(self, layers: Iterable[Layer]) -> list[str]:
        """Adopt every difference of these layers; answers the ids touched.

        A busy store or a full disk only delays it: what the index knows can be read all the same.
        """
        touched: list[str] = []
        free = self._guarded("leftovers", self._settle)
        for layer in layers:  # one wait is enough: who held the lock a moment ago still does
            free = free and self._guarded(layer.key, partial(self._look_at, layer, touched))
        return touched

    def purge(self) -> None:
        """Wipe what deleted memories left in index and log, words and all; where that fails now it is done later."""
        self._guarded("deleted words", self._purge)

    def adopt_entry(self, layer: Layer, entry_id: str) -> None:
        """Bring one entry up to date before it is written to: the caller holds the lock."""
        with self._database.read() as connection:
            known = rows.file_rows(connection, layer.key, entry_id).get(f"{entry_id}.md")
        if known is None or is_away(layer):
            return
        if says_the_same(layer, known):
            return
        found = signature(layer.folder / f"{entry_id}.md")
        if found is None and known.file_state is not State.MISSING:
            self._miss(layer, [known])
        elif found is not None:
            self._adoption().adopt(layer, [f"{entry_id}.md"], quiet=False)

    def adopt_name(self, layer: Layer, name: str) -> None:
        """Bring the entry that holds a name up to date, so that a name freed or taken by hand counts."""
        with self._database.read() as connection:
            taken = rows.holder(connection, layer.key, name)
        if taken is not None:
            self.adopt_entry(layer, taken.entry.id)

    def finish(self, connection: apsw.Connection, finished: "Sequence[Finished]", layers: Iterable[Layer]) -> None:
        """Commit the rows of files a dead process had already published, credited to that process's author."""
        from engine.memory.commit import Pending, altered, apply_change
        from engine.memory.file_reader import parsed

        by_key = {layer.key: layer for layer in layers}
        changes: list[tuple[Finished, Pending, FoundFile]] = []
        for each in finished:
            layer = by_key.get(each.intent.layer)
            if layer is None:
                continue  # a project this process does not stand in: its next visitor adopts the file
            file = parsed(layer, each.path, each.data, each.signature, self._clock.zone())
            if file.entry is None:
                continue
            before = rows.find(connection, (layer.key,), file.entry.id)
            fields = (
                altered(before.entry, rows.body_of(connection, before.rid), file.entry, file.body) if before else ()
            )
            pending = Pending(layer, before, file.entry, file.body, each.intent.action, fields=fields)
            changes.append((each, pending, file))
        for each, pending, file in sorted(changes, key=lambda change: rows.is_live(change[1].after)):
            apply_change(connection, each.intent.operation, pending, file.hash, file.found, each.intent.at)

    @property
    def _writable(self) -> bool:
        return self._database.opening.read_only is None

    def _guarded(self, what: str, action: Callable[[], object]) -> bool:
        """Do it, or log why not; False when another process holds the lock."""
        try:
            action()
        except (StoreBusy, StoreReadOnly, IoFailed) as error:
            _log.warning("%s not refreshed: %s", what, error.code)
            return not isinstance(error, StoreBusy)
        return True

    def _settle(self) -> None:
        """Finish what a dead process left, try again to remove blocked files, wipe what could not be wiped before."""
        if self._writable and self._transactions.pending():
            with self._transactions.exclusive(REFRESH_WAIT_S):
                pass
        if self._writable:
            self._purge()
        if self._database.writable and text_index.is_outdated(self._database):
            text_index.bring_up_to_date(self._database)

    def _purge(self) -> None:
        with self._database.read() as connection:
            if not rows.purge_due(connection):
                return
        with self._transactions.exclusive(REFRESH_WAIT_S):
            with self._database.write() as connection:
                rows.purge(connection)
            if self._database.checkpoint():
                with self._database.write() as connection:
                    rows.purged(connection)

    def _look_at(self, layer: Layer, touched: list[str]) -> None:
        found = difference(self._database, layer, self._clock)
        touched += self._adopt(found) if found else []
        if self._writable and self._directory.is_stale(layer):
            with self._transactions.exclusive(REFRESH_WAIT_S):  # or a writer's newer list would be overwritten
                self._directory.refresh(layer)

    def _adopt(self, found: Difference) -> list[str]:
        if not self._database.writable:
            return []
        if not self._writable:
            return self._adoption().adopt(found.layer, found.changed, quiet=True)
        if not is_real(self._database, found, self._clock.zone()):
            return []
        with self._transactions.exclusive(REFRESH_WAIT_S), self._directory.coalesced():
            fresh = difference(self._database, found.layer, self._clock)  # what a writer was just doing is no hand edit
            open_intents = self._transactions.pending()
            for name in set(fresh.staged) - {intent.staged for intent in open_intents}:
                discard(fresh.layer.folder / name)  # under the lock nobody is writing: a dead process left it
            held = {intent.file for intent in open_intents if intent.layer == fresh.layer.key}
            with self._database.read() as connection:
                known = rows.file_rows(connection, fresh.layer.key)
            gone = [known[name] for name in fresh.vanished if name not in held]
            self._miss(fresh.layer, gone)
            changed = [name for name in fresh.changed if name not in held]
            touched = self._adoption().adopt(fresh.layer, changed, quiet=fresh.is_new)
            touched += [row.id for row in gone]
            if touched:
                self._committer().announce([fresh.layer], touched)
        if touched and fresh.is_new and self._database.opening.created:
            _log.warning("the index was empty beside %d files of %s and was rebuilt", len(touched), fresh.layer.key)
        return touched

    def _miss(self, layer: Layer, gone: Sequence[FileRow]) -> None:
        if not gone:
            return
        with self._database.write() as connection:
            for each in gone:
                row = rows.find(connection, (layer.key,), each.id)
                if row is None:
                    continue
                if not row.entry.version:  # a file that never was a memory leaves nothing to restore
                    rows.remove(connection, row)
                    continue
                entry = replace(row.entry, file_state=State.MISSING, file_reason="the file is gone from disk")
                rows.put(connection, layer, entry, rows.body_of(connection, row.rid), each.file_hash, each.signature)
                _log.warning("file of %s is missing in %s", each.id, layer.key)
