"""Deleted text must be gone from the file: what SQLite's ``secure_delete`` misses, and how it is reached.

``secure_delete`` overwrites the cell that is deleted. A cell that was moved before, when a full page was split or two
were joined, has left copies in the unused part of pages, and those stay (SQLite 3.46: 3 of 60 random histories).
"""

from typing import Final

import apsw

# A row longer than a page keeps at most a page of it beside its neighbours; the rest has pages of its own, which are
# never copied and are overwritten when they are freed. So this much of nothing goes before text that will be deleted.
_ROOM: Final = " " * 4096


def apart(json_text: str) -> str:
    """The same JSON, stored so that no copy of it is left once its row is emptied; nothing before it may be private."""
    return _ROOM + json_text


def rewrite(connection: apsw.Connection, table: str) -> None:
    """Fill a table anew, so that no page holds anything but its present rows; within the caller's transaction.

    Freed pages are overwritten whole. Row numbers, indexes and the next AUTOINCREMENT stay as they are.
    """
    connection.execute(f'CREATE TEMP TABLE rewritten AS SELECT * FROM main."{table}"')
    connection.execute(f'DELETE FROM main."{table}"')  # without WHERE: whole pages are freed, and so overwritten
    connection.execute(f'INSERT INTO main."{table}" SELECT * FROM temp.rewritten')
    connection.execute("DROP TABLE temp.rewritten")
