"""The memory group: which verbs there are and where; each is imported only when it is called."""

import click

from spark_tui.cli.parser import LazyGroup

VERBS = {
    "add": ("memory_write:add", "Remember something."),
    "list": ("memory_read:list_", "List memories (default: the active ones)."),
    "show": ("memory_read:show", "Show one memory with its text."),
    "search": ("memory_read:search", "Find memories by words and meaning."),
    "edit": ("memory_write:edit", "Change some fields of a memory."),
    "archive": ("memory_bulk:archive", "Take memories out of search and injection."),
    "unarchive": ("memory_bulk:unarchive", "Bring archived memories back."),
    "delete": ("memory_bulk:delete", "Delete memories for good."),
    "reindex": ("memory_upkeep:reindex", "Rebuild the index from the files."),
    "export": ("memory_transfer:export", "Write all memories as plain markdown."),
    "import": ("memory_transfer:import_", "Read memories from a folder."),
    "gate-log": ("memory_upkeep:gate_log", "What was not remembered, and why."),
    "audit": ("memory_upkeep:audit", "Check the store for what a person should look at."),
    "changes": ("memory_history:changes", "Recent changes, by whom and to what."),
    "undo": ("memory_history:undo", "Take a group of changes back."),
    "restore": ("memory_history:restore", "Bring back an older version, or a broken or vanished file."),
}


@click.group(cls=LazyGroup, verbs=VERBS)
def memory() -> None:
    """What agents are told about you, your projects and their work."""
