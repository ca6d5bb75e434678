"""Reads where a git checkout begins and which repository it belongs to, from ``.git`` alone; it never runs git.

The forms of ``.git`` are those of gitrepository-layout(5) and git-worktree(1).
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_POINTER = re.compile(rb"gitdir: ?(.+?)\s*", re.DOTALL)
_BARE = re.compile(r"(?i)\s*bare\s*(?:=\s*\"?(\w*)\"?\s*)?(?:[#;].*)?")
_POINTER_MAX = 8192


@dataclass(frozen=True, slots=True)
class Checkout:
    """The folder that holds ``.git``; ``main`` is the main checkout when this one is a worktree linked to it.

    ``main`` is None for ordinary checkouts, submodules and separate git directories, and for worktrees of a repository
    that has no main checkout to share (bare, or its git directory kept elsewhere).
    """

    root: Path
    main: Path | None = None


def checkout_of(start: Path) -> Checkout | None:
    """The checkout that holds ``start`` (a resolved folder), or None. Raises ``OSError`` where it may not look."""
    for folder in (start, *start.parents):
        mark = folder / ".git"
        if mark.is_dir() and _is_repository(mark):
            return Checkout(folder)
        if mark.is_file():
            return Checkout(folder, _main_checkout(_pointed(mark)))
    return None


def _is_repository(git_dir: Path) -> bool:
    return (git_dir / "HEAD").is_file() and (git_dir / "objects").is_dir()


def _pointed(mark: Path) -> Path | None:
    """Where a ``.git`` file points; None when it says nothing usable, then its folder stands alone."""
    with open(mark, "rb") as file:
        found = _POINTER.fullmatch(file.read(_POINTER_MAX))
    return mark.parent / os.fsdecode(found[1]) if found else None


def _main_checkout(git_dir: Path | None) -> Path | None:
    """The main checkout behind a linked worktree's git directory, which alone has a ``commondir`` file."""
    if git_dir is None or not (git_dir / "commondir").is_file():
        return None
    with open(git_dir / "commondir", "rb") as file:
        common = (git_dir / os.fsdecode(file.read(_POINTER_MAX).strip())).resolve()
    if common.name != ".git" or not _is_repository(common) or _is_bare(common):
        return None
    return common.parent


def _is_bare(git_dir: Path) -> bool:
    """The last ``bare`` of the ``[core]`` sections, in the words of git-config(1); a key without ``=`` means true."""
    try:
        lines = (git_dir / "config").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return False
    core, bare = False, False
    for line in lines:
        if line.lstrip().startswith("["):
            core = line.strip().lower().startswith("[core]")
        elif core and (setting := _BARE.fullmatch(line)):
            bare = setting[1] is None or setting[1].lower() in ("true", "yes", "on", "1")
    return bare
