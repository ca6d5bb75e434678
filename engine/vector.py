"""Embedding vectors as they cross borders: bytes of unit length, always finite. Never needs numpy."""

import math
from array import array
from collections.abc import Iterable
from typing import Final

# Little-endian float32, 4 bytes a dimension: what SQLite stores and vec0 reads. Every platform we run on is
# little-endian, so the machine's own order is the stored one.
Vector = bytes
FLOAT_BYTES: Final = 4
_UNIT_TOLERANCE: Final = 1e-3


def unit(values: Iterable[float]) -> Vector:
    """These numbers scaled to length 1. Raises ``ValueError`` when one is not finite or all are zero."""
    numbers = tuple(values)
    try:
        length = math.hypot(*numbers)
    except OverflowError:
        length = math.inf
    if not math.isfinite(length):
        raise ValueError("a number is not finite")
    if length == 0:
        raise ValueError("all numbers are zero" if numbers else "there are no numbers")
    return array("f", [number / length for number in numbers]).tobytes()


def checked(vector: Vector, dimension: int) -> Vector:
    """The vector at length 1. Raises ``ValueError`` when it is not finite, zero or not of ``dimension`` numbers."""
    if len(vector) != dimension * FLOAT_BYTES:
        raise ValueError(f"{len(vector) / FLOAT_BYTES:g} numbers instead of {dimension}")
    numbers = numbers_of(vector)
    if abs(math.hypot(*numbers) - 1) < _UNIT_TOLERANCE:
        return bytes(vector)
    return unit(numbers)


def numbers_of(vector: Vector) -> "array[float]":
    """The numbers of a vector, as ``array('f')``."""
    numbers = array("f")
    numbers.frombytes(vector)
    return numbers


def similarity(one: Vector, other: Vector) -> float:
    """Cosine of the angle between two vectors of the same dimension, −1 to 1."""
    return sum(map(float.__mul__, numbers_of(one), numbers_of(other)))
