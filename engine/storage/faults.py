"""Kill points for fault tests: the program kills itself when it reaches the step named in ``SPARK_FAULT``.

Without that variable nothing here does anything.
"""

import os
import signal
from collections import Counter
from enum import StrEnum

VARIABLE = "SPARK_FAULT"
"""``<step>``, or ``<step>:<n>`` to die when it is reached for the n-th time (some come once for each file)."""


class Step(StrEnum):
    """The steps of a commit in their order; tests enumerate them from here (02 §2)."""

    INTENDED = "intended"
    STAGED = "staged"
    BEGUN = "begun"
    APPLIED = "applied"
    RENAMED = "renamed"
    COMMITTED = "committed"
    SETTLED = "settled"


class DeleteStep(StrEnum):
    """The steps of a deletion in their order."""

    INTENDED = "delete-intended"
    APPLIED = "delete-applied"
    COMMITTED = "delete-committed"
    REMOVED = "delete-removed"
    SETTLED = "delete-settled"


_reached: Counter[str] = Counter()


def reach(step: Step | DeleteStep) -> None:
    """Die here by SIGKILL when a fault test asked for it; otherwise nothing."""
    wanted, _, nth = os.environ.get(VARIABLE, "").partition(":")
    if wanted == step:
        _reached[step] += 1
        if _reached[step] == int(nth or 1):
            os.kill(os.getpid(), signal.SIGKILL)
