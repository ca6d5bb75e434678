"""Looks at what finds and injects memories: full text, vectors, the embedding model, token counts, the last injection."""

from collections.abc import Iterator
from dataclasses import replace

from engine.clock import iso
from engine.doors.checks.row import Row, fail, info, ok, warn
from engine.doors.parts import Parts
from engine.errors import SparkError
from engine.memory.embedding import EmbeddingState
from engine.storage.vector_extension import load_extension

REBUILD = "spark-tui memory reindex"
REBUILD_VECTORS = "spark-tui settings rebuild-vectors"


def full_text_row(parts: Parts) -> Iterator[Row]:
    """Whether the full-text index holds as many memories as it should."""
    with parts.database.read() as connection:
        wanted = int(next(connection.execute("SELECT count(*) FROM memory_entry WHERE file_state IS NULL"))[0])
        held = int(next(connection.execute("SELECT count(*) FROM memory_fts_docsize"))[0])
    if held == wanted:
        yield ok("full-text", "Full text", f"{held} memories indexed")
    else:
        yield fail("full-text", "Full text", f"{held} memories indexed, {wanted} in the store", REBUILD)


def vector_row(parts: Parts) -> Iterator[Row]:
    """Whether sqlite-vec is there, or the stated reason why vectors are ranked without it."""
    with parts.database.read() as connection:
        reason = load_extension(connection)
    if reason is None:
        yield ok("sqlite-vec", "Vector index", "sqlite-vec is loaded")
    else:
        yield warn("sqlite-vec", "Vector index", f"{reason}; vectors are ranked without it, slower in large stores")


def embedding_row(parts: Parts) -> Iterator[Row]:
    """Which model gives meaning, and how many memories it has read."""
    state, title = _asked(parts), "Search by meaning"
    where = "texts stay on this machine" if state.is_local else "names and descriptions are sent to this provider"
    if state.reason is not None:
        yield fail("embedding", title, state.reason, "spark-tui settings set memory.embeddingProviderId local")
    elif state.model is None:
        yield from _no_model(parts, title)
    elif state.done < state.total:
        told = f"{state.model}, generation {state.generation}: {state.done} of {state.total} have a vector; {where}"
        yield info("embedding", title, f"{told}; searching fills in", REBUILD_VECTORS)
    else:
        yield ok(
            "embedding",
            title,
            f"{state.model}, generation {state.generation}: all {state.total} have a vector; {where}",
        )


def _asked(parts: Parts) -> EmbeddingState:
    """The state of the model; a provider elsewhere is asked for one word first, or a wrong key would look well."""
    state = parts.embeddings.state()
    if state.is_local or state.reason is not None:
        return state
    try:
        parts.embeddings.query("doctor")
    except SparkError as error:
        return replace(state, reason=error.message)
    return parts.embeddings.state()


def _no_model(parts: Parts, title: str) -> Iterator[Row]:
    chosen = parts.memory_settings().embedding_provider or "local"
    if chosen == "none":
        yield info("embedding", title, "off: words only", "spark-tui settings set memory.embeddingProviderId local")
    else:
        told = "the embedded model does not run on this machine: words only"
        yield warn("embedding", title, told, "name an OpenAI-compatible provider in memory.embeddingProviderId")


def token_row(parts: Parts) -> Iterator[Row]:
    """Whether budgets are counted exactly."""
    budget = parts.memory_settings().max_inject_tokens
    if parts.tokens.exact:
        yield ok("tokens", "Token counts", f"exact ({parts.tokens.name}); a block has at most {budget}")
    else:
        told = f"estimated with a reserve, the vocabulary cannot be loaded; a block has at most {budget}"
        yield warn("tokens", "Token counts", told, "reinstall spark-tui")


def injection_row(parts: Parts) -> Iterator[Row]:
    """When a memory last reached an agent."""
    with parts.database.read() as connection:
        last = next(connection.execute("SELECT max(last_hit_at) FROM memory_entry"))[0]
        sessions = next(connection.execute("SELECT count(*) FROM memory_injection"))[0]
    if last is None:
        yield info(
            "injection", "Last injection", "no memory was injected or recalled yet", "spark-tui inject shows the block"
        )
    else:
        yield info(
            "injection", "Last injection", f"{iso(last, parts.clock.zone())}, {sessions} sessions with a frozen choice"
        )
