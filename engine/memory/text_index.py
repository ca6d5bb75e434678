"""Keeps the full-text index in step with the tokeniser: words split by an older one would never be found again."""

import logging
from typing import Final

from engine.memory import rows
from engine.storage.database import Database
from engine.storage.fulltext import TOKENISER_VERSION

_BATCH: Final = 500
_log = logging.getLogger(__name__)


def is_outdated(database: Database) -> bool:
    """Whether the index was written by another version of the tokeniser, or nobody has said by which."""
    with database.read() as connection:
        return rows.tokeniser(connection) != TOKENISER_VERSION


def bring_up_to_date(database: Database) -> None:
    """Split every entry's words anew, of all layers, in one transaction; an empty index only gets its version."""
    with database.write() as connection:
        if rows.tokeniser(connection) == TOKENISER_VERSION:
            return
        rids = [row[0] for row in connection.execute("SELECT rid FROM memory_entry ORDER BY rid")]
        for start in range(0, len(rids), _BATCH):
            for each in rows.by_rids(connection, rids[start : start + _BATCH]).values():
                rows.index(connection, each.rid, each.entry, rows.body_of(connection, each.rid))
        rows.note_tokeniser(connection, TOKENISER_VERSION)
    if rids:
        _log.info("full text of %d entries indexed by tokeniser %d", len(rids), TOKENISER_VERSION)
