"""Finds the project a folder belongs to and gives it its id; creates nothing before the first write (02 §1)."""

import json
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from engine.errors import IoFailed, SparkError, ValidationFailed
from engine.identity import Ids
from engine.memory.checkouts import checkout_of
from engine.memory.ignore_rules import write_ignore_rules
from engine.paths import PROJECT_FOLDER, Home
from engine.storage import files
from engine.storage.lock import exclusive

CommitChoice = Literal["undecided", "ignored", "committed"]

_IDENTITY_FILE = "workspace.json"
_CHOICES: tuple[CommitChoice, ...] = ("undecided", "ignored", "committed")
_LOCK_WAIT_S = 5.0
_ID = re.compile(r"ws_[0-9a-f]{8}")


class WorkspaceBroken(SparkError):
    """``workspace.json`` cannot be read as one; ``details['path']`` names it, and it is left as it is."""

    code = "WORKSPACE_BROKEN"


class UnboundReason(StrEnum):
    """Why a folder belongs to no project."""

    ROOT = "root"
    USER_HOME = "user-home"
    SPARK_HOME = "spark-home"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    BROKEN = "broken-workspace-file"

    @property
    def words(self) -> str:
        """The reason as a person reads it."""
        return _REASONS[self]


_REASONS = {
    UnboundReason.ROOT: "the root of the file system is no project",
    UnboundReason.USER_HOME: "your home folder is no project",
    UnboundReason.SPARK_HOME: "spark-tui keeps its own files here",
    UnboundReason.MISSING: "the folder is gone",
    UnboundReason.UNREADABLE: "the folder cannot be read",
    UnboundReason.BROKEN: "its workspace.json cannot be read",
}


@dataclass(frozen=True, slots=True)
class Workspace:
    """A project: ``root`` is resolved, ``folder`` its ``.spark-agent``; ``id`` is None before the first write."""

    id: str | None
    root: Path
    folder: Path


@dataclass(frozen=True, slots=True)
class Unbound:
    """No project can be had here, and why; ``path`` is the folder that was refused."""

    reason: UnboundReason
    path: Path


def find_workspace(start: Path, home: Home, user_home: Path, worktrees: str = "shared") -> Workspace | Unbound:
    """The project of ``start``: its git root, or the folder itself; a linked worktree shares the main checkout's.

    ``$HOME``, ``/``, the parent of SPARK_HOME, and SPARK_HOME with all below are never projects; a repository that
    begins in one of them is passed over. Raises ``WorkspaceBroken`` for an unusable ``workspace.json``.
    """
    try:
        folder = _above_project_folder(_existing_folder(start), home)
        refusal = _refusal(folder, home, user_home)
        return Unbound(refusal, folder) if refusal else _bound(folder, home, user_home, worktrees)
    except (FileNotFoundError, NotADirectoryError):
        return Unbound(UnboundReason.MISSING, start)
    except (OSError, RuntimeError):  # 3.11 and 3.12 report a loop of links as RuntimeError
        return Unbound(UnboundReason.UNREADABLE, start)


def ensure_workspace_id(workspace: Workspace, ids: Ids) -> str:
    """The project's id; the first write of all makes the folder and ``workspace.json``, and only one process wins.

    Raises ``WorkspaceBroken``, ``StoreReadOnly``, or ``IoFailed`` (also when the project's folder is gone).
    """
    target = workspace.folder / _IDENTITY_FILE
    try:
        _make_folder(workspace)
        settled = _read(target)
        if settled is None or _choice(settled, target) != "committed":
            write_ignore_rules(workspace.folder, committed=False)
        if settled is None:
            _write_once(target, {"id": workspace.id or ids.make("ws"), "memories": "undecided"})
            settled = _read(target) or {}
    except OSError as error:
        raise files.io_error(error, target) from error
    return _identity(settled, target)


def with_id(workspace: Workspace) -> Workspace:
    """The workspace with the id it has by now, if another process made its first write. Raises ``WorkspaceBroken``."""
    try:
        return _workspace(workspace.root) if workspace.id is None else workspace
    except OSError:  # away for a moment, or not to be read: nothing is known of it
        return workspace


def commit_choice(workspace: Workspace) -> CommitChoice:
    """Whether the project's memories are committed with it; ``undecided`` counts as ignored until someone answers."""
    target = workspace.folder / _IDENTITY_FILE
    settled = _settled(target)
    return _choice(settled, target) if settled else "undecided"


