"""Lets the expired holder of a name make room, and says what a next version may be made from; reads only.

A version is never made from bytes its row does not know: what a hand wrote in between would be lost without a trace.
"""

from dataclasses import replace

import apsw

from engine.errors import AlreadyExists
from engine.memory import rows
from engine.memory.commit import Pending
from engine.memory.differences import is_away
from engine.memory.document import next_version
from engine.memory.model import Entry, Layer, State
from engine.memory.rows import Row
from engine.storage import files
from engine.storage.transaction import FileMoved


def give_way(connection: apsw.Connection, layer: Layer, old: Row, new: Entry, now: int) -> Pending:
    """The expired holder of a name makes room: invalid from now, superseded by the new fact (02 §4).

    Raises ``AlreadyExists`` for a holder that has not expired, ``FileMoved`` when its file is not what the row knows.
    """
    if old.entry.state(now) is not State.EXPIRED:
        raise _name_taken(old.entry)
    entry = replace(
        old.entry, invalid_at=now, superseded_by=new.id, version=next_version(old.entry), updated_at=now,
        author_role=new.author_role,
    )  # fmt: skip
    body = rows.body_of(connection, old.rid)
    return Pending(layer, old, entry, body, "supersede", base=base_of(connection, layer, old))


def base_of(connection: apsw.Connection, layer: Layer, row: Row) -> bytes | None:
    """The file an entry's next version is made from; None where it is gone and known to be.

    Raises ``FileMoved`` when it is not the one the row was read from: what a hand wrote would be lost.
    """
    data = files.content(layer.folder / row.entry.file)
    known = rows.file_rows(connection, layer.key, row.entry.id)[row.entry.file]
    gone = known.file_state is State.MISSING or is_away(layer)
    if gone if data is None else files.content_hash(data) == known.file_hash:
        return data
    raise FileMoved(f"{row.entry.file} was changed by another program meanwhile", "try again")


def _name_taken(entry: Entry) -> AlreadyExists:
    """The error for a name that an entry of the same layer holds."""
    return AlreadyExists(
        f"an active memory named {entry.name} exists in this scope ({entry.id})",
        f"edit {entry.id}, or choose another name",
        id=entry.id,
    )
