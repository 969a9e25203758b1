"""How many records a noisy sum of parts stands for. Post-processing: nothing but noisy answers is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from counterfoil.noise.open_domain_gaussian import PARTS

_STEPS = 30
"""Of estimates of how many cells hold a word for missing: each at least halves what is left of the error."""


def parts_of_a_record(name: str, shares: Mapping[str, float]) -> float:
    """How many parts a record is taken to bring to a text of a column.

    Args:
        name: of the column.
        shares: by column, the share of all records whose text counts; as if columns had nothing to do with each other.
    """
    several = min(1 + math.fsum(shares.values()) - shares[name], float(len(shares)))
    return PARTS * math.sqrt(len(shares) / several)


def shares_with_words(
    words: Iterable[tuple[str, int]], left: Mapping[str, float], missing: Mapping[str, float], everybody: float
) -> dict[str, float]:
    """By column, the share of all records whose text counts, where words for missing, such as NA, are texts too.

    The more of these there are, the more records does a sum of parts stand for, in all columns. The shares are those
    that the words' own sums then give, found by steps from no word on, which go up and end.

    Args:
        words: the column and the parts of each word for missing.
        left: by column, the share of all records that have another text.
        missing: by column, the share of all records whose cell is missing; of none where it is not given.
        everybody: about how many records there are.
    """
    sums = dict.fromkeys(left, 0)
    for name, parts in words:
        sums[name] += parts
    shares = dict(left)
    for _ in range(_STEPS if any(sums.values()) else 0):
        held = {name: parts / parts_of_a_record(name, shares) / max(everybody, 1.0) for name, parts in sums.items()}
        shares = {name: left[name] + min(held[name], max(missing.get(name, 0.0), 0.0)) for name in left}
    return shares
