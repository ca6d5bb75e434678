"""Takes the script out of e5's vectors, so that a Chinese question finds an English memory; reads one small file.

e5 puts every text of one language into its own narrow cone, and ranks all memories of the other language last.
Subtracting the mean vector of the text's script repairs that (02 §5). What is left is compared by inner product, not
by cosine: dividing by its length would favour texts that say little (on LoCoMo R@10 falls from 0.51 to 0.44).
"""

import json
import math
import re
from array import array
from base64 import b64decode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.vector import Vector, unit

VERSION: Final = 1
# A query loses half of its mean: losing all costs LoCoMo 0.04 of R@10, losing none costs Chinese answers their place.
QUERY_SHARE: Final = 0.5
# A Chinese character says about as much as three Latin letters.
HAN_WEIGHT: Final = 3
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f]")


def han_share(text: str) -> float:
    """How Chinese the writing is, from 0 (Latin letters) to 1 (Han characters); ½ for a text with neither."""
    han, latin = len(_HAN.findall(text)) * HAN_WEIGHT, len(_LATIN.findall(text))
    return han / (han + latin) if han + latin else 0.5


def query_vector(values: Sequence[float], text: str) -> Vector:
    """The vector to search with: one number more than ``values``. Raises ``ValueError`` like ``unit``."""
    return unit((*_without_mean(values, text, "query", QUERY_SHARE), 0.0))


def passage_vector(values: Sequence[float], text: str) -> Vector:
    """The vector to store: one number more than ``values``. Raises ``ValueError`` like ``unit``.

    The last number fills the vector up to length 1, so that cosine ranks by the inner product of the others.
    """
    rest = _without_mean(values, text, "passage", 1.0)
    return unit((*rest, math.sqrt(max(0.0, 1.0 - math.fsum(number * number for number in rest)))))


def _without_mean(values: Sequence[float], text: str, role: str, share: float) -> list[float]:
    means = _means()[role]
    han = han_share(text) * share
    latin = share - han
    return [value - han * a - latin * b for value, a, b in zip(values, means["han"], means["latin"], strict=True)]


@lru_cache(maxsize=1)
def _means() -> Mapping[str, Mapping[str, "array[float]"]]:
    """Mean vectors by role and script, as ``benchmarks/make_script_means.py`` wrote them."""
    content = json.loads(Path(__file__).with_name("script_means.json").read_text("ascii"))
    return {
        role: {script: array("f", b64decode(text)) for script, text in content[role].items()}
        for role in ("query", "passage")
    }
