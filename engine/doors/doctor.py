"""Examines a home and says what works, what does not and what mends it; answers even when the store cannot be opened."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

from engine.doors.checks import deciding, learning, search, store
from engine.doors.checks.environment import environment_rows
from engine.doors.checks.row import Row, RowState, fail
from engine.doors.parts import Parts
from engine.errors import SparkError
from engine.paths import Home

Check = Callable[[Parts], Iterator[Row]]
Open = Callable[[], AbstractContextManager[Parts]]
# What is looked at before hand edits are adopted, and after.
BEFORE: Final[Sequence[tuple[str, Check]]] = (
    ("database", store.database_row),
    ("workspace", store.workspace_row),
    ("index", store.difference_row),
    ("unfinished", store.unfinished_rows),
)
AFTER: Final[Sequence[tuple[str, Check]]] = (
    ("enabled", store.switch_row),
    ("layers", store.layer_rows),
    ("broken", store.broken_rows),
    ("deletions", store.deletion_row),
    ("clock", store.clock_row),
    ("full-text", search.full_text_row),
    ("sqlite-vec", search.vector_row),
    ("embedding", search.embedding_row),
    ("tokens", search.token_row),
    ("injection", search.injection_row),
    ("extraction-model", learning.model_row),
    ("jobs", learning.queue_row),
    ("last-extraction", learning.last_turn_row),
    ("gates", learning.gate_row),
    ("candidates", deciding.candidate_row),
    ("consolidation", deciding.consolidation_row),
)
_log = logging.getLogger(__name__)


def examine(home: Home, open_store: Open, environ: Mapping[str, str] = os.environ) -> list[Row]:
    """Every row; ``open_store`` opens the engine without adopting anything yet. Nothing is raised."""
    found = list(_guarded("environment", partial(environment_rows, home, environ)))
    try:
        with open_store() as parts:
            found += _of(parts, BEFORE)
            parts.reconciler.refresh(parts.layers.person())
            found += _of(parts, AFTER)
    except SparkError as error:
        found.append(fail("store", "Store", error.message, error.hint))
    except Exception as error:  # a diagnosis that crashes tells nothing
        _log.error("doctor could not open the store: %s", type(error).__name__)
        found.append(fail("store", "Store", f"it could not be opened ({type(error).__name__})", f"see {home.log}"))
    return found


def is_broken(found: Sequence[Row]) -> bool:
    """Whether something does not work at all."""
    return any(row.state is RowState.FAIL for row in found)


def _of(parts: Parts, checks: Sequence[tuple[str, Check]]) -> list[Row]:
    return [row for name, check in checks for row in _guarded(name, partial(check, parts))]


def _guarded(name: str, rows: Callable[[], Iterator[Row]]) -> list[Row]:
    """The rows of a check, or one row that says the check itself failed: the others must still be told."""
    try:
        return list(rows())
    except SparkError as error:
        return [fail(name, name.capitalize(), error.message, error.hint)]
    except Exception as error:  # see examine
        _log.error("check %s failed: %s", name, type(error).__name__)
        return [fail(name, name.capitalize(), f"the check itself failed ({type(error).__name__})")]
