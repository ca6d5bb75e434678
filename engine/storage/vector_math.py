"""Ranks stored vectors by cosine without an index; holds no SQL and imports numpy only when asked."""

from collections.abc import Sequence

from engine.vector import Vector


def nearest(rows: Sequence[tuple[int, Vector]], query: Vector, k: int) -> list[tuple[int, float]]:
    """The ``k`` rows nearest to the query as (rid, cosine), best first, equal ones by rid.

    ``rows`` hold unit vectors of the query's dimension.
    """
    if not rows or k <= 0:
        return []
    import numpy as np

    rids = np.fromiter((rid for rid, _ in rows), dtype=np.int64, count=len(rows))
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), -1)
    cosines = matrix @ np.frombuffer(query, dtype="<f4")
    best = np.lexsort((rids, -cosines))[:k]
    return [(int(rids[at]), float(cosines[at])) for at in best]
