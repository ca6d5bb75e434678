"""Loads sqlite-vec into a connection, or says why not; never imports its Python package, which would pull numpy in."""

import functools
import importlib.util
import logging
from pathlib import Path

import apsw

_log = logging.getLogger(__name__)


def load_extension(connection: apsw.Connection) -> str | None:
    """None when vec0 can be used on this connection from now on, else the reason; the first failure is logged."""
    reason = _load(connection)
    if reason is not None:
        _report(reason)
    return reason


def is_loaded(connection: apsw.Connection) -> bool:
    """Whether this connection knows vec0."""
    found = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'").fetchall()
    return bool(found)


def _load(connection: apsw.Connection) -> str | None:
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        return "sqlite-vec is not installed"
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(Path(spec.origin).with_name("vec0")))
    except apsw.Error as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.enable_load_extension(False)
    return None


@functools.cache
def _report(reason: str) -> None:
    """Cached, so that each reason is told once in a process, not once for every connection."""
    _log.warning("sqlite-vec load failed, vector search disabled")
    _log.warning("vectors are ranked without their index; sqlite-vec: %s", reason)
