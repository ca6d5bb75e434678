"""Reads and rewrites the TOML of a home: comments, order and unknown keys stay; never writes what it cannot read."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from engine.errors import SparkError, ValidationFailed
from engine.storage import files
from engine.storage.lock import exclusive

LOCK_WAIT_S: Final = 5.0
_TRAILING: Final = re.compile(r"(?:^[ \t]*(?:#[^\n]*)?\n)+\Z", re.MULTILINE)


class ConfigBroken(SparkError):
    """The settings file cannot be read or is no TOML; it is left alone, and nothing is written into it."""

    code = "CONFIG_BROKEN"


def read_tree(path: Path) -> dict[str, Any]:
    """The file's tables; a missing file has none. Raises ``ConfigBroken`` that names the line, never its text."""
    return _tree(_text(path), path)


def leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every value with its dotted key, in the order of the file."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def rewrite(path: Path, changes: Mapping[str, object]) -> None:
    """Give dotted keys new values (None takes one, or a whole table, out) under a lock: two processes lose nothing.

    A link is followed, so that a file kept elsewhere stays there. Raises ``ConfigBroken``, ``ValidationFailed`` when a
    table's name is taken by a value, ``StoreBusy``, ``StoreReadOnly`` or ``IoFailed``.
    """
    import tomlkit

    with exclusive(path.with_name("run") / "config.lock", LOCK_WAIT_S):
        text = _text(path)
        before = _tree(text, path)
        document = tomlkit.parse(text)
        for key, value in changes.items():
            if isinstance(_found(document, key), dict) and value is None:
                document = tomlkit.parse(_without_table(document, key))
            else:
                if value is not None and "." in key:
                    document = tomlkit.parse(_with_table(tomlkit.dumps(document), key.rpartition(".")[0]))
                _change(document, key.split("."), value)
        written = tomlkit.dumps(document)
        _check_only_changed(dict(leaves(before)), written, changes, path)
        files.write_through(Path(os.path.realpath(path)), written.encode())


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigBroken(f"{path} is not UTF-8", "mend or remove it", path=str(path)) from error
    except OSError as error:
        raise ConfigBroken(f"{path} cannot be read: {error.strerror}", "check who owns it", path=str(path)) from error


def _tree(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise ConfigBroken(f"{path} is not valid TOML ({where})", "mend or remove it", path=str(path)) from error
    except RecursionError as error:
        raise ConfigBroken(f"{path} is nested too deeply", "mend or remove it", path=str(path)) from error


def _found(tree: Any, key: str) -> object:
    for name in key.split("."):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _with_table(text: str, name: str) -> str:
    """The file with a new table at its end, unless it is there or its form takes none.

    Anywhere else it would come between a table and the comment above it.
    """
    if _found(tomllib.loads(text), name) is not None:
        return text
    before = f"{text.rstrip()}\n\n" if text.strip() else ""
    longer = f"{before}[{name}]\n"
    try:
        tomllib.loads(longer)
    except tomllib.TOMLDecodeError:
        return text
    return longer


def _without_table(document: Any, key: str) -> str:
    """The file without a table, but with the comments that stand between its last value and the next table.

    They belong to what follows, though the parser counts them to the table before.
    """
    import tomlkit

    before = tomlkit.dumps(document)
    _change(document, key.split("."), None)
    after = tomlkit.dumps(document)
    same = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(after))
    at = before.rfind("\n", 0, same) + 1
    removed = before[at : at + len(before) - len(after)]
    kept = _TRAILING.search(removed)
    return after[:at] + (kept[0] if kept else "") + after[at:]


def _change(document: Any, names: list[str], value: object) -> None:
    import tomlkit

    table = document
    for name in names[:-1]:
        if name not in table:
            if value is None:
                return
            table[name] = tomlkit.table()
        table = table[name]
        if not isinstance(table, dict):
            raise ValidationFailed(f"{name} in the settings file is a value, not a table", "rename or remove it")
    if value is None:
        table.pop(names[-1], None)
    else:
        table[names[-1]] = value


def _check_only_changed(before: dict[str, object], written: str, changes: Mapping[str, object], path: Path) -> None:
    """A file in a form the editor does not handle is left alone rather than damaged."""
    gone = tuple(f"{key}." for key, value in changes.items() if value is None)
    kept = {key: value for key, value in before.items() if not key.startswith(gone)}
    wanted = {key: value for key, value in (kept | dict(changes)).items() if value is not None}
    try:
        found = dict(leaves(tomllib.loads(written)))
    except tomllib.TOMLDecodeError:
        found = {}
    if repr(sorted(found.items())) != repr(sorted(wanted.items())):
        raise ConfigBroken(
            f"{path} is written in a form that cannot be edited safely", "edit it by hand", path=str(path)
        )
