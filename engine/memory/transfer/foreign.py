"""What a note becomes on disk with the frontmatter it came with: judged and written as one and the same. Pure."""

from engine.memory.document import fields_of
from engine.memory.model import PREFIX, AuthorRole, Entry, Layer, Source
from engine.memory.transfer.sources import Item
from engine.storage import frontmatter


def new_imported(item: Item, layer: Layer, now: int) -> Entry:
    """A stand-in for the entry an item becomes: everything but its id is what the store would give it."""
    return Entry(
        id=f"{PREFIX[layer.scope]}_00000000", scope=layer.scope, scope_ref=layer.ref, type=item.type, name=item.name,
        description=item.description, source=Source.IMPORT, confidence=1.0, author_role=AuthorRole.IMPORT,
        created_at=now, updated_at=now, valid_from=now,
    )  # fmt: skip


def with_foreign_fields(item: Item, entry: Entry) -> bytes:
    """The file of an entry with the frontmatter its item came with, ours written into it."""
    ours = {key: value for key, value in fields_of(entry).items() if value is not None}
    return frontmatter.patch(item.data, ours, item.body)
