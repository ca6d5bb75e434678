"""Brings a database to the newest schema, one step a file, each in its own transaction; never goes back."""

import importlib
import logging
import pkgutil
import re
from typing import Protocol

import apsw

from engine.storage import steps

_log = logging.getLogger(__name__)
_STEP = re.compile(r"m(\d{4})_\w+")


class MigrationStep(Protocol):
    """What a step module offers: ``apply`` runs inside the caller's transaction."""

    def apply(self, connection: apsw.Connection) -> None:
        """Change the schema from the step before to this one."""
        ...


def known_steps() -> list[tuple[int, str]]:
    """(number, module name) of every shipped step, in order."""
    found = [(_STEP.fullmatch(module.name), module.name) for module in pkgutil.iter_modules(steps.__path__)]
    return sorted((int(match[1]), name) for match, name in found if match)


def newest_version() -> int:
    """The schema version this program writes."""
    return known_steps()[-1][0]


def version_of(connection: apsw.Connection) -> int:
    """The schema version of a database; 0 for a fresh one."""
    return int(next(connection.execute("PRAGMA user_version"))[0])


def migrate(connection: apsw.Connection) -> int:
    """Apply what is missing; answers how many steps ran. Safe when two processes start at once."""
    ran = 0
    for number, name in known_steps():
        if version_of(connection) >= number:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) < number:  # another process may have run it while we waited for the lock
                step: MigrationStep = importlib.import_module(f"{steps.__name__}.{name}")
                step.apply(connection)
                connection.execute(f"PRAGMA user_version = {number}")
                ran += 1
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        _log.info("migration %s applied", name)
    return ran
