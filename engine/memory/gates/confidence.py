"""The second gate: whether a model was sure enough of what it would have remembered (02 §4.2)."""

import math
from enum import StrEnum
from typing import Final

LEAST: Final = 0.6
"""The lowest confidence, from 0 to 1, with which an item is kept."""


class Doubt(StrEnum):
    """What is wrong with a confidence; these are the gate's reason codes."""

    MISSING = "missing"
    NOT_A_NUMBER = "not_a_number"
    OUT_OF_RANGE = "out_of_range"
    TOO_LOW = "below_0.6"


def confidence_doubt(confidence: object) -> Doubt | None:
    """What is wrong with a confidence as a model gave it; None from 0.6 to 1, both included."""
    if confidence is None:
        return Doubt.MISSING
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or math.isnan(confidence):
        return Doubt.NOT_A_NUMBER
    if not 0 <= confidence <= 1:
        return Doubt.OUT_OF_RANGE
    return Doubt.TOO_LOW if confidence < LEAST else None
