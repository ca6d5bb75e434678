"""Looks at the store: how the database opened, which workspace this is, what each layer holds, what is stuck."""

import time
from collections.abc import Iterator
from typing import Final

from engine.doors.checks.row import Row, fail, first_few, info, ok, warn
from engine.doors.parts import Parts
from engine.errors import StoreNewer
from engine.memory import rows
from engine.memory.differences import difference, is_real
from engine.memory.listing import Filter
from engine.memory.model import Entry, State
from engine.memory.workspaces import Unbound, commit_choice
from engine.storage.files import STAGED_SUFFIX
from engine.storage.intents import Intent, IntentKind

# A staged file younger than this belongs to a writer that is at work.
AT_WORK_S: Final = 60
_COMMITS: Final = {
    "undecided": "memories stay out of git until you choose",
    "ignored": "memories stay out of git",
    "committed": "memories are committed with the project",
}


def database_row(parts: Parts) -> Iterator[Row]:
    """How the database opened."""
    opening, title = parts.database.opening, "Database"
    if opening.read_only is not None:
        refusal = opening.read_only
        report = warn if isinstance(refusal, StoreNewer) else fail
        yield report("database", title, refusal.message, refusal.hint)
    elif opening.set_aside is not None:
        told = f"it was damaged and is kept as {opening.set_aside.name}; the files rebuild it now"
        yield warn("database", title, told, "spark-tui memory reindex")
    else:
        yield ok("database", title, f"{parts.database.path}{' (new)' if opening.created else ''}")


def workspace_row(parts: Parts) -> Iterator[Row]:
    """Whether a project is bound, and whether its memories are committed with it."""
    workspace, title = parts.layers.workspace, "Workspace"
    if isinstance(workspace, Unbound):
        told = f"{workspace.path} is no project ({workspace.reason}): project memories cannot be kept here"
        yield info("workspace", title, told, "start in a project folder, or use --workspace")
        return
    if workspace.id is None:
        yield ok("workspace", title, f"{workspace.root} (no project memory yet)")
        return
    choice = commit_choice(workspace)
    told = f"{workspace.root}, {workspace.id}: {_COMMITS[choice]}"
    if choice == "undecided":
        yield info("workspace", title, told, "spark-tui project commit, or spark-tui project ignore")
    else:
        yield ok("workspace", title, told)


def switch_row(parts: Parts) -> Iterator[Row]:
    """The master switch."""
    if parts.memory_settings().enabled:
        yield ok("enabled", "Memory switch", "on")
    else:
        told = "off: nothing is injected, extracted or searched"
        yield warn("enabled", "Memory switch", told, "spark-tui settings set memory.enabled true")


def layer_rows(parts: Parts) -> Iterator[Row]:
    """What each layer holds against its quota."""
    settings, now = parts.memory_settings(), parts.clock.now_ms()
    for layer in parts.layers.person():
        with parts.database.read() as connection:
            count = rows.active_count(connection, layer.key, now)
        quota = settings.quota_of(layer.scope.value)
        told, title = f"{count} of {quota} active", f"Layer {layer.label}"
        if count >= quota:
            raise_it = f"spark-tui settings set memory.quota.{layer.scope.value} {quota * 2}, or archive some"
            yield warn(f"layer:{layer.key}", title, f"{told}: it is full, new memories are dropped", raise_it)
        else:
            yield ok(f"layer:{layer.key}", title, told)


def difference_row(parts: Parts) -> Iterator[Row]:
    """Whether files changed behind the index; looked at before they are adopted."""
    zone = parts.clock.zone()
    found = [difference(parts.database, layer, parts.clock) for layer in parts.layers.person()]
    real = [each for each in found if each and is_real(parts.database, each, zone)]
    changed = sum(len(each.changed) for each in real)
    vanished = sum(len(each.vanished) for each in real)
    if not real:
        yield ok("index", "Index and files", "they agree")
    else:
        told = f"{changed} files to be read again, {vanished} gone from disk; adopted now"
        yield info("index", "Index and files", told)


def broken_rows(parts: Parts) -> Iterator[Row]:
    """Quarantined and missing files, each kind with the command that brings the last good version back."""
    for state, why in ((State.QUARANTINED, "cannot be read as memories"), (State.MISSING, "are gone from disk")):
        entries = parts.listing.window(Filter(state=state))
        title = f"{state.value.capitalize()} files"
        if not entries:
            yield ok(state.value, title, "none")
            continue
        told = first_few([f"{entry.id} ({entry.file_reason})" for entry in entries])
        yield warn(state.value, title, f"{len(entries)} {why}: {told}", _mend(entries[0]))


def deletion_row(parts: Parts) -> Iterator[Row]:
    """Files of deleted memories that would not go."""
    blocked = [intent for intent in parts.transactions.pending() if _is_blocked(intent)]
    if blocked:
        paths = first_few([_path(parts, intent) for intent in blocked])
        yield fail(
            "deletions", "Deletions", f"these files could not be removed: {paths}", "free them; the next write retries"
        )
    else:
        yield ok("deletions", "Deletions", "none blocked")


def unfinished_rows(parts: Parts) -> Iterator[Row]:
    """What a stopped process left behind; looked at before the next write settles it."""
    open_ = [intent for intent in parts.transactions.pending() if not _is_blocked(intent)]
    if open_:
        told = f"{len(open_)} writes were not finished; the next write settles them"
        yield warn("intents", "Unfinished writes", told, "spark-tui memory reindex")
    else:
        yield ok("intents", "Unfinished writes", "none")
    orphans = _orphans(parts)
    if orphans:
        yield warn("staged", "Staged files", f"{len(orphans)} left over: {first_few(orphans)}", "remove them")
    else:
        yield ok("staged", "Staged files", "none left over")


def clock_row(parts: Parts) -> Iterator[Row]:
    """Whether the clock stands before something that was already written."""
    with parts.database.read() as connection:
        newest = next(connection.execute("SELECT max(updated_at) FROM memory_entry"))[0] or 0
    ahead = (newest - parts.clock.now_ms()) // 1000
    if ahead > AT_WORK_S:
        told = f"a memory was written {ahead} s in the future of this machine's clock"
        yield warn("clock", "Clock", told, "set the clock; validity and order depend on it")
    else:
        yield ok("clock", "Clock", f"zone {parts.clock.zone().key}")


def _mend(entry: Entry) -> str:
    if not entry.version:
        return f"mend or remove {entry.file}; it never was a memory"
    return f"spark-tui memory restore {entry.id}"


def _is_blocked(intent: Intent) -> bool:
    return intent.kind is IntentKind.DELETE and intent.applied


def _path(parts: Parts, intent: Intent) -> str:
    folder = parts.layers.folder_of(intent.layer)
    return str(folder / intent.file) if folder else f"{intent.layer}/{intent.file}"


def _orphans(parts: Parts) -> list[str]:
    old = time.time() - AT_WORK_S
    staged = (path for layer in parts.layers.person() for path in layer.folder.glob(f".*{STAGED_SUFFIX}"))
    return [str(path) for path in staged if path.stat().st_mtime < old]