def set_commit_choice(workspace: Workspace, choice: CommitChoice) -> None:
    """Remember the answer and rewrite our part of ``.gitignore``; lines of others stay.

    What git already tracks stays tracked. Raises ``ValidationFailed`` for another word or before the first write.
    """
    if choice not in _CHOICES:
        raise ValidationFailed(f"not a choice: {choice!r}", f"one of {', '.join(_CHOICES)}")
    target = workspace.folder / _IDENTITY_FILE
    settled = _settled(target)
    if settled is None:
        raise ValidationFailed("this project has no memories yet", "add one first")
    data = _encoded(settled | {"memories": choice})
    # The stricter of the two is written first, so that a crash in between publishes nothing.
    if choice != "committed":
        write_ignore_rules(workspace.folder, committed=False)
    files.write_through(target, data)
    if choice == "committed":
        write_ignore_rules(workspace.folder, committed=True)


def _existing_folder(start: Path) -> Path:
    found = start.resolve(strict=True)
    folder = found if found.is_dir() else found.parent
    os.scandir(folder).close()
    return folder


def _above_project_folder(folder: Path, home: Home) -> Path:
    """Someone who stands inside ``.spark-agent`` means the project around it."""
    if PROJECT_FOLDER not in folder.parts or folder.is_relative_to(home.root.resolve()):
        return folder
    return Path(*folder.parts[: folder.parts.index(PROJECT_FOLDER)])


def _refusal(folder: Path, home: Home, user_home: Path) -> UnboundReason | None:
    spark_home = home.root.resolve()
    if folder == folder.parent:
        return UnboundReason.ROOT
    if folder == user_home.resolve():
        return UnboundReason.USER_HOME
    if folder == spark_home.parent or folder.is_relative_to(spark_home):
        return UnboundReason.SPARK_HOME
    if (folder / PROJECT_FOLDER).resolve().is_relative_to(spark_home):  # a link into the home would mix two scopes
        return UnboundReason.SPARK_HOME
    return None


def _bound(folder: Path, home: Home, user_home: Path, worktrees: str) -> Workspace:
    checkout = checkout_of(folder)
    if checkout is None or _refusal(checkout.root, home, user_home):
        return _workspace(folder)
    own = _workspace(checkout.root)
    if checkout.main is None or worktrees == "separate" or _refusal(checkout.main, home, user_home):
        return own
    shared = _workspace(checkout.main)
    return own if "committed" in (commit_choice(own), commit_choice(shared)) else shared


def _workspace(root: Path) -> Workspace:
    folder = root / PROJECT_FOLDER
    settled = _read(folder / _IDENTITY_FILE)
    return Workspace(_identity(settled, folder / _IDENTITY_FILE) if settled else None, root, folder)


def _settled(target: Path) -> dict[str, Any] | None:
    try:
        return _read(target)
    except OSError as error:
        raise IoFailed(f"{target} cannot be read: {error.strerror}", "check who owns it", path=str(target)) from error


def _read(target: Path) -> dict[str, Any] | None:
    """The content of ``workspace.json``; None when there is none. Raises ``WorkspaceBroken``."""
    try:
        content = json.loads(target.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (IsADirectoryError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not content:
        raise _broken(target, "it is not a JSON object")
    return content


def _identity(settled: dict[str, Any], target: Path) -> str:
    found = settled.get("id")
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise _broken(target, "it holds no workspace id")
    return found


def _choice(settled: dict[str, Any], target: Path) -> CommitChoice:
    found = settled.get("memories", "undecided")
    for choice in _CHOICES:
        if found == choice:
            return choice
    raise _broken(target, "'memories' is none of " + ", ".join(_CHOICES))


def _broken(target: Path, reason: str) -> WorkspaceBroken:
    return WorkspaceBroken(
        f"{target} is damaged: {reason}", "repair it, or take it from the repository's history", path=str(target)
    )


def _make_folder(workspace: Workspace) -> None:
    if not workspace.root.is_dir():
        raise IoFailed(f"the project folder {workspace.root} is gone", path=str(workspace.root))
    try:
        workspace.folder.mkdir(mode=0o700)
    except FileExistsError:
        if not workspace.folder.is_dir():
            raise
    else:
        files.sync_folder(workspace.root)


def _write_once(target: Path, content: dict[str, Any]) -> None:
    """Write the file whole, unless another process was first: then its content stands."""
    staged = files.stage(target, _encoded(content))
    try:
        os.link(staged, target)
        files.sync_folder(target.parent)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        with exclusive(target.with_suffix(".lock"), _LOCK_WAIT_S):
            if not target.exists():
                files.publish(staged, target)
    finally:
        files.discard(staged)


def _encoded(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()
